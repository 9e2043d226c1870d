"""On SQLite the partial indexes of entries become whole ones.

SQLite takes a partial index only for a query that repeats its condition word for word, so
`job = 'x'` would read the whole log where PostgreSQL concludes that 'x' is not empty (measured).
"""

from __future__ import annotations

from django.db import migrations
from django.db.models import Index


def widen(apps, schema_editor):
    if schema_editor.connection.vendor != "sqlite":
        return
    entry = apps.get_model("ledger", "Entry")
    for index in entry._meta.indexes:
        if index.condition is not None:
            schema_editor.remove_index(entry, index)
            schema_editor.add_index(entry, Index(fields=index.fields, name=index.name))


class Migration(migrations.Migration):
    dependencies = [("ledger", "0002_append_only")]

    operations = [migrations.RunPython(widen, migrations.RunPython.noop)]
