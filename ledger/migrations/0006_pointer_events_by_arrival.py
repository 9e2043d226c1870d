"""The pointers that one receipt moved are found by that receipt."""

from __future__ import annotations

from django.db import migrations
from django.db.models import Index


class Migration(migrations.Migration):
    dependencies = [("ledger", "0005_pointers_by_number")]

    operations = [
        migrations.AddIndex(
            "pointerevent", Index(fields=["project", "at_leaf"], name="pointer_event_by_arrival")
        )
    ]
