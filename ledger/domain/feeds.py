"""One numbered spool as the log tells of it: what came, what is missing, what it says of itself.

Three things change it: numbers that arrived (our own `arrived` receipts), a line of its own
(`observe`, `what: "feed"`), and a person who waives what will never come. Each gives a new value;
nothing here looks at a clock. What the facts come to at a clock is `ledger.domain.feed_states`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from ledger.domain.arrivals import Arrived, Run
from ledger.domain.feed_lines import LONGEST, Line

MOST_MARKS = 60
WAIVED = "waived"
BEGINNING = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True, order=True)
class Hole:
    """Numbers `first` to `last` that are missing; `since` is when a later one had come."""

    first: int
    last: int
    since: datetime

    @property
    def width(self) -> int:
        """How many numbers are missing."""
        return self.last - self.first + 1


@dataclass(frozen=True, slots=True)
class Mark:
    """By `at`, the spool had written no more than `number` lines."""

    number: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Dispute:
    """A token that spoke for another's spool, since when, and the numbers that it handed in."""

    token: int | None
    since: datetime
    runs: tuple[Run, ...] = ()


@dataclass(frozen=True, slots=True)
class Spool:
    """What is known of a spool.

    `high` is the greatest number that came or was waived. `expected` numbers were sent by
    `expected_since` at the latest, as the spool itself says. `complete_until` is the newest moment
    up to which nothing that it had written is missing, by the earlier of both clocks; `marks` are
    the moments that become it when what was written by then has come. `waived` numbers are neither
    missing nor here. Only the word of `owners`, or of tokens of the same `declared` source, counts;
    `conflicts` numbers came whose receipts stand in conflict.
    """

    name: str
    first_at: datetime
    heard_at: datetime
    token: int | None = None
    source: str = ""
    client: str = ""
    high: int = 0
    holes: tuple[Hole, ...] = ()
    replayed: int = 0
    fed_at: datetime | None = None
    written: int | None = None
    unsent: int | None = None
    dropped: int = 0
    dropped_at: datetime | None = None
    waived: int = 0
    outcomes_lost: int = 0
    outcomes_waived: int = 0
    oldest_at: datetime | None = None
    expected: int = 0
    expected_since: datetime | None = None
    closed_at: datetime | None = None
    end: str = ""
    skew: timedelta | None = None
    marks: tuple[Mark, ...] = ()
    complete_until: datetime | None = None
    owners: tuple[int | None, ...] = ()
    declared: str = ""
    disputes: tuple[Dispute, ...] = ()
    disputed_at: datetime | None = None
    conflicts: int = 0

    @property
    def is_numbered(self) -> bool:
        """Tell whether its numbers come under its own name.

        A line may also tell of a stream that other spools carry; their numbers are checked there.
        """
        return self.high > 0 or self.unsent is not None or self.written == 0

    @property
    def low(self) -> int:
        """The number up to which nothing is missing."""
        return self.holes[0].first - 1 if self.holes else self.high

    @property
    def arrived(self) -> int:
        """How many numbers came."""
        return self.high - sum(hole.width for hole in self.holes) - self.waived

    @property
    def lost(self) -> int:
        """How much it says to have given up, less what somebody waived."""
        numbers = max(0, self.dropped - self.waived)
        return numbers + self.outcomes_lost - self.outcomes_waived

    @property
    def tail(self) -> Hole | None:
        """The numbers that it says to have sent, above all that came."""
        if self.expected_since is None or self.expected <= self.high:
            return None
        return Hole(self.high + 1, self.expected, self.expected_since)

    @property
    def is_settled(self) -> bool:
        """Tell whether it is closed and nothing of it is missing: it limits no list any more."""
        missing = self.is_numbered and (self.holes or (self.written or 0) > self.high)
        is_whole = not missing and not self.lost and self.disputed_at is None
        return self.closed_at is not None and is_whole


def begin(name: str, at: datetime) -> Spool:
    """Give a spool of which nothing was known before a moment."""
    return Spool(name, at, at)


def arrive(spool: Spool, arrived: Arrived) -> Spool:
    """Take numbers that came."""
    holes = list(spool.holes)
    high = spool.high
    for run, since in zip(arrived.runs, _since(arrived.runs, spool), strict=True):
        if run.first > high + 1:
            holes.append(Hole(high + 1, run.first - 1, since))
        high = max(high, run.last)
    is_over = spool.closed_at is not None and high > max(spool.high, spool.written or 0)
    return _marked(
        replace(
            spool,
            high=high,
            holes=tuple(_without(holes, arrived.runs)),
            replayed=spool.replayed + arrived.replayed,
            first_at=min(spool.first_at, *(run.at for run in arrived.runs)),
            heard_at=max(spool.heard_at, arrived.last_at),
            token=spool.token if arrived.token is None else arrived.token,
            complete_until=_begun(spool, arrived.began, arrived.last_at),
            expected_since=None if high >= spool.expected else spool.expected_since,
            # What goes on after its end was not at its end.
            closed_at=None if is_over else spool.closed_at,
            end="" if is_over else spool.end,
        )
    )


