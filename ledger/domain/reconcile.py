"""What became of one expected object, and whether a whole list is accounted for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from ledger.domain import subjects, words
from ledger.domain.clauses import CLAUSES
from ledger.domain.statement import Statement
from ledger.domain.targets import SKEW

STATES = ("nothing_recorded", "failed", "cancelled", "skipped", "in_progress", "done")
"""What may have become of an object, what needs someone first."""

STATE_WORDS = {
    "done": "done",
    "skipped": "skipped",
    "failed": "failed",
    "cancelled": "cancelled",
    "in_progress": "in progress",
    "nothing_recorded": "nothing recorded",
}
FRESH = timedelta(minutes=5)
"""How far the known end of feeds may be behind: a number counts as missing after that."""

ACCOUNTED, UNRECORDED, NOT_WATCHED, INCOMPLETE = (
    "accounted", "unrecorded", "not_watched", "feed_incomplete",
)  # fmt: skip
EXIT_CODES = {ACCOUNTED: 0, UNRECORDED: 1, NOT_WATCHED: 2, INCOMPLETE: 2}


OPEN_WORDS = {
    "enqueue": "Asked for, and nothing is on record since.",
    "deliver": "Handed to a worker, and no end is on record.",
    "start": "Begun, and no end is on record.",
    "retry": "To be tried again, and no end is on record.",
    "rescue": "Taken up again, and no end is on record.",
}
"""What the receipt says that leaves an object in progress, by its kind."""


def why(statement: Statement, code: str) -> str:
    """Say in a sentence what the receipt says by which an object became what it did."""
    if statement.is_row:
        return f"Its job was last seen as {statement.job_state or 'a row without a state'}."
    if statement.kind in OPEN_WORDS and code not in CLAUSES:
        return OPEN_WORDS[statement.kind]
    word = words.badge_of(code, statement.kind, statement.state).word
    said = CLAUSES.get(code) or f"{word[:1].upper()}{word[1:]}"
    is_told = statement.reason is None or statement.reason in words.REASON_WORDS
    return f"{said}." if is_told else f"{said}, with the reason {statement.reason!a}."


@dataclass(frozen=True, slots=True)
class Account:
    """What became of an object by which rule, the receipt that says so, and what counts beside.

    `again` are the refs of dones of work that was done before: the first one is left out.
    """

    became: str
    rule: str
    by_ref: str | None
    again: tuple[str, ...] = ()


def account_for(statements: Sequence[Statement]) -> Account:
    """Fold what became of an object from the receipts that name it."""
    found = subjects.became(statements)
    return Account(found.answer, found.rule, found.ref, _again(statements))


def _again(statements: Iterable[Statement]) -> tuple[str, ...]:
    """Return the refs of dones that did the same work on the object once more."""
    threads: dict[tuple[str, ...], list[Statement]] = defaultdict(list)
    for each in sorted(statements, key=lambda one: (one.happened_at, one.leaf)):
        if each.is_readable and _is_done(each):
            threads[subjects.thread_of(each)].append(each)
    by_task: dict[str, list[Statement]] = defaultdict(list)
    for dones in threads.values():
        task = next((each.task for each in dones if each.task), "")
        by_task[task] += _distinct(dones)
    again = [each for dones in by_task.values() for each in _in_order(dones)[1:]]
    return tuple(each.ref for each in _in_order(again))


def _is_done(statement: Statement) -> bool:
    return statement.kind == "done" or (statement.is_row and statement.job_state == "completed")


def _distinct(dones: Sequence[Statement]) -> list[Statement]:
    """Return the dones of one job that tell of different ends.

    What was told at the time is believed: two such receipts are two ends. A row or an imported
    line may tell of an end that is told already, and is one more only where no other is near.
    """
    kept = [each for each in dones if each.level == "recorded" and each.kind == "done"]
    for each in dones:
        if each.level == "recorded" and each.kind == "done":
            continue
        is_row = each.kind != "done"
        near = any(abs(each.happened_at - one.happened_at) <= SKEW for one in kept)
        if not near and not (is_row and kept):
            kept.append(each)
    return kept


def _in_order(dones: Iterable[Statement]) -> list[Statement]:
    return sorted(dones, key=lambda one: (one.happened_at, one.leaf))


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which a source was watched, to this day where `last` is None."""

    source: str
    first: datetime
    last: datetime | None


@dataclass(frozen=True, slots=True)
class Window:
    """The time that is asked about; it began with the first thing watched where `first` is None."""

    first: datetime | None
    last: datetime


@dataclass(frozen=True, slots=True)
class Standing:
    """Whether a list is accounted for: a code, a sentence, and the rule that spoke."""

    code: str
    sentence: str
    rule: str

    @property
    def exit_code(self) -> int:
        """Return what the command leaves with."""
        return EXIT_CODES[self.code]


