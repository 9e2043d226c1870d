"""Read tables of the key lab and of keys, compact: a million rows are scanned in one answer."""

from __future__ import annotations

from django.db import models

TEXT = 255


def _project() -> models.ForeignKey[models.Model, models.Model]:
    return models.ForeignKey(
        "access.Project",
        on_delete=models.PROTECT,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )


class AttemptShape(models.Model):
    """What many attempts share; `shape` is the first leaf that had it."""

    pk = models.CompositePrimaryKey("project_id", "shape")
    project = _project()
    shape = models.BigIntegerField()
    digest = models.CharField(max_length=32)
    source = models.TextField(blank=True)
    task = models.TextField(blank=True)
    queue = models.TextField(blank=True)
    recipe = models.TextField(blank=True)
    version = models.TextField(blank=True)
    # A JSON list; the first `own` are those that the recorded key picked.
    names = models.TextField()
    own = models.SmallIntegerField()
    window_s = models.FloatField(null=True)
    blocking = models.CharField(max_length=8, blank=True)

    class Meta:
        db_table = "attempt_shape"
        constraints = [
            models.UniqueConstraint(fields=["project", "digest"], name="attempt_shape_by_digest")
        ]


class Attempt(models.Model):
    """One attempt to have work done, with what became of it so far (`jobs.domain.attempts.Note`).

    Times are microseconds since 1970. `happened` orders attempts: time, then those that ran before
    those that were skipped. `run` and `alias` are empty for a skip. `gone_from` is the moment from
    which a run without an end counts as lost.
    """

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = _project()
    leaf_index = models.BigIntegerField()
    run = models.CharField(max_length=32, blank=True)
    alias = models.CharField(max_length=32, blank=True)
    outcome = models.CharField(max_length=1, blank=True)
    rank = models.SmallIntegerField()
    at = models.BigIntegerField()
    shape = models.BigIntegerField()
    picked = models.TextField()
    state = models.CharField(max_length=1, blank=True)
    state_at = models.BigIntegerField()
    sign_at = models.BigIntegerField()
    limit_us = models.BigIntegerField(null=True)
    gone_at = models.BigIntegerField(null=True)
    gone_from = models.BigIntegerField(null=True)

    class Meta:
        db_table = "attempt"
        indexes = [
            models.Index(
                fields=["project", "at", "outcome", "leaf_index"],
                name="attempt_in_order",
                condition=~models.Q(outcome=""),
            ),
            models.Index(
                fields=["project", "run"], name="attempt_by_run", condition=~models.Q(run="")
            ),
            models.Index(
                fields=["project", "alias"], name="attempt_by_alias", condition=~models.Q(alias="")
            ),
            models.Index(
                fields=["project", "gone_from"],
                name="attempt_gone",
                condition=models.Q(gone_from__isnull=False),
            ),
        ]
