"""Spools that are in force and not settled are found by one column."""

from __future__ import annotations

from django.db import migrations
from django.db.models import Index


class Migration(migrations.Migration):
    dependencies = [("ledger", "0013_late_receipts_by_feed")]

    operations = [
        migrations.RemoveIndex("feedspool", "feed_spool_now"),
        migrations.RemoveIndex("feedspool", "feed_spool_of"),
        migrations.AddIndex(
            "feedspool",
            Index(fields=["project", "producer", "span"], name="feed_spool_of_producer"),
        ),
    ]
