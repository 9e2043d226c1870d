"""SQL that differs by database, in files of its own."""

from __future__ import annotations

from pathlib import Path

_FOLDER = Path(__file__).parent

# Tables that are only ever added to, and the columns of their unique keys on SQLite: REPLACE
# deletes a row without firing a delete trigger (measured), so an insert over an existing key is
# ignored, whatever conflict clause it has.
APPEND_ONLY: dict[str, tuple[tuple[str, ...], ...]] = {
    "receipt": (("id",),),
    "receipt_key": (("project_id", "id_key"),),
    "receipt_variant": (("project_id", "id_key", "fingerprint"),),
    "receipt_body": (("id",),),
    "leaf": (("project_id", "leaf_index"), ("receipt",)),
    "tree_head": (("project_id", "size"),),
    "delivery": (("id",),),
    "delivery_body": (("delivery",),),
    "quarantine": (("receipt",),),
}


def read(name: str) -> str:
    """Give the text of one file of this folder."""
    return (_FOLDER / f"{name}.sql").read_text(encoding="utf-8")


def sqlite_append_only() -> list[str]:
    """Give the statements that make SQLite refuse to change, delete or replace ledger rows.

    Anyone who holds the file can drop a trigger; that is what the Merkle tree is for.
    """
    statements = []
    for table, keys in APPEND_ONLY.items():
        statements += [
            f"CREATE TRIGGER {table}_no_{event.lower()} BEFORE {event} ON {table} "
            f"BEGIN SELECT RAISE(ABORT, 'append-only: {event} on {table}'); END"
            for event in ("UPDATE", "DELETE")
        ]
        # A table's hidden row number is a unique key as well; where none is named it reads as -1.
        own = f"(NEW.rowid <> -1 AND {_is_taken(table, ('rowid',))})"
        taken = " OR ".join([own, *(_is_taken(table, key) for key in keys)])
        statements.append(
            f"CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table} WHEN {taken} "
            "BEGIN SELECT RAISE(IGNORE); END"
        )
    return statements


def _is_taken(table: str, key: tuple[str, ...]) -> str:
    same = " AND ".join(f"{column} = NEW.{column}" for column in key)
    return f"EXISTS (SELECT 1 FROM {table} WHERE {same})"  # noqa: S608
