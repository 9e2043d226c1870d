"""Append-only by trigger on both databases, and bodies by month on PostgreSQL."""

from __future__ import annotations

from django.db import migrations

from ledger import sql


def protect(apps, schema_editor):
    if schema_editor.connection.vendor == "postgresql":
        for name in ("postgresql_append_only", "postgresql_bodies"):
            schema_editor.execute(sql.read(name).replace("%", "%%"), params=())
        return
    for statement in sql.sqlite_append_only():
        schema_editor.execute(statement)


class Migration(migrations.Migration):
    dependencies = [("ledger", "0001_initial")]

    operations = [migrations.RunPython(protect, migrations.RunPython.noop)]
