"""The index of pointer states leads by number, so that a page of one state is read, not sorted.

On SQLite it is a whole index, as those of 0003.
"""

from __future__ import annotations

from django.db import migrations
from django.db.models import Index, Q

NAME = "entry_by_pointer"
BEFORE = ["project", "pointer_state", "due_at", "leaf_index"]
AFTER = ["project", "pointer_state", "leaf_index", "due_at"]
CONDITION = ~Q(pointer_state="")


def replace(apps, schema_editor, fields):
    entry = apps.get_model("ledger", "Entry")
    is_whole = schema_editor.connection.vendor == "sqlite"
    schema_editor.remove_index(entry, Index(fields=BEFORE, name=NAME))
    condition = None if is_whole else CONDITION
    schema_editor.add_index(entry, Index(fields=fields, name=NAME, condition=condition))


def lead_by_number(apps, schema_editor):
    replace(apps, schema_editor, AFTER)


def lead_by_time(apps, schema_editor):
    replace(apps, schema_editor, BEFORE)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0004_sent_through_again")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[migrations.RunPython(lead_by_number, lead_by_time)],
            state_operations=[
                migrations.RemoveIndex("entry", NAME),
                migrations.AddIndex("entry", Index(fields=AFTER, name=NAME, condition=CONDITION)),
            ],
        )
    ]
