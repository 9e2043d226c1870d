"""Outcomes that a spool of tallies lost, and how many of them somebody waived."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0011_arrival_began_at")]

    operations = [
        migrations.AddField(
            "feedspool", name, models.BigIntegerField(default=0), preserve_default=False
        )
        for name in ("outcomes_lost", "outcomes_waived")
    ]
