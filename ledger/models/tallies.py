"""Read tables of what was not kept singly: tallied outcomes, the policies, and what is seen."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of


class TallyJob(models.Model):
    """A job whose outcome stands in a tally: 8 bytes of its keyed hash, and the tally's leaf.

    One narrow row for each outcome; two jobs may share a hash, so the tally itself is read before
    anything is said of one. On SQLite the rows lie in the index of their key and nowhere else.
    """

    pk = models.CompositePrimaryKey("project_id", "job", "leaf_index")
    project = project_of()
    job = models.BigIntegerField()
    leaf_index = models.BigIntegerField()

    class Meta:
        db_table = "tally_job"


class Tally(models.Model):
    """One tally: whose outcomes it sums, of which time, and how many of them it lists.

    `is_whole` tells whether it lists every outcome that it counts, `voice` who handed it in.
    """

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = project_of()
    leaf_index = models.BigIntegerField()
    system = models.TextField(blank=True)
    instance = models.TextField(blank=True)
    policy = models.TextField(blank=True)
    from_at = models.DateTimeField(null=True)
    to_at = models.DateTimeField()
    done = models.BigIntegerField()
    retried = models.BigIntegerField()
    listed = models.BigIntegerField()
    is_whole = models.BooleanField()
    voice = models.TextField(blank=True, default="")

    class Meta:
        db_table = "tally"
        indexes = [
            models.Index(
                fields=["project", "system", "instance", "is_whole", "voice", "leaf_index"],
                name="tally_by_voice",
            )
        ]


class PolicyVersion(models.Model):
    """A recording policy as a source announced it, each time that it was not the one before.

    `each`, `tally` and `never` are JSON lists of patterns, `digest` of all three and the version.
    `voice` is for whom it speaks: a source that tokens were made for, else one token.
    """

    pk = models.CompositePrimaryKey("project_id", "system", "instance", "leaf_index")
    project = project_of()
    system = models.TextField(blank=True)
    instance = models.TextField(blank=True)
    leaf_index = models.BigIntegerField()
    receipt = models.UUIDField()
    at = models.DateTimeField()
    version = models.TextField(blank=True)
    digest = models.CharField(max_length=64)
    each = models.TextField()
    tally = models.TextField()
    never = models.TextField()
    voice = models.TextField(blank=True, default="")
    token = models.BigIntegerField(null=True)

    class Meta:
        db_table = "policy_version"


class TaskSight(models.Model):
    """In which ways the ledger learns of a task of a source.

    Each is a JSON list of ways: `told` as the source announced them last, at `told_leaf`; `seen`
    those by which any receipt came, and `skips` those by which a skip did.
    """

    pk = models.CompositePrimaryKey("project_id", "name")
    project = project_of()
    # Stands in the key for the three texts below, which may be too long for an index row.
    name = models.CharField(max_length=17)
    task = models.TextField()
    system = models.TextField(blank=True)
    instance = models.TextField(blank=True)
    told = models.TextField(blank=True)
    told_leaf = models.BigIntegerField(null=True)
    seen = models.TextField()
    skips = models.TextField()

    class Meta:
        db_table = "task_sight"
        indexes = [models.Index(fields=["project", "task"], name="task_sight_of_task")]
