"""Read tables of contradictions: what was found, what was compared, and what is still awaited."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of


class Contradiction(models.Model):
    """An invariant that two receipts break (`other_leaf` is -1 where it takes but one).

    Found when receipt `at_leaf` had arrived, and gone when `gone_leaf` had. It counts from `since`
    on: until then what is missing may still come.
    """

    pk = models.CompositePrimaryKey(
        "project_id", "invariant", "leaf_index", "other_leaf", "at_leaf"
    )
    project = project_of()
    invariant = models.CharField(max_length=24)
    leaf_index = models.BigIntegerField()
    other_leaf = models.BigIntegerField()
    at_leaf = models.BigIntegerField()
    gone_leaf = models.BigIntegerField(null=True)
    since = models.DateTimeField()
    rule = models.CharField(max_length=24)
    sentence = models.TextField()

    class Meta:
        db_table = "contradiction"
        indexes = [
            models.Index(fields=["project", "gone_leaf", "at_leaf"], name="contradiction_open"),
            models.Index(
                fields=["project", "invariant", "gone_leaf", "at_leaf"],
                name="contradiction_by_invariant",
            ),
            models.Index(fields=["project", "leaf_index"], name="contradiction_by_leaf"),
            models.Index(fields=["project", "other_leaf"], name="contradiction_by_other"),
        ]


class ContradictionWatch(models.Model):
    """How many receipts of a source and task an invariant was held against, and how many not.

    `since_leaf` is the first receipt that makes it hold at all: a start, a number, a job's row.
    """

    pk = models.CompositePrimaryKey("project_id", "invariant", "digest")
    project = project_of()
    invariant = models.CharField(max_length=24)
    digest = models.CharField(max_length=32)
    source = models.TextField(blank=True)
    task = models.TextField(blank=True)
    since_leaf = models.BigIntegerField(null=True)
    checked = models.BigIntegerField()
    unchecked = models.BigIntegerField()

    class Meta:
        db_table = "contradiction_watch"


class ContradictionNote(models.Model):
    """What a later receipt is compared with, by the name that it will come under.

    `sort` is "start" for a name that a done without a start waits for, "number" for a number of a
    scope and generation, "row" for a job whose row is awaited, "release" for a key released.
    """

    pk = models.CompositePrimaryKey("project_id", "sort", "name", "number", "leaf_index")
    project = project_of()
    sort = models.CharField(max_length=8)
    name = models.CharField(max_length=64)
    number = models.BigIntegerField()
    leaf_index = models.BigIntegerField()
    at = models.DateTimeField()

    class Meta:
        db_table = "contradiction_note"
        indexes = [
            models.Index(
                fields=["project", "sort", "leaf_index"], name="contradiction_note_by_leaf"
            )
        ]
