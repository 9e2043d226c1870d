"""Whether a late receipt lies between others of its spool is read from the spool's own rows."""

from __future__ import annotations

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("ledger", "0012_feed_outcomes")]

    operations = [
        migrations.RemoveField("latereceipt", "has_before"),
        migrations.RemoveField("latereceipt", "has_after"),
    ]
