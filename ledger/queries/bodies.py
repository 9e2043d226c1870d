"""Terms that only a body can answer: `key.NAME:` and `data.PATH:`, read from the raw bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from kit import bulk
from kit.search import Term
from ledger.domain import canonical, plain


def matching(
    project_id: int, rows: Sequence[tuple[Any, ...]], terms: Sequence[Term]
) -> list[tuple[Any, ...]]:
    """Keep the rows of a list whose bodies meet every term; `rows` begin with leaf, receipt."""
    statement = "SELECT id, raw FROM receipt_body WHERE id IN ({values})"
    receipts = [bulk.as_uuid(row[1]) for row in rows]
    raws = {bulk.as_uuid(one): raw for one, raw in bulk.select_in(statement, [], receipts)}
    bodies = (read_body(raws.get(receipt)) for receipt in receipts)
    return [row for row, body in zip(rows, bodies, strict=True) if _meets(body, terms)]


def read_body(raw: bytes | None) -> dict[str, Any]:
    """Give a body's members, or none where it cannot be read as an object."""
    try:
        value, _ = canonical.parse_any(raw or b"")
    except canonical.NotCanonical:
        return {}
    return value if isinstance(value, dict) else {}


def _meets(body: dict[str, Any], terms: Sequence[Term]) -> bool:
    return all((_text(body, term) in term.values) != term.negated for term in terms)


def _text(body: dict[str, Any], term: Term) -> str | None:
    """Give the member that a term names, as text: a number as sent, true and false as words."""
    path = [term.name, *(term.path or "").split(".")]
    if term.name == "key":
        path.insert(1, "fields")
    value: Any = body
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, canonical.Number):
        return value.token
    return value if isinstance(value, str) else plain.number_token(value)
