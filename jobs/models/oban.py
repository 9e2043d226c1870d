"""How far the readers of Oban tables have come: their own notes, which no rebuild makes again."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of


class ObanSource(models.Model):
    """One Oban table, by the name that its project has for it.

    `table` is where it was read from, `spool` and `next_number` number what is written like a
    spool, `sweep_block` is where going through the known rows goes on.
    """

    project = project_of()
    instance = models.CharField(max_length=64)
    table = models.TextField()
    spool = models.CharField(max_length=200)
    next_number = models.BigIntegerField(default=1)
    last_id = models.BigIntegerField(null=True)
    sweep_block = models.BigIntegerField(null=True)
    round_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "oban_source"
        constraints = [
            models.UniqueConstraint(fields=["project", "instance"], name="oban_source_name")
        ]


class ObanHole(models.Model):
    """Ids that had no row yet when they were looked for."""

    pk = models.CompositePrimaryKey("project_id", "source", "first_id")
    project = project_of()
    source = models.BigIntegerField()
    first_id = models.BigIntegerField()
    last_id = models.BigIntegerField()
    since = models.DateTimeField()

    class Meta:
        db_table = "oban_hole"


class ObanKnown(models.Model):
    """The rows of 64 ids as they were seen last, packed by `jobs.domain.oban_known`."""

    pk = models.CompositePrimaryKey("project_id", "source", "block")
    project = project_of()
    source = models.BigIntegerField()
    block = models.BigIntegerField()
    is_open = models.BooleanField()
    rows = models.BinaryField()

    class Meta:
        db_table = "oban_known"
        indexes = [
            models.Index(fields=["project", "source", "is_open", "block"], name="oban_known_open")
        ]
