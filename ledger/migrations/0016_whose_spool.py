"""Whose word on a spool counts, numbers that came as conflicts, and what had no number."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0015_who_announced")]

    operations = [
        migrations.AddField("arrival", "conflicts", models.IntegerField(default=0, db_default=0)),
        migrations.AddField(
            "feedspool", "owners", models.TextField(default="[]"), preserve_default=False
        ),
        migrations.AddField(
            "feedspool",
            "declared",
            models.TextField(blank=True, default=""),
            preserve_default=False,
        ),
        migrations.AddField(
            "feedspool", "disputes", models.TextField(default="[]"), preserve_default=False
        ),
        migrations.AddField("feedspool", "disputed_at", models.DateTimeField(null=True)),
        migrations.AddField(
            "feedspool", "conflicts", models.BigIntegerField(default=0), preserve_default=False
        ),
        migrations.RenameField("feedtoken", "first_leaf", "unnumbered_leaf"),
    ]
