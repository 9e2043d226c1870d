"""What the facts of a feed come to at a clock: each state with the rule that spoke, and since when.

Silence is never read as health: what is not known is `unknown`, and `complete` always has a time.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ledger.domain.feeds import WAIVED, Hole, Spool

SILENT_AFTER = timedelta(minutes=5)
"""A spool reports once a minute: four reports may be lost before it is called silent."""

GAP_AFTER = timedelta(minutes=5)
TAIL_AFTER = timedelta(minutes=2)
"""What came is told once a minute: a spool's own word is up to that much ahead of it."""

LATE_AFTER = timedelta(minutes=2)
"""Lines go out every few seconds; one that has waited longer is worth a word."""

INTERVALS = 100
MISSED = 10
# A token that once loaded a batch has receipts milliseconds apart; by their median alone it would
# be called silent ten seconds after its last.
SHORTEST_INTERVAL = timedelta(minutes=1)

INCOMPLETE = ("silent", "gap", "dropped", "disputed")
"""The states in which something is missing, or may be: lists are not complete."""

RULES = {
    "no_word_for_five_minutes": "it has not closed, and nothing was heard of it for five minutes",
    "missing_after_a_later_number": "a later number came five minutes before, and it still has not",
    "said_to_be_sent": "the spool said five minutes before that it was sent, and it has not come",
    "given_up_by_the_producer": "the producer says that it lost these for want of room",
    "spoken_for_by_another_token": "a token that is not its producer's spoke for it",
    "came_as_conflicts": "numbers came whose ids stood for another content already",
    "later_number_just_came": "a later number came less than five minutes before",
    "just_said_to_be_sent": "the spool said two to five minutes before that it was sent",
    "lines_wait": "lines have waited at the producer for more than two minutes",
    "closed_in_order": "the spool said that it ends here, and all of it came",
    "writer_gone": "its process died, and all that it had written came",
    "closed_by_a_person": "somebody said that nothing more will come",
    "all_written_came": "everything that it had written by then has come",
    "nothing_compared_yet": "what it says to have written has not been compared with what came",
    "no_line_yet": "it has never said how much it wrote",
    "carried_by_others": "its lines come under other names, and are checked there",
    "no_numbers": "what it sends has no numbers, so nobody can see whether anything is missing",
    "ten_intervals_missed": "ten of its usual intervals have passed without a receipt",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """A state of a feed, the rule that spoke, since when, and how many numbers it is about."""

    state: str
    rule: str
    since: datetime | None
    count: int = 0

    @property
    def is_incomplete(self) -> bool:
        """Tell whether something is missing, or may be."""
        return self.state in INCOMPLETE


def standings(spool: Spool, now: datetime) -> list[Standing]:
    """Give all that is to be said of a spool, the worst first; never nothing."""
    found = [*_silent(spool, now), *_gaps(spool, now), *_dropped(spool), *_disputed(spool)]
    if not found:
        found = [*_late(spool, now)]
    return found or [_good(spool)]


def standing(spool: Spool, now: datetime) -> Standing:
    """Give the worst that is to be said of a spool."""
    return standings(spool, now)[0]


def is_open_gap(hole: Hole, now: datetime) -> bool:
    """Tell whether numbers are missing for so long that they count as lost until they come."""
    return hole.since + GAP_AFTER <= now


def silence(heard: Sequence[datetime], now: datetime) -> tuple[timedelta, datetime] | None:
    """Give the usual interval of a token without numbers and when it was last heard, if silent.

    The interval is the median of its last hundred receipts; ten of them without one is silence.
    """
    times = sorted(heard)
    if len(times) < MISSED:
        return None
    between = statistics.median((b - a).total_seconds() for a, b in itertools.pairwise(times))
    usual = max(SHORTEST_INTERVAL, timedelta(seconds=between))
    return (usual, times[-1]) if now - times[-1] > MISSED * usual else None


def _silent(spool: Spool, now: datetime) -> Iterator[Standing]:
    if spool.closed_at is None and now - spool.heard_at > SILENT_AFTER:
        yield Standing("silent", "no_word_for_five_minutes", spool.heard_at)


def _gaps(spool: Spool, now: datetime) -> Iterator[Standing]:
    holes = [hole for hole in spool.holes if is_open_gap(hole, now)]
    if holes:
        missing = sum(hole.width for hole in holes)
        since = min(hole.since for hole in holes)
        yield Standing("gap", "missing_after_a_later_number", since, missing)
    if spool.tail is not None and is_open_gap(spool.tail, now):
        yield Standing("gap", "said_to_be_sent", spool.tail.since, spool.tail.width)


def _dropped(spool: Spool) -> Iterator[Standing]:
    if spool.lost:
        yield Standing("dropped", "given_up_by_the_producer", spool.dropped_at, spool.lost)


def _disputed(spool: Spool) -> Iterator[Standing]:
    if spool.disputes:
        rule, since = "spoken_for_by_another_token", min(one.since for one in spool.disputes)
        yield Standing("disputed", rule, since)
    if spool.conflicts:
        yield Standing("disputed", "came_as_conflicts", spool.disputed_at, spool.conflicts)


def _late(spool: Spool, now: datetime) -> Iterator[Standing]:
    if spool.holes:
        missing = sum(hole.width for hole in spool.holes)
        since = min(hole.since for hole in spool.holes)
        yield Standing("late", "later_number_just_came", since, missing)
    if spool.tail is not None and now - spool.tail.since >= TAIL_AFTER:
        yield Standing("late", "just_said_to_be_sent", spool.tail.since, spool.tail.width)
    if spool.unsent and spool.oldest_at is not None and now - spool.oldest_at > LATE_AFTER:
        yield Standing("late", "lines_wait", spool.oldest_at, spool.unsent)


def _good(spool: Spool) -> Standing:
    if spool.closed_at is not None:
        rules = {WAIVED: "closed_by_a_person", "writer_gone": "writer_gone"}
        return Standing("closed", rules.get(spool.end, "closed_in_order"), spool.closed_at)
    if spool.fed_at is None:
        return Standing("unknown", "no_line_yet", spool.first_at)
    if not spool.is_numbered:
        return Standing("unknown", "carried_by_others", spool.first_at)
    if spool.complete_until is None:
        return Standing("unknown", "nothing_compared_yet", spool.first_at)
    return Standing("complete", "all_written_came", spool.complete_until)
