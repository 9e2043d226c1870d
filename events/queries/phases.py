"""What went on around a bus while a timeline ran: maintenance, and the phases of a roll."""

from __future__ import annotations

import json
from typing import Any

from events.domain import phase_spans
from events.domain.axis import Axis
from events.domain.phase_spans import Change
from events.domain.told import settings
from events.queries import rows
from events.queries.rows import Document

MOST = 500


def in_range(project_id: int, bus: Document, axis: Axis, end: int | None) -> list[Document]:
    """Give the vertical spans of a range: maintenance windows, then what the replicas ran."""
    below = 2**63 - 1 if end is None else end
    windows = [
        _span(begin, until, "maintenance", "plain", axis)
        for begin, until in _windows(project_id, bus["bus"], below)
        if axis.meets(begin, until)
    ]
    changes = changes_of(project_id, bus["installation_id"], below)
    rolls = [
        _span(one.begin, one.end, one.label, "bad" if one.is_illegal else "plain", axis)
        for one in phase_spans.spans_of(changes, axis.end)
        if axis.meets(one.begin, one.end)
    ]
    return windows + rolls


def changes_of(project_id: int, installation: str, below: int) -> list[Change]:
    """Give the phases that replicas of an installation told of, below a leaf."""
    where = (
        "FROM bus_phase WHERE project_id = %s AND installation_id = %s AND leaf_index < %s "
        "ORDER BY leaf_index DESC LIMIT %s"
    )
    found = rows.select("at, replica, phase", where, [project_id, installation, below, MOST])
    return [Change(row["at"], row["replica"], row["phase"]) for row in found]


def _windows(project_id: int, bus: str, below: int) -> list[tuple[int, int]]:
    where = (
        "FROM bus_setting WHERE project_id = %s AND subject = %s AND verb = %s "
        "AND leaf_index < %s ORDER BY leaf_index DESC LIMIT %s"
    )
    given: list[Any] = [project_id, bus, settings.MAINTAIN, below, MOST]
    windows = [settings.window_of(json.loads(one["data"])) for one in rows.select(
        "data", where, given)]  # fmt: skip
    return [window for window in windows if window is not None]


def _span(begin: int, until: int, label: str, tone: str, axis: Axis) -> Document:
    return {
        "from_ms": axis.ms(axis.clip(begin)),
        "to_ms": axis.ms(axis.clip(until)),
        "label": label,
        "tone": tone,
    }
