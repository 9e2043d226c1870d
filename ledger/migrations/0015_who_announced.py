"""A policy, and a tally that lists no jobs, speak for those who hand in by the same token."""

from __future__ import annotations

from django.db import migrations
from django.db.models import BigIntegerField, Index, TextField


class Migration(migrations.Migration):
    dependencies = [("ledger", "0014_spools_in_force")]

    operations = [
        migrations.AddField("policyversion", "voice", TextField(blank=True, default="")),
        migrations.AddField("policyversion", "token", BigIntegerField(null=True)),
        migrations.AddField("tally", "voice", TextField(blank=True, default="")),
        migrations.RemoveIndex("tally", "tally_by_source"),
        migrations.AddIndex(
            "tally",
            Index(
                fields=["project", "system", "instance", "is_whole", "voice", "leaf_index"],
                name="tally_by_voice",
            ),
        ),
    ]