def find_hole(spans: Iterable[Span], window: Window) -> tuple[datetime, datetime] | None:
    """Return the first part of a window in which nothing was watched, None when there is none."""
    ordered = sorted(spans, key=lambda one: one.first)
    if window.first is None:
        if not ordered:
            return window.last, window.last
        reached = ordered[0].first
    else:
        reached = window.first
    for span in ordered:
        if reached >= window.last:
            return None
        if span.first > reached:
            return reached, min(span.first, window.last)
        reached = max(reached, span.last or window.last)
    return None if reached >= window.last else (reached, window.last)


def stand(
    window: Window,
    spans: Sequence[Span],
    feed: Mapping[str, object],
    counts: Mapping[str, int],
    *,
    lag: int = 0,
    takes_unnumbered: bool = False,
) -> Standing:
    """Say whether a list is accounted for; the first rule that matches speaks.

    1. `not-watched`: in some part of the window nothing was watched.
    2. `behind`: receipts have come that the lists do not show yet.
    3. `feed-missing`: something that was sent is known to be missing, or a sender is silent.
    4. `feed-open`: what was sent is known to be complete only up to before the window's end.
    5. `feed-unnumbered`: senders do not number what they send, so a hole would not be seen;
       `takes_unnumbered` judges all the same.
    6. `unrecorded`: something has no record.
    7. `accounted`: everything has one.

    Feeds count only where a part of the window was watched live, since an import is complete or
    is not there at all.
    """
    hole = find_hole(spans, window)
    if hole is not None:
        return _not_watched(hole, bool(spans))
    if lag:
        sentence = f"{lag:,} receipts have come that are not read yet; ask again in a moment."
        return Standing(INCOMPLETE, sentence, "behind")
    if _is_live(window, spans):
        broken = _find_broken(window, feed, takes_unnumbered=takes_unnumbered)
        if broken is not None:
            return broken
    missing, total = counts.get("nothing_recorded", 0), sum(counts.get(one, 0) for one in STATES)
    if missing:
        sentence = f"{missing:,} of {total:,} {'has' if missing == 1 else 'have'} no record."
        return Standing(UNRECORDED, sentence, "unrecorded")
    return Standing(ACCOUNTED, f"Each of {total:,} has a record.", "accounted")


def _not_watched(hole: tuple[datetime, datetime], is_any: bool) -> Standing:
    if not is_any:
        sentence = "Nothing was ever watched here, so nothing can be said."
        return Standing(NOT_WATCHED, sentence, "not-watched")
    first, last = (f"{at:%Y-%m-%d %H:%M:%S} UTC" for at in hole)
    sentence = f"From {first} to {last} nothing was watched: what has no record may have happened."
    return Standing(NOT_WATCHED, sentence, "not-watched")


def _is_live(window: Window, spans: Iterable[Span]) -> bool:
    """Tell whether the window needs what was watched live, imports alone not covering it."""
    imported = [one for one in spans if one.last is not None]
    return find_hole(imported, window) is not None


def _find_broken(
    window: Window, feed: Mapping[str, object], *, takes_unnumbered: bool
) -> Standing | None:
    until = feed.get("complete_until")
    if isinstance(until, datetime) and until >= window.last:
        return None
    known = {name: feed.get(name) for name in (*_MISSING, "unnumbered")}
    counted = {name: value for name, value in known.items() if isinstance(value, int) and value}
    missing = [
        one if counted[name] == 1 else many.format(counted[name])
        for name, (one, many) in _MISSING.items()
        if name in counted
    ]
    if missing:
        sentence = f"What was sent is not complete: {', '.join(missing)}."
        return Standing(INCOMPLETE, sentence, "feed-missing")
    if isinstance(until, datetime) and until < window.last - FRESH:
        sentence = (
            f"What was sent is known to be complete until {until:%Y-%m-%d %H:%M:%S} UTC only."
        )
        return Standing(INCOMPLETE, sentence, "feed-open")
    if not takes_unnumbered and (not isinstance(until, datetime) or counted.get("unnumbered")):
        sentence = "Senders do not number what they send here, so a hole would not be seen."
        return Standing(INCOMPLETE, sentence, "feed-unnumbered")
    return None


_MISSING = {
    "gaps": ("a number did not arrive", "{:,} numbers or ranges of them did not arrive"),
    "silent": ("a sender fell silent", "{:,} senders fell silent"),
    "dropped": ("a receipt was lost before it was sent", "{:,} receipts were lost unsent"),
    "disputed": ("a sender's numbers are disputed", "the numbers of {:,} senders are disputed"),
}

RULE_WORDS = {
    "not-watched": "nothing is called missing for a time that was not watched",
    "behind": "what is not read yet may be the record that is looked for",
    "feed-missing": "what is known not to have arrived may be the record that is looked for",
    "feed-open": "what was sent since may be the record that is looked for",
    "feed-unnumbered": "without numbers nobody can tell whether something is missing",
    "unrecorded": "the time was watched, nothing is known to be missing, and there is no record",
    "accounted": "the time was watched, nothing is known to be missing, and each has a record",
}
"""The rules of `stand`, and what each says."""