def feed(spool: Spool, line: Line) -> Spool:
    """Take a line in which the spool says how far it is."""
    at = line.received_at
    after = replace(
        spool,
        heard_at=max(spool.heard_at, at),
        fed_at=at,
        token=spool.token if line.token is None else line.token,
        source=line.source or spool.source,
        client=line.client or spool.client,
        written=_greater(spool.written, line.written),
        unsent=line.unsent,
        dropped=max(spool.dropped, line.dropped),
        dropped_at=at if _loses_more(spool, line) else spool.dropped_at,
        outcomes_lost=max(spool.outcomes_lost, line.outcomes_lost),
        oldest_at=None if line.oldest is None else at - line.oldest,
        closed_at=at if line.is_closed else None,
        end=line.end if line.is_closed else "",
        skew=spool.skew if line.said_at is None else at - line.said_at,
        complete_until=_begun(spool, line.began, at),
    )
    if not after.is_numbered:
        return after
    return _marked(_expecting(after, line), _mark(after, line))


def waive(spool: Spool, at: datetime, first: int | None = None, last: int | None = None) -> Spool:
    """Take a person's word that numbers will never come; without any, that nothing more will.

    What is not missing cannot be waived: then nothing changes.
    """
    if first is not None and last is not None:
        return _waive_some(spool, Run(first, last, at))
    high = max(spool.high, spool.expected, spool.written or 0)
    missing = sum(hole.width for hole in spool.holes) + high - spool.high
    waived = max(spool.waived + missing, spool.dropped)
    return replace(
        spool,
        high=high,
        holes=(),
        waived=waived,
        outcomes_waived=spool.outcomes_lost,
        expected_since=None,
        closed_at=at,
        end=WAIVED,
        marks=(),
        disputes=(),
        disputed_at=None,
        conflicts=0,
    )


def _waive_some(spool: Spool, run: Run) -> Spool:
    tail = spool.tail
    if tail is not None and run.first == tail.first and run.last >= tail.last:
        waived = spool.waived + tail.width
        return _marked(replace(spool, high=tail.last, expected_since=None, waived=waived))
    holes = tuple(_without(spool.holes, [run]))
    missing = sum(hole.width for hole in spool.holes) - sum(hole.width for hole in holes)
    return _marked(replace(spool, holes=holes, waived=spool.waived + missing))


def _since(runs: Sequence[Run], spool: Spool) -> list[datetime]:
    """Give for each run when it or a later number had come, or was said to have been sent."""
    found: list[datetime] = []
    earliest = spool.expected_since
    for run in reversed(runs):
        earliest = run.at if earliest is None else min(earliest, run.at)
        found.append(earliest)
    return found[::-1]


def _without(holes: Sequence[Hole], runs: Sequence[Run]) -> Iterator[Hole]:
    """Give what is left of sorted holes when sorted runs are taken out of them."""
    start = 0
    for hole in holes:
        while start < len(runs) and runs[start].last < hole.first:
            start += 1
        first = hole.first
        for run in _over(runs, start, hole.last):
            if run.first > first:
                yield Hole(first, run.first - 1, hole.since)
            first = max(first, run.last + 1)
        if first <= hole.last:
            yield Hole(first, hole.last, hole.since)


def _over(runs: Sequence[Run], start: int, last: int) -> Iterator[Run]:
    for at in range(start, len(runs)):
        if runs[at].first > last:
            return
        yield runs[at]


def _expecting(spool: Spool, line: Line) -> Spool:
    """Note what it says to have sent: all that it wrote, but for what waits or was given up."""
    if line.written is None:
        return spool
    waits = 0 if line.is_closed else (line.unsent or 0) + (line.dropped if line.unsent else 0)
    expected = max(spool.expected, line.written - waits)
    since = spool.expected_since or line.received_at
    return replace(
        spool, expected=expected, expected_since=since if expected > spool.high else None
    )


def _loses_more(spool: Spool, line: Line) -> bool:
    return line.dropped > spool.dropped or line.outcomes_lost > spool.outcomes_lost


def _mark(spool: Spool, line: Line) -> Mark | None:
    # Outcomes that were lost had no number yet, so no hole would hold the moment back.
    if line.written is None or spool.outcomes_lost > spool.outcomes_waived:
        return None
    return Mark(line.written, _said_at(line))


def _said_at(line: Line) -> datetime:
    """Give the moment that a line is about, by the earlier of both clocks.

    Outcomes that wait to be tallied are older than the line, and not among the numbers.
    """
    said_at = min(line.said_at or line.received_at, line.received_at)
    waiting = line.outcomes_oldest
    # A producer's clock may stand at the year 1.
    return said_at if waiting is None else max(said_at, BEGINNING + LONGEST) - waiting


def _marked(spool: Spool, new: Mark | None = None) -> Spool:
    """Move `complete_until` on as far as what came allows."""
    marks = _kept([*spool.marks, *([new] if new else [])])
    reached = [mark.at for mark in marks if mark.number <= spool.low]
    left = tuple(mark for mark in marks if mark.number > spool.low)
    until = _later(spool.complete_until, max(reached, default=None))
    return replace(spool, marks=left, complete_until=until)


def _begun(spool: Spool, began: datetime | None, at: datetime) -> datetime | None:
    """Give up to when it is complete: where nothing was compared yet, until it began."""
    if spool.complete_until is not None or began is None:
        return spool.complete_until
    return min(began, at)


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max((at for at in (one, other) if at is not None), default=None)


def _kept(marks: list[Mark]) -> list[Mark]:
    """Keep the newest of equal numbers, and of too many every second: an earlier one is safe."""
    newest = {mark.number: mark for mark in sorted(marks, key=lambda one: one.at)}
    kept = [newest[number] for number in sorted(newest)]
    return kept if len(kept) <= MOST_MARKS else [*kept[:-1:2], kept[-1]]


def _greater(one: int | None, other: int | None) -> int | None:
    return max((each for each in (one, other) if each is not None), default=None)
