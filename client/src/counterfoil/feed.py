"""Feed lines: what a spool says of itself once a minute and when it closes.

`written` counts the numbers given so far, `sent.count` the lines that have an answer, `unsent`
those that wait, `dropped` the numbers whose lines were lost for want of room. `end` says how a
closed spool ended: `in_order`, or `writer_gone` when its process died and all that it had written
was sent.
"""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counterfoil import encode, ids, names, reader
from counterfoil.state import SpoolState

EVERY_S = 60.0


def line_of(
    known: SpoolState, waiting: int, oldest_unsent_s: float | None, *, is_closed: bool = False
) -> bytes:
    """Give one feed line as JSON with its newline."""
    receipt: dict[str, Any] = {
        "schema": "counterfoil.receipt/1",
        "id": ids.v7(),
        "kind": "observe",
        "occurred_at": encode.now_text(),
        "what": "feed",
        "spool": known.spool,
        "written": known.next_number - 1 + waiting,
        # An object, because that is what `sent` is in every receipt, and what is left out when two
        # receipts are compared; `unsent` says the same where it is kept.
        "sent": {"count": known.sent},
        "unsent": waiting,
        "dropped": known.dropped,
        "oldest_unsent_s": oldest_unsent_s,
    }
    if is_closed:
        receipt.update(closed=True, end=known.end)
    return encode.line_of(receipt)


def waiting_of(
    directory: Path, files: Sequence[names.SpoolFile], known: SpoolState, now: float
) -> tuple[int, float | None]:
    """Count the lines without an answer and give the age of the oldest in seconds."""
    count, oldest = 0, None
    for file in files:
        is_current = known.current and file.first in (None, known.current)
        offset = known.offset if is_current and not count else 0
        path = directory / file.filename
        try:
            lines = reader.count_lines(path, offset)
            if lines and oldest is None:
                oldest = _age(path, offset, now)
        except FileNotFoundError:
            continue
        count += lines
    return count, oldest


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
