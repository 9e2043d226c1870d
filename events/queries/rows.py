"""Rows of the events tables as objects with named members, and the refs of receipts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from kit import bulk, ids
from kit.http import ProblemError

Document = dict[str, Any]
_REFS = "SELECT leaf_index, receipt FROM leaf WHERE project_id = %s AND leaf_index IN ({values})"


def select(
    columns: str,
    rest: str,
    parameters: Sequence[Any],
    before: tuple[str, Sequence[Any]] = ("", ()),
) -> list[Document]:
    """Run a SELECT of columns whose names are its last words; all texts are our own.

    `before` is a WITH clause and its parameters.
    """
    clause, given = before
    found = bulk.select_rows(f"{clause} SELECT {columns} {rest}", [*given, *parameters])
    names = [name.rpartition(" ")[2].rpartition(".")[2] for name in columns.split(", ")]
    return [dict(zip(names, row, strict=True)) for row in found]


def marks(values: Sequence[Any]) -> str:
    """Give the places of a short list in a statement; of an empty one a place that finds none."""
    return ", ".join(["%s"] * len(values)) or "NULL"


def refs_of(project_id: int, leaves: Iterable[int]) -> dict[int, str]:
    """Give the refs of the receipts at some leaves."""
    found = bulk.select_in(_REFS, [project_id], sorted(set(leaves)))
    return {leaf: ids.ref_of(bulk.as_uuid(receipt)) for leaf, receipt in found}


def as_text(number: int | None) -> str | None:
    """Give a number of 64 bits as the text that passes through a browser unchanged."""
    return None if number is None else str(number)


def as_number(text: str | None) -> int | None:
    """Read a number of 64 bits from a text of a producer; None for any other text."""
    if text is None or len(text) > 20 or not text.isascii():
        return None
    return int(text) if text.removeprefix("-").isdecimal() else None


def missing(what: str, detail: str) -> ProblemError:
    """Make the problem for an address that names nothing."""
    return ProblemError(404, "not_found", f"No such {what}", detail)
