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


class Heads:
    """The newest head by node and epoch, and the tails that lanes have not reached yet."""

    __slots__ = ("_journal", "_nodes", "tails")

    def __init__(self, journal: Journal, state: list[Any] | None = None) -> None:
        nodes, tails = state or ([], [])
        self._journal = journal
        self._nodes: dict[tuple[str, str | None], tuple[int, int]] = {
            (node, epoch): (at, head) for node, epoch, at, head in nodes
        }
        self.tails: dict[str, list[Any]] = {
            replica: [head, era, low, unpack(packed)] for replica, head, era, low, packed in tails
        }

    def take(
        self, at: int, node: str, epoch: str | None, head: int, lanes: dict[str, Lane]
    ) -> None:
        """Take a sample; a counter that is absent reads as 0, which is a value."""
        key = (node, epoch)
        before = self._nodes.pop(key, None)
        if before is not None and at < before[0]:
            self._nodes[key] = before
            return
        if before is not None and head < before[1]:
            self._fell(at, node, epoch, head, before)
        self._nodes[key] = (at, head)
        if len(self._nodes) > NODES:
            del self._nodes[next(iter(self._nodes))]
        for replica, lane in lanes.items():
            self._compare(at, epoch, head, replica, lane)

    def _fell(
        self, at: int, node: str, epoch: str | None, head: int, before: tuple[int, int]
    ) -> None:
        facts: dict[str, str | int] = {
            **({"node": node} if node else {}),
            "from": str(before[1]),
            "to": str(head),
            "since": before[0],
        }
        self._journal.open(codes.HW_REGRESS, at, "head_fell", facts=facts, epoch=epoch, id=head)

    def _compare(self, at: int, epoch: str | None, head: int, replica: str, lane: Lane) -> None:
        line = lane.line
        if line is None or not lane.desk.is_dense or line.is_unwatched or line.scope:
            return
        is_same = epoch is None or lane.epochs.token in (None, epoch)
        if replica in self.tails or not is_same or head <= line.high:
            return
        finding = self._journal.open(
            codes.TAIL_GAP,
            at,
            "head_not_reached",
            due_at=at + SETTLE + 1,
            facts={"head": str(head), "high": str(line.high), "space": line.band},
            replica=replica,
            epoch=lane.epochs.token,
            id=line.high + 1,
        )
        self.tails[replica] = [head, list(line.key), line.first, finding]

    def reach(self, replica: str, lane: Lane, at: int) -> None:
        """Let a lane settle its tail, once it got to that head or its counter began anew."""
        head, key, first, finding = self.tails[replica]
        line = lane.line
        if line is None or list(line.key) != key or line.first != first:
            del self.tails[replica]
        elif line.high >= head:
            del self.tails[replica]
            self._close(finding, at)

    def _close(self, finding: Finding | None, at: int) -> None:
        if finding is not None and at < finding.due_at:
            self._journal.drop(finding)
        elif finding is not None:
            self._journal.change(finding, facts={"filled_at": at}, closed_at=at)

    def excuse(self, replica: str, at: int) -> None:
        """Blame no tail on a lane that was not due when we stopped watching it."""
        tail = self.tails.get(replica)
        if tail is not None and (tail[3] is None or tail[3].due_at > at):
            del self.tails[replica]
            if tail[3] is not None:
                self._journal.drop(tail[3])

    def state(self) -> list[Any]:
        """Give them as JSON."""
        return [
            [[*key, *value] for key, value in self._nodes.items()],
            [[name, *tail[:3], pack(tail[3])] for name, tail in self.tails.items()],
        ]
