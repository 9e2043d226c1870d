"""Silence: a replica that receives neither traffic nor frames while its siblings do.

Only liveness frames make silence mean something: without them a quiet lane is quiet, not silent.
"""

from __future__ import annotations

from typing import Any

from events.domain import codes
from events.domain.changes import Journal, pack, unpack
from events.domain.findings import Finding
from events.domain.lanes import Lane
from events.domain.records import FRAME, HOLE, SECOND, Record

SILENT = 3 * 30 * SECOND
"""Three frames that did not come; a publisher sends one each 30 seconds (reference/pad.md 3.1)."""
SUSPECT = 2 * 30 * SECOND
"""How long a sibling must have gone on receiving: a bus that stops altogether silences nobody."""
FRAMES_ON = 10 * 30 * SECOND
"""Without a frame on the whole bus for so long, frames are switched off."""


class Silence:
    """The replicas of one bus that are silent, and when the next one could be."""

    __slots__ = ("_frame_at", "_journal", "_next_at", "_open")

    def __init__(self, journal: Journal, state: list[Any] | None = None) -> None:
        frame_at, next_at, rows = state or (None, 0, [])
        self._frame_at: int | None = frame_at
        self._next_at: int = next_at
        self._journal = journal
        self._open: dict[str, Finding | None] = {name: unpack(packed) for name, packed in rows}

    def take(self, record: Record, lanes: dict[str, Lane]) -> None:
        """Take what a lane received as a sign of its life, and as time for the others."""
        if record.form == FRAME:
            self._frame_at = max(record.at, self._frame_at or 0)
        if record.replica in self._open:
            self._end(record)
        if record.form == HOLE or record.at < self._next_at or self._frame_at is None:
            return
        self._next_at = record.at + SUSPECT
        for replica, lane in lanes.items():
            if replica != record.replica and replica not in self._open:
                self._watch(record, replica, lane)

    def _watch(self, record: Record, replica: str, lane: Lane) -> None:
        suspect_at, silent_at = lane.heard + SUSPECT, lane.heard + SILENT
        if record.at < suspect_at:
            self._next_at = min(self._next_at, suspect_at)
        elif record.at - (self._frame_at or 0) <= FRAMES_ON:
            self._open[replica] = self._journal.open(
                codes.LANE_SILENT,
                silent_at,
                "siblings_receive",
                due_at=max(record.at, silent_at),
                facts={"since": lane.heard, "sibling": record.replica},
                replica=replica,
            )

    def _end(self, record: Record) -> None:
        """Let a lane be heard again, or excuse it when it was we who did not listen."""
        finding = self._open.pop(record.replica)
        self._next_at = 0
        if finding is None:
            return
        if record.at < finding.at:
            self._journal.drop(finding)
        elif record.form == HOLE:
            self._journal.change(finding, facts={"unwatched_from": record.at})
        else:
            self._journal.change(finding, facts={"back_at": record.at})

    def state(self) -> list[Any]:
        """Give it as JSON."""
        rows = [[name, pack(finding)] for name, finding in self._open.items()]
        return [self._frame_at, self._next_at, rows]
