"""The fold of one bus of one installation: what its replicas received, and what that shows.

Everything follows from the records in their order alone, so the same history gives the same
findings and spaces, wherever it is cut and however often it is told.
Source: reference/events-and-loops.md section 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from events.domain import faults
from events.domain.changes import Changes, Journal
from events.domain.desk import Desk
from events.domain.heads import Heads
from events.domain.incidents import Incidents
from events.domain.lanes import NOWHERE, Lane
from events.domain.records import HOLE, REPLAY, Record
from events.domain.silence import Silence
from events.domain.spaces import Spaces
from events.domain.stream_settings import StreamSettings

__all__ = ["Changes", "Stream", "StreamSettings"]


class Stream:
    """The detectors of one bus, fed with all its replicas in the order of the log."""

    def __init__(self, settings: StreamSettings, state: Mapping[str, Any] | None = None) -> None:
        """Begin anew, or go on exactly where `state` was taken."""
        state = state or {}
        self._settings = settings
        self._journal = Journal(settings.installation, settings.bus, state.get("journal"))
        self._incidents = Incidents(self._journal, state.get("incidents"))
        self._heads = Heads(self._journal, state.get("heads"))
        self._silence = Silence(self._journal, state.get("silence"))
        self._lanes = {
            replica: Lane(self._desk(replica, spaces), lane)
            for replica, spaces, lane in state.get("lanes", ())
        }

    def _desk(self, replica: str, spaces: list[Any] | None = None) -> Desk:
        own = Spaces(replica, spaces)
        return Desk(self._settings, self._journal, self._incidents, own, self._settings.is_dense)

    def take(self, record: Record) -> int:
        """Take what a replica received, and give the ordinal of its space there.

        It is -1 for what belongs to no space: frames, junk, holes, replays and ids below 1.
        """
        if record.source == REPLAY:
            return NOWHERE
        lane = self._lanes.get(record.replica)
        if lane is None:
            lane = self._lanes[record.replica] = Lane(self._desk(record.replica))
        ordinal = lane.take(record)
        if record.replica in self._heads.tails:
            self._settle_tail(lane, record)
        if len(self._lanes) > 1:
            self._silence.take(record, self._lanes)
            if ordinal >= 0:
                faults.look(self._journal, self._lanes, lane, record)
        return ordinal

    def _settle_tail(self, lane: Lane, record: Record) -> None:
        if record.form == HOLE:
            self._heads.excuse(record.replica, record.at)
        else:
            self._heads.reach(record.replica, lane, record.at)

    def watch_again(self, replica: str, at: int) -> None:
        """Let another tail of a lane begin: what came since the last one was not watched.

        A tail that follows soon says so itself, with a hole; one after a day or on another machine
        does not.
        """
        lane = self._lanes.get(replica)
        if lane is not None and lane.heard < at:
            owner = (self._settings.installation, self._settings.bus)
            self.take(Record(lane.heard, *owner, replica, "", HOLE, until=at))

    def take_head(
        self, at: int, node: str, epoch: str | None, head: int, channel: str = ""
    ) -> None:
        """Take a sample of the authority's counter: its node, its epoch if known, its value.

        `channel` is the one that it counts for, where each has a counter of its own.
        """
        self._heads.take(at, (node, epoch, channel), head, self._lanes)

    def drain(self) -> Changes:
        """Hand out what came of the records since the last drain."""
        findings, dropped = self._journal.drain()
        spaces = [space for lane in self._lanes.values() for space in lane.desk.spaces.drain()]
        return Changes(findings, dropped, spaces)

    def state(self) -> dict[str, Any]:
        """Give as JSON what a later fold needs to go on; take it after a drain."""
        return {
            "journal": self._journal.state(),
            "incidents": self._incidents.state(),
            "heads": self._heads.state(),
            "silence": self._silence.state(),
            "lanes": [
                [replica, lane.desk.spaces.state(), lane.state()]
                for replica, lane in self._lanes.items()
            ],
        }
