"""What the events app adds to the explanation of a receipt: what it told of a bus."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

from events.domain.resume import SENTENCES
from events.domain.told import answers, names
from events.queries import finding_words
from kit import bulk
from ledger.domain.statement import Statement

Document = dict[str, Any]
_STEP = (
    "SELECT l.lane, l.bus, l.bus_name, l.installation, l.replica FROM bus_lane_step s "
    "JOIN bus_lane l ON l.project_id = s.project_id AND l.lane = s.lane "
    "WHERE s.project_id = %s AND s.lane = %s AND s.leaf_index = %s"
)
_SPACES = (
    "SELECT space, first, last, count FROM bus_segment WHERE project_id = %s AND lane = %s "
    "AND leaf_index = %s ORDER BY space"
)
_FOUND = (
    "SELECT code, count(*) FROM bus_finding WHERE project_id = %s AND bus = %s "
    "AND leaf_index = %s GROUP BY code ORDER BY code"
)
_RESUME = (
    "SELECT given, answer, rule, code, missed_count, missed, is_partial FROM bus_resume "
    "WHERE project_id = %s AND leaf_index = %s"
)


def bus_section(project_id: int, statement: Statement, end: int | None) -> Document | None:
    """Give the section about a segment or an answer; None for all other receipts."""
    if statement.kind != "observe" or statement.leaf < 0:
        return None
    if statement.what == "segment":
        return _segment(project_id, statement)
    return _answer(project_id, statement) if statement.what == "resume" else None


def _segment(project_id: int, statement: Statement) -> Document | None:
    bus = names.bus_of(statement)
    if bus is None:
        return None
    lane = bus.lane_id(names.replica_of(statement))
    where = [project_id, lane, statement.leaf]
    known = bulk.select_rows(_STEP, where)
    if not known:
        return None
    ((_, bus_id, name, installation, replica),) = known
    found = bulk.select_rows(_FOUND, [project_id, bus_id, statement.leaf])
    return {
        "title": "Messages of a bus",
        "rows": [
            _row("the lane", f"{replica} on {name} of {installation}", f"lanes/{lane}"),
            *(_space(row) for row in bulk.select_rows(_SPACES, where)),
            *(_finding(bus_id, row) for row in found),
        ],
        "links": [
            {"label": "the bus over time", "path": f"buses/{bus_id}"},
            {"label": "the lane's messages", "path": f"lanes/{lane}/buffer"},
        ],
    }


def _space(row: Sequence[Any]) -> Document:
    space, first, last, count = row
    if space < 0 or first is None:
        return _row("without an id that counts", f"{count:,} frames or unreadable messages")
    many = "1 message" if count == 1 else f"{count:,} messages"
    return _row(f"ID space {space}", f"{many}, ids {first} to {last}")


def _finding(bus: str, row: Sequence[Any]) -> Document:
    code, count = row
    mark = finding_words.mark_of(code)
    text = mark.word if count == 1 else f"{mark.word}, {count:,} times"
    return _row("what it brought out", text, f"buses/{bus}/findings?code={code}")


def _answer(project_id: int, statement: Statement) -> Document | None:
    told = answers.read_resume(statement)
    rows = bulk.select_rows(_RESUME, [project_id, statement.leaf])
    if told is None or not rows:
        return None
    ((given, answer, rule, code, missed, listed, is_partial),) = rows
    lane = told.bus.lane_id(told.replica)
    asked = {"cursor": told.cursor, "epoch": told.epoch, "channel": told.channel}
    query = urlencode({name: value for name, value in asked.items() if value})
    shown = [_row("was answered", given or "nothing that we can read")]
    shown.append(_row("would have been safe", f"{answer}: {SENTENCES.get(rule, rule)}"))
    if code:
        shown.append(_row("so", finding_words.mark_of(code).word))
    if missed:
        first = ", ".join(json.loads(listed)[:5])
        shown.append(_row("never sent", f"{missed:,} ids that we know of: {first}"))
    if is_partial:
        shown.append(_row("not known", "what we kept does not reach back to the cursor"))
    return {
        "title": "A client that resumed",
        "rows": shown,
        "links": [{"label": "try it again", "path": f"lanes/{lane}/resume?{query}"}],
    }


def _row(label: str, text: str, path: str = "") -> Document:
    return {"label": label, "text": text, "path": path}
