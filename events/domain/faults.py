"""Whose fault a hole is: missing in every replica it was never sent, in one it was lost there."""

from __future__ import annotations

from collections.abc import Iterable

from events.domain.changes import Journal
from events.domain.holes import BURNED, DELIVERY, UNKNOWN, Hole
from events.domain.lanes import Lane
from events.domain.lines import Line
from events.domain.records import SECOND, Record

ACTIVE = 90 * SECOND
DOUBT = 60 * SECOND
"""How long a hole waits for the other replicas to go past it."""
LOOKED_AT = 64


def look(journal: Journal, lanes: dict[str, Lane], lane: Lane, record: Record) -> None:
    """Hold the holes of all replicas against each other, after a lane took a record."""
    line = lane.line
    if line is None:
        return
    for replica, other in lanes.items():
        twin = _twin(other, lane, line)
        if twin is None:
            continue
        if twin.holes.doubtful or (record.id or 0) < line.high:
            _witness(journal, lanes, twin, record)
        if line.holes.doubtful:
            _compare(journal, lanes, line, replica, twin, record)


def _twin(other: Lane, lane: Lane, line: Line) -> Line | None:
    """Give the line of another lane that follows the same counter."""
    twin = other.line
    if other is lane or twin is None or other.epochs.token != lane.epochs.token:
        return None
    return twin if (twin.base, twin.scope) == (line.base, line.scope) else None


def _witness(journal: Journal, lanes: dict[str, Lane], twin: Line, record: Record) -> None:
    """Hold a record against the holes of another replica."""
    number = record.id or 0
    for hole in list(twin.holes):
        if hole.is_excused or hole.finding is None:
            continue
        if hole.holds(number):
            _seen_by(journal, twin, hole, record.replica)
        elif hole.fault == UNKNOWN and number > hole.last:
            _passed_by(journal, lanes, twin, hole, record.replica, record.at)


def _compare(
    journal: Journal,
    lanes: dict[str, Lane],
    line: Line,
    replica: str,
    twin: Line,
    record: Record,
) -> None:
    """Hold a line's own holes against what another replica has seen already."""
    for hole in list(line.holes.doubtful):
        if replica in hole.passed:
            continue
        if any(number in twin.seen for number in _ids(hole)):
            _seen_by(journal, line, hole, replica)
        elif (
            twin.high > hole.last and twin.first <= hole.first and not _is_out_of_sight(twin, hole)
        ):
            _passed_by(journal, lanes, line, hole, replica, record.at)
        elif record.at - hole.at > DOUBT:
            line.holes.settle([hole])


def _ids(hole: Hole) -> Iterable[int]:
    for first, last in hole.parts:
        yield from range(first, min(last, first + LOOKED_AT) + 1)


def _is_out_of_sight(twin: Line, hole: Hole) -> bool:
    """Tell whether a line may have forgotten the ids of a hole."""
    return len(twin.seen) >= twin.window and hole.first < next(iter(twin.seen))


def _seen_by(journal: Journal, line: Line, hole: Hole, replica: str) -> None:
    if hole.finding is None:
        return
    seen = str(hole.finding.facts.get("seen_by", ""))
    if hole.fault != DELIVERY or replica not in seen.split(", "):
        names = ", ".join([*filter(None, [seen]), replica])
        facts = {"fault": DELIVERY, "seen_by": names}
        hole.finding = journal.change(hole.finding, facts=facts)
    hole.fault = DELIVERY
    line.holes.settle([hole])


def _passed_by(
    journal: Journal, lanes: dict[str, Lane], line: Line, hole: Hole, replica: str, at: int
) -> None:
    """Note a replica that went past a hole without the id, and tell once all did."""
    if replica not in hole.passed and not _is_blind(lanes[replica], hole):
        hole.passed.append(replica)
    others = {
        name
        for name, one in lanes.items()
        if one.line is not line and at - one.heard <= ACTIVE and not _is_blind(one, hole)
    }
    if hole.finding is not None and hole.passed and others <= set(hole.passed):
        hole.fault = BURNED
        hole.finding = journal.change(hole.finding, facts={"fault": BURNED})
        line.holes.settle([hole])


def _is_blind(lane: Lane, hole: Hole) -> bool:
    """Tell whether we did not watch a replica when it may have received what is missing."""
    line = lane.line
    return line is not None and (line.is_unwatched or any(_hides(one, hole) for one in line.holes))


def _hides(blank: Hole, hole: Hole) -> bool:
    return blank.is_excused and blank.first <= hole.last and hole.first <= blank.last
