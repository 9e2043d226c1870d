"""Heads: what the authority's counter stood at when somebody sampled it.

A head that falls between two samples of one node in one epoch is a counter that fell back, even if
the epoch stayed. A head that a lane does not reach means that its newest ids are missing.
"""

from __future__ import annotations

from typing import Any

from events.domain import codes
from events.domain.changes import Journal, pack, unpack
from events.domain.findings import Finding
from events.domain.holes import SETTLE
from events.domain.lanes import Lane

NODES = 64
Place = tuple[str, str | None, str]
"""A node, an epoch and a channel, each as the sampler named it."""


class Heads:
    """The newest head by place, and by replica and channel the tails that are not reached yet."""

    __slots__ = ("_journal", "_nodes", "tails")

    def __init__(self, journal: Journal, state: list[Any] | None = None) -> None:
        nodes, tails = state or ([], [])
        self._journal = journal
        self._nodes: dict[Place, tuple[int, int]] = {
            (node, epoch, channel): (at, head) for node, epoch, channel, at, head in nodes
        }
        self.tails: dict[str, dict[str, list[Any]]] = {}
        for replica, channel, *tail, packed in tails:
            self.tails.setdefault(replica, {})[channel] = [*tail, unpack(packed)]

    def take(self, at: int, place: Place, head: int, lanes: dict[str, Lane]) -> None:
        """Take a sample; a counter that is absent reads as 0, which is a value."""
        before = self._nodes.pop(place, None)
        if before is not None and at < before[0]:
            self._nodes[place] = before
            return
        if before is not None and head < before[1]:
            self._fell(at, place, head, before)
        self._nodes[place] = (at, head)
        if len(self._nodes) > NODES:
            del self._nodes[next(iter(self._nodes))]
        for replica, lane in lanes.items():
            self._compare(at, place, head, replica, lane)

    def _fell(self, at: int, place: Place, head: int, before: tuple[int, int]) -> None:
        node, epoch, channel = place
        facts: dict[str, str | int] = {
            **({"node": node} if node else {}),
            "from": str(before[1]),
            "to": str(head),
            "since": before[0],
        }
        named: dict[str, Any] = {"epoch": epoch, "id": head, "scope": channel}
        self._journal.open(codes.HW_REGRESS, at, "head_fell", facts=facts, **named)

    def _compare(self, at: int, place: Place, head: int, replica: str, lane: Lane) -> None:
        _, epoch, channel = place
        line = lane.line_of(channel)
        if line is None or not lane.desk.is_dense or line.is_unwatched:
            return
        is_same = epoch is None or lane.epochs.token in (None, epoch)
        tails = self.tails.get(replica, {})
        if channel in tails or not is_same or head <= line.high:
            return
        finding = self._journal.open(
            codes.TAIL_GAP,
            at,
            "head_not_reached",
            due_at=at + SETTLE + 1,
            facts={"head": str(head), "high": str(line.high), "space": line.band},
            replica=replica,
            scope=line.scope,
            epoch=lane.epochs.token,
            id=line.high + 1,
        )
        tail = [head, list(line.key), line.first, finding]
        self.tails.setdefault(replica, {})[channel] = tail

    def reach(self, replica: str, lane: Lane, at: int) -> None:
        """Let a lane settle its tails, once it got to a head or its counter began anew."""
        for channel, (head, key, first, finding) in list(self.tails[replica].items()):
            line = lane.line_of(channel)
            is_other = line is None or list(line.key) != key or line.first != first
            if is_other or (line is not None and line.high >= head):
                self._forget(replica, channel)
            if not is_other and line is not None and line.high >= head:
                self._close(finding, at)

    def _close(self, finding: Finding | None, at: int) -> None:
        if finding is not None and at < finding.due_at:
            self._journal.drop(finding)
        elif finding is not None:
            self._journal.change(finding, facts={"filled_at": at}, closed_at=at)

    def _forget(self, replica: str, channel: str) -> None:
        del self.tails[replica][channel]
        if not self.tails[replica]:
            del self.tails[replica]

    def excuse(self, replica: str, at: int) -> None:
        """Blame no tail on a lane that was not due when we stopped watching it."""
        for channel, (*_, finding) in list(self.tails.get(replica, {}).items()):
            if finding is None or finding.due_at > at:
                self._forget(replica, channel)
            if finding is not None and finding.due_at > at:
                self._journal.drop(finding)

    def state(self) -> list[Any]:
        """Give them as JSON."""
        return [
            [[*place, *value] for place, value in self._nodes.items()],
            [
                [replica, channel, *tail[:3], pack(tail[3])]
                for replica, tails in self.tails.items()
                for channel, tail in tails.items()
            ],
        ]
