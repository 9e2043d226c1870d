"""What a table must have to be read as Oban's, and how to say what it has not."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

FIRST_MIGRATION, LAST_MIGRATION = 9, 14
NEEDED = ("id", "state", "queue", "worker", "args")
COLUMNS = (
    *NEEDED, "errors", "attempt", "max_attempts", "inserted_at", "scheduled_at", "attempted_at",
    "attempted_by", "completed_at", "cancelled_at", "discarded_at", "priority", "tags", "meta",
)  # fmt: skip
_NUMBERS = frozenset({"smallint", "integer", "bigint"})
LONGEST_NAME = 63


class NotOban(ValueError):
    """The table cannot be read as one of Oban's."""


def check_identifier(text: str) -> str:
    """Return a schema's or table's name unchanged; ValueError unless PostgreSQL can have it."""
    if not text or "\0" in text or len(text.encode("utf-8", "replace")) > LONGEST_NAME:
        raise ValueError(f"A name is 1 to {LONGEST_NAME} bytes long.")
    return text


def check_columns(table: str, types: Mapping[str, str]) -> None:
    """Raise NotOban unless the columns that every job has are there."""
    missing = [name for name in NEEDED if name not in types]
    if missing:
        raise NotOban(f"{table} is no table of Oban's: it has no column {', '.join(missing)}.")
    if types["id"] not in _NUMBERS:
        raise NotOban(f"{table} is no table of Oban's: its id is of type {types['id']}.")


def warnings_of(comment: str | None, columns: Collection[str]) -> list[str]:
    """Say in a sentence each what is unusual; the columns decide what is read all the same."""
    found = [_migration(comment)] if _migration(comment) else []
    lacking = [name for name in COLUMNS if name not in columns]
    unknown = [name for name in columns if name not in COLUMNS]
    if lacking:
        found.append(f"These columns are not in the table: {', '.join(lacking)}.")
    if unknown:
        found.append(f"These columns are not Oban's own and are left out: {', '.join(unknown)}.")
    return found


def _migration(comment: str | None) -> str:
    known = f"{FIRST_MIGRATION} to {LAST_MIGRATION} are known; the columns decide what is read."
    if comment is None or not comment.strip():
        return f"The table does not say which migration of Oban it is at; {known}"
    text = comment.strip()
    number = int(text) if text.isascii() and text.isdecimal() and len(text) < 9 else None
    if number is not None and FIRST_MIGRATION <= number <= LAST_MIGRATION:
        return ""
    shown = text if number is not None else ascii(text[:40])
    return f"The table says that it is at migration {shown} of Oban; {known}"


def grants(schema: str, table: str, role: str, *, needs_schema: bool, needs_table: bool) -> str:
    """Return the lines of SQL that let a role read the table."""
    lines: Sequence[str] = [
        f"GRANT USAGE ON SCHEMA {quoted(schema)} TO {quoted(role)};" if needs_schema else "",
        f"GRANT SELECT ON {quoted(schema)}.{quoted(table)} TO {quoted(role)};"
        if needs_table
        else "",
    ]
    return " ".join(line for line in lines if line)


def quoted(name: str) -> str:
    """Return an identifier as SQL writes it."""
    return '"' + name.replace('"', '""') + '"'
