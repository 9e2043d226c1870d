"""Holding a list of expected objects against the record, for the command, the API and the page.

Nothing of the list is stored: it is read, answered, and forgotten.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kit import clock, http, search
from ledger.domain import members, reconcile
from ledger.domain.expected import BadExpected, Expected, read_expected, take_ids
from ledger.domain.reconcile import Window
from ledger.queries import as_of, watched
from ledger.queries.reconcile import Reconciliation

Document = dict[str, Any]
MOST = 100_000
"""Objects that one request may ask for."""

ROWS_A_PART = 200
COLUMNS = (
    "type", "id", "became", "why", "verdict", "by", "at", "receipts", "outside", "done_again",
    "listed",
)  # fmt: skip
LISTED = ("nothing_recorded", "failed", "cancelled", "skipped", "done_again", "in_progress", "done")
"""The lists of a result, what needs someone first; what was done again is in two of them."""

LIST_WORDS = {**reconcile.STATE_WORDS, "done_again": "done more than once"}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a list is held against: the objects' type, its column, the window, and how strictly."""

    kind: str
    column: str = ""
    first: datetime | None = None
    last: datetime | None = None
    takes_unnumbered: bool = False


def is_kind(text: str) -> bool:
    """Tell whether a text can be the type of business objects."""
    return members.SUBJECT_TYPE.fullmatch(text) is not None


def read_asked(given: Mapping[str, str]) -> Asked:
    """Read what a form or an address asks for; raises BadExpected for what it cannot mean."""
    kind = given.get("type", "").strip()
    if not is_kind(kind):
        raise BadExpected("Say what the objects are, as receipts do: 1 to 32 of a-z, 0-9 and _, "
                          "such as payout.")  # fmt: skip
    now = clock.now()
    first, last = (_moment(given.get(name, "").strip(), now) for name in ("from", "to"))
    unnumbered = given.get("unnumbered", "") in ("1", "on", "true")
    return Asked(kind, given.get("column", "").strip(), first, last, unnumbered)


def _moment(text: str, now: datetime) -> datetime | None:
    try:
        return search.moment_to_read_at(text, now) if text else None
    except ValueError:
        raise BadExpected(f"{text[:40]!a} is no time; write one such as 2026-10-05T09:00:00Z, or a "
                          "date.") from None  # fmt: skip


def begin(project_id: int, lines: Iterable[str], asked: Asked, *, most: int) -> Reconciliation:
    """Read a list and the point at which the record stands; raises BadExpected."""
    expected = read_expected(lines, asked.kind, asked.column, most=most)
    return _begin(project_id, expected, asked)


def begin_ids(project_id: int, names: Iterable[str], asked: Asked) -> Reconciliation:
    """Take ids as they are, and the point at which the record stands; raises BadExpected."""
    return _begin(project_id, take_ids(names), asked)


def _begin(project_id: int, expected: Expected, asked: Asked) -> Reconciliation:
    now = clock.now()
    last = now if asked.last is None else min(asked.last, now)
    if asked.first is not None and asked.first >= last:
        raise BadExpected("The window ends before it begins, or has not begun yet.")
    cut = as_of.find_as_of(project_id, "", now)
    window = Window(asked.first, last)
    return Reconciliation(project_id, asked.kind, expected, cut, window, asked.takes_unnumbered)


def json_parts(found: Reconciliation) -> Iterator[bytes]:
    """Write a result as one JSON object, by parts: the items first, then the totals."""
    yield b'{"items":['
    before = b""
    for item in found.items():
        yield before + http.json_bytes(item)
        before = b",\n"
    yield b"]," + http.json_bytes(found.totals())[1:]


def csv_bytes(found: Reconciliation) -> Iterator[bytes]:
    """Write a result as CSV (RFC 4180), by parts."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\r\n")
    for number, cells in enumerate(csv_rows(found), 1):
        writer.writerow(cells)
        if number % ROWS_A_PART == 0:
            yield _taken(out)
    yield _taken(out)


def _taken(out: io.StringIO) -> bytes:
    text = out.getvalue()
    out.seek(0)
    out.truncate()
    return text.encode("utf-8", "backslashreplace")


def csv_rows(found: Reconciliation) -> Iterator[list[str]]:
    """Write a result as cells that no spreadsheet runs as a formula, the header first."""
    yield list(COLUMNS)
    for item in found.items():
        row = {
            **item,
            "why": (item["verdict"] or {}).get("sentence"),
            "verdict": (item["verdict"] or {}).get("code"),
            "done_again": " ".join(item["done_again"]),
        }
        yield [http.csv_cell(row[name]) for name in COLUMNS]


def lists_of(item: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the lists that an object is in."""
    state = str(item["became"])
    return (state, "done_again") if item["done_again"] else (state,)


def line_of(item: Mapping[str, Any]) -> str:
    """Write an object as a line: its id, and what says so."""
    verdict, name = item["verdict"], ascii(item["id"])[1:-1]
    parts = [verdict["sentence"] if verdict else "", item["by"] or ""]
    if item["became"] == "nothing_recorded" and item["outside"]:
        parts = [f"outside the window: {item['outside']:,} receipts"]
    if item["done_again"]:
        parts.append(f"done again by {', '.join(item['done_again'])}")
    return "  ".join([name, *filter(None, parts)])


def summary(totals: Mapping[str, Any]) -> list[str]:
    """Say in sentences what the counts come to."""
    counts = totals["counts"]
    told = ", ".join(
        f"{counts[name]:,} {reconcile.STATE_WORDS[name]}" for name in reversed(reconcile.STATES)
    )
    found = [f"{totals['expected']:,} expected: {told}."]
    if counts["done_again"]:
        found.append(f"Done more than once: {counts['done_again']:,}.")
    if counts["outside"]:
        found.append(f"Without a record, but with one outside the window: {counts['outside']:,}.")
    if totals["listed_again"]:
        found.append(f"Lines that name an object once more: {totals['listed_again']:,}.")
    if totals["blank_lines"]:
        found.append(f"Lines that name nothing: {totals['blank_lines']:,}.")
    return found


def sources(project_id: int) -> Document:
    """Give what a list can be held against: each source and since when it was watched."""
    cut = as_of.find_as_of(project_id, "", clock.now())
    return {"sources": watched.source_documents(project_id, cut), "as_of": cut.at}
