"""Read table: since when, and for which times, the ledger could know of each source."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of


class WatchedSpan(models.Model):
    """A time in which a source was watched; the receipt at `leaf_index` says so.

    `last_at` is null for the span that the first receipt of a source opened, and is the time of
    the last line for one that an import brought. Source names that are empty stand for receipts
    that name no source.
    """

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = project_of()
    leaf_index = models.BigIntegerField()
    system = models.TextField(blank=True)
    instance = models.TextField(blank=True)
    first_at = models.DateTimeField()
    last_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "watched_span"
        indexes = [
            models.Index(fields=["project", "system", "instance"], name="watched_span_of_source")
        ]
