"""A row of `oban_jobs` out of a file: a dump, CSV, or rows as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from jobs.domain.oban import row_receipt
from jobs.domain.oban_table import COLUMNS, NEEDED
from jobs.domain.oban_values import read_json, text_of
from ledger.domain import plain
from ledger.domain.import_values import LineFault

# A row's own times are all that a file tells of when it was, so none is held against a clock.
_NO_CLOCK = datetime(9999, 1, 1, tzinfo=UTC)
_NUMBERS = ("attempt", "max_attempts", "priority")
_ITEM = re.compile(r'"((?:[^"\\]|\\.)*)"|([^,{}"]+)', re.DOTALL)


def backup_receipt(record: Mapping[str, Any], instance: str) -> dict[str, Any]:
    """Return the receipt of a row given by its columns, as texts of PostgreSQL or as JSON.

    Raises LineFault for a record that is no row of that table.
    """
    missing = [name for name in NEEDED if name not in record]
    if missing:
        raise LineFault("columns", f"is no row of oban_jobs: it has no {', '.join(missing)}")
    if text_of(record["id"]) is None or text_of(record["state"]) is None:
        raise LineFault("columns", "is no row of oban_jobs: its id or its state is empty")
    row = {name: record.get(name) for name in COLUMNS}
    row |= {name: _number(row[name]) for name in _NUMBERS}
    row |= {name: _json(row[name]) for name in ("args", "meta")}
    row["errors"] = [_json(item) for item in _items(row["errors"])]
    row |= {name: _items(row[name]) for name in ("tags", "attempted_by")}
    receipt = row_receipt(row, instance=instance, seen_at=_NO_CLOCK)
    return {name: item for name, item in receipt.items() if name != "id"}


def _number(value: Any) -> int | None:
    return plain.integer_of(value)


def _json(value: Any) -> Any:
    return read_json(value) if isinstance(value, str) else value


def _items(value: Any) -> list[Any]:
    """Read an array, as JSON has it or as PostgreSQL writes one: `{a,"b c"}`."""
    if not isinstance(value, str):
        return plain.list_of(value)
    text = value.strip()
    if text.startswith("["):
        return plain.list_of(read_json(text))
    found = _ITEM.finditer(text)
    items = ((one[1], one[2]) for one in found)
    return [
        re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL) if quoted is not None else bare
        for quoted, bare in items
        if quoted is not None or bare != "NULL"
    ]
