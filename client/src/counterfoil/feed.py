"""Feed lines: what a spool says of itself once a minute and when it closes.

`written` counts the numbers given so far, `sent` the lines that have an answer, `unsent` those that
wait, `dropped` the numbers whose lines were lost for want of room. The spool of tallies says in
`outcomes` what still lies in the journals and has no number yet. `end` says how a closed spool
ended: `in_order`, or `writer_gone` when its process died and all that it had written was sent.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from counterfoil import encode, ids, names, reader
from counterfoil.state import SpoolState

EVERY_S = 60.0
VERSION = "0.1.0"


@dataclass(frozen=True)
class Standing:
    """How a spool stands: numbers given, lines waiting, numbers lost, age of the oldest waiting."""

    written: int
    unsent: int
    dropped: int
    oldest_unsent_s: float | None
    outcomes: Outcomes | None = None


@dataclass(frozen=True)
class Outcomes:
    """How the journals of a directory stand: outcomes that wait, age of the oldest, all lost."""

    waiting: int
    oldest_s: float | None
    lost: int


def line_of(known: SpoolState, standing: Standing, *, is_closed: bool = False) -> bytes:
    """Give one feed line as JSON with its newline."""
    receipt: dict[str, Any] = {
        "schema": "counterfoil.receipt/1",
        "id": ids.v7(),
        "kind": "observe",
        "occurred_at": encode.now_text(),
        "what": "feed",
        "spool": known.spool,
        "written": standing.written,
        # A member called `sent` is left out when receipts are compared and is not in the stub, so
        # `unsent` says the same where it is kept.
        "sent": known.sent,
        "unsent": standing.unsent,
        "dropped": standing.dropped,
        "oldest_unsent_s": standing.oldest_unsent_s,
        "client": {"name": "counterfoil-python", "version": VERSION},
    }
    if standing.outcomes is not None:
        # Not `lost`: each of those takes a number, and is counted in `dropped`.
        waiting, oldest_s = standing.outcomes.waiting, standing.outcomes.oldest_s
        receipt["outcomes"] = {"waiting": waiting, "oldest_s": oldest_s}
    if is_closed:
        receipt.update(closed=True, end=known.end)
    return encode.line_of(receipt)


def standing_of(
    directory: Path, files: Sequence[names.SpoolFile], known: SpoolState, now: float
) -> Standing:
    """Look through the spool's files from where the forwarder stands; raises Unreadable."""
    ahead = replace(known)
    unsent, oldest = 0, None
    for file in files:
        path = directory / file.filename
        try:
            ahead.begin_file(file.first)
            lines = reader.count_lines(path, ahead.offset)
            if lines and oldest is None:
                oldest = _age(path, ahead.offset, now)
        except FileNotFoundError:
            continue
        unsent += lines
        ahead.next_number += lines
        ahead.end_file()
    return Standing(ahead.next_number - 1, unsent, ahead.dropped, oldest)


def with_outcomes(standing: Standing, outcomes: Outcomes) -> Standing:
    """Add what lies in the journals to how the spool of tallies stands."""
    ages = (standing.oldest_unsent_s, outcomes.oldest_s)
    oldest = max((age for age in ages if age is not None), default=None)
    return replace(standing, oldest_unsent_s=oldest, outcomes=outcomes)


def _age(path: Path, offset: int, now: float) -> float:
    at = path.stat().st_mtime
    for line in reader.read_lines(path, offset, is_final=False, lines=1):
        at = _occurred(line.text, at)
    return round(max(0.0, now - at), 3)


def _occurred(text: bytes, otherwise: float) -> float:
    try:
        found = json.loads(text)["occurred_at"]
        return dt.datetime.fromisoformat(found.replace("Z", "+00:00")).timestamp()
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        return otherwise
