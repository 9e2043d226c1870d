"""A recorded history of buses judged without a database (contract.md section 8, `stream`).

The records are folded by the functions that the pages use, in the order in which each lane received
them and by the clock of the history alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from events.domain.changes import Changes
from events.domain.cross import CrossWatch
from events.domain.findings import Finding
from events.domain.records import SECOND, Record
from events.domain.sentences import sentence
from events.domain.spaces import STRAY, Space
from events.domain.stream import Stream
from events.domain.stream_document import BadStream, Document, Head, read

__all__ = ["BadStream", "evaluate"]

Answer = dict[str, Any]
Bus = tuple[str, str]
_PLACES = ("leaf", "row", "space")


def evaluate(document: object) -> dict[str, list[Answer]]:
    """Return the findings that hold at `until`, in order of time, and the spaces of each lane.

    Low ids that were only out of order are counted in the space that they were late for.
    Raises BadStream, which says where.
    """
    history = read(document)
    folds = _fold(history)
    holding = [one for one in folds.findings.values() if one.holds(history.until)]
    return {
        "findings": [_finding(one) for one in sorted(holding, key=lambda one: one.at)],
        "spaces": [
            _space(bus, one) for bus, lane in folds.spaces.items() for one in _told(lane.values())
        ],
    }


class _Folds:
    """All buses of a history while it is told."""

    def __init__(self, history: Document) -> None:
        self._history = history
        self._streams: dict[Bus, Stream] = {}
        self._cross = CrossWatch()
        for one, other in history.aliases:
            self._cross.alias(one, other)
        self.findings: dict[str, Finding] = {}
        self.spaces: dict[Bus, dict[tuple[str, int], Space]] = {}

    def _stream(self, bus: Bus) -> Stream:
        if bus not in self._streams:
            self._streams[bus] = Stream(self._history.settings(*bus))
        return self._streams[bus]

    def take(self, item: Record | Head) -> None:
        if isinstance(item, Head):
            bus = (item.installation or self._owner(item.bus), item.bus)
            self._stream(bus).take_head(item.at, item.node, item.epoch, item.head, item.channel)
            return
        bus = (item.installation, item.bus)
        self._stream(bus).take(item)
        self._cross.take(item)

    def _owner(self, bus: str) -> str:
        """Give the installation whose bus a head without an owner is of: the first that has one."""
        owners = (one.installation for one in self._history.records if one.bus == bus)
        return next(owners, "default")

    def drain(self) -> None:
        for bus, stream in self._streams.items():
            self._keep(bus, stream.drain())
        self._keep(("", ""), self._cross.drain())

    def _keep(self, bus: Bus, changes: Changes) -> None:
        for key in changes.dropped:
            self.findings.pop(key, None)
        for finding in changes.findings:
            self.findings[finding.key] = finding
        for space in changes.spaces:
            self.spaces.setdefault(bus, {})[space.replica, space.ordinal] = space


def _fold(history: Document) -> _Folds:
    folds = _Folds(history)
    for item in _in_order(history):
        folds.take(item)
    folds.drain()
    return folds


def _in_order(history: Document) -> Iterator[Record | Head]:
    """Give records and samples by time; a lane's own records stay in their order of arrival."""
    newest: dict[tuple[str, str, str], int] = {}
    placed: list[tuple[int, int, int, Record | Head]] = []
    for index, record in enumerate(history.records):
        lane = (record.installation, record.bus, record.replica)
        newest[lane] = max(record.at, newest.get(lane, record.at))
        placed.append((newest[lane], 0, index, record))
    placed += [(head.at, 1, index, head) for index, head in enumerate(history.heads)]
    return (one[3] for one in sorted(placed, key=lambda one: one[:3]))


def _told(spaces: Iterable[Space]) -> list[Space]:
    """Give the spaces of a bus, stray ids counted in the space that they belong to."""
    told = {(one.replica, one.ordinal): one for one in spaces}
    for key, stray in sorted(told.items(), reverse=True):
        parent = told.get((stray.replica, -1 if stray.parent is None else stray.parent))
        if stray.kind == STRAY and parent is not None:
            told[parent.replica, parent.ordinal] = _joined(parent, stray)
            del told[key]
    return list(told.values())


def _joined(parent: Space, stray: Space) -> Space:
    is_newer = stray.last_at > parent.last_at
    return replace(
        parent,
        last_at=max(parent.last_at, stray.last_at),
        last=stray.last if is_newer else parent.last,
        least=min(parent.least, stray.least),
        greatest=max(parent.greatest, stray.greatest),
        count=parent.count + stray.count,
    )


def _finding(one: Finding) -> Answer:
    return {
        "code": one.code,
        "severity": one.severity,
        "at": one.at / SECOND,
        "due_at": one.due_at / SECOND,
        "installation": one.installation,
        "bus": one.bus,
        "lane": one.replica,
        "replica": one.replica,
        "scope": one.scope,
        "epoch": one.epoch,
        "id": None if one.id is None else str(one.id),
        "sentence": sentence(one),
        "rule": one.rule,
        "facts": {name: _fact(name, fact) for name, fact in one.facts.items() if _is_told(name)},
    }


def _is_told(name: str) -> bool:
    return name not in _PLACES


def _fact(name: str, fact: str | int) -> str | float:
    is_time = name.endswith("_at") or name in ("since", "unwatched_from")
    return int(fact) / SECOND if is_time else fact


def _space(bus: Bus, one: Space) -> Answer:
    return {
        "installation": bus[0],
        "bus": bus[1],
        "replica": one.replica,
        "ordinal": one.ordinal,
        "epoch": one.epoch,
        "kind": one.kind,
        "born_at": one.born_at / SECOND,
        "last_at": one.last_at / SECOND,
        "first": str(one.first),
        "last": str(one.last),
        "least": str(one.least),
        "greatest": str(one.greatest),
        "count": one.count,
        "parent": one.parent,
        "switch_id": None if one.switch_id is None else str(one.switch_id),
    }
