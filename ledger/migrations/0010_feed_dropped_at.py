"""Since when a spool says that it lost something."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0009_feeds")]

    operations = [
        migrations.AddField("feedspool", "dropped_at", models.DateTimeField(null=True)),
    ]
