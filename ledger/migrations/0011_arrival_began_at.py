"""When the first line of a spool was written, which bounds what can be missing of it."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("ledger", "0010_feed_dropped_at")]

    operations = [
        migrations.AddField("arrival", "began_at", models.DateTimeField(null=True)),
    ]
