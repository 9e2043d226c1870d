"""Read tables of the key lab and of keys, compact: a million rows are scanned in one answer."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of


class AttemptShape(models.Model):
    """What many attempts share; `shape` is the first leaf that had it."""

    pk = models.CompositePrimaryKey("project_id", "shape")
    project = project_of()
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
    project = project_of()
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


class KeyHolder(models.Model):
    """One key: what it picked, which run took it last and when, and who was turned away.

    `told_by` is the kind of the receipt that told of the holder. Times are microseconds since
    1970. The release is a person's note; the ledger releases nothing.
    """

    pk = models.CompositePrimaryKey("project_id", "digest")
    project = project_of()
    digest = models.CharField(max_length=64)
    recipe = models.TextField(blank=True)
    version = models.TextField(blank=True)
    source = models.TextField(blank=True)
    # A JSON list of pairs: the name of a field and its value as JSON text.
    named = models.TextField()
    first_leaf = models.BigIntegerField()
    last_leaf = models.BigIntegerField()
    turned_away = models.BigIntegerField()
    holder_run = models.CharField(max_length=32, blank=True)
    holder_leaf = models.BigIntegerField(null=True)
    held_at = models.BigIntegerField(null=True)
    told_by = models.CharField(max_length=16, blank=True)
    released_leaf = models.BigIntegerField(null=True)
    released_at = models.BigIntegerField(null=True)

    class Meta:
        db_table = "key_holder"
        indexes = [
            models.Index(fields=["project", "first_leaf"], name="key_holder_by_first"),
            models.Index(fields=["project", "recipe", "first_leaf"], name="key_holder_by_recipe"),
            models.Index(fields=["project", "holder_run"], name="key_holder_by_run"),
        ]
