"""A skip and its original that cannot both be true; of other receipts see `contradicted_work`.

Order between two receipts is by number within one stream, else by their own times when these
differ by more than two clocks may, else unknown; and unknown never makes a contradiction.
Sources: reference/jobs.md section 4a, design.md section 6.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from jobs.domain.facts import generation_number, unpacked
from ledger.domain import plain, words
from ledger.domain.links import LOCK_GRACE
from ledger.domain.statement import Statement
from ledger.domain.targets import SKEW

SAME_CLOCK = timedelta(seconds=1)
"""How much later than the skip a start may be written by the process that was turned away."""

NEWER = frozenset({"superseded", "wrong_generation"})
"""The reasons for which the original may be newer, and of another generation."""
_FAILED = {
    "fail": frozenset({"retryable", "discarded", "failed"}),
    "cancel": frozenset({"cancelled"}),
    "discard": frozenset({"discarded", "cancelled"}),
}
"""The kinds that end work without success, with the states that they leave a job in."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One invariant that is broken: by the receipt at `leaf`, and by that at `other` if any."""

    invariant: str
    rule: str
    leaf: int
    other: int | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Place:
    """The number of a receipt within the stream of one producer."""

    stream: str
    number: int


def compares(skip: Statement) -> bool:
    """Tell whether a skip names an original that it must agree with."""
    is_named = skip.pointer is not None and skip.pointer.names_something
    return skip.kind == "skip" and is_named and skip.reason not in words.NEEDS_RULE


def find_of_skip(
    skip: Statement,
    original: Statement,
    end: Statement | None,
    places: tuple[Place | None, Place | None] = (None, None),
) -> list[Finding]:
    """Find what a skip and its original contradict each other in.

    `end` is the receipt that ended the original, `places` are those of the skip and the original.
    """
    if not compares(skip):
        return []
    found = [
        find_younger_original(skip, original, places),
        find_other_scope(skip, original),
        find_other_generation(skip, original),
        find_failed_original(skip, end) if end is not None else None,
    ]
    return [one for one in found if one is not None]


def find_younger_original(
    skip: Statement, original: Statement, places: tuple[Place | None, Place | None] = (None, None)
) -> Finding | None:
    """Find an original that was begun after the skip that names it."""
    begun_at = begun_of(original) if _tells_its_age(skip, original) else None
    if skip.reason in NEWER or skip.occurred_at is None or begun_at is None:
        return None
    later = begun_at - skip.occurred_at
    if skip.reason == "lock_contended":
        later -= LOCK_GRACE
    rule, bound = _order(places)
    if bound is None or later <= bound:
        return None
    sentence = f"{no(skip)} was skipped {span(later)} before its original {no(original)} began."
    return Finding("original_older", rule, skip.leaf, original.leaf, sentence)


def _order(places: tuple[Place | None, Place | None]) -> tuple[str, timedelta | None]:
    """Give the rule and the bound by which an original is younger; None where it is not."""
    mine, theirs = places
    if mine is None or theirs is None or mine.stream != theirs.stream:
        return "times", SKEW
    # The process that holds a key may write its start just after another of its threads was
    # turned away, so the numbers alone do not tell.
    return "numbers", SAME_CLOCK if theirs.number > mine.number else None


def _tells_its_age(skip: Statement, original: Statement) -> bool:
    """Tell whether a receipt of a job tells since when the job has been there.

    A start tells it not: the skip may have met the job while it was waiting to run.
    """
    is_named = skip.pointer is not None and skip.pointer.receipt is not None
    if is_named or original.is_row or original.kind in ("enqueue", "skip"):
        return True
    return skip.reason == "already_done" and (original.attempt or 1) <= 1


def begun_of(one: Statement) -> datetime | None:
    """Return when work was begun by its own time; None where nothing says it."""
    if one.is_row:
        return plain.time_of(plain.object_of(one.body.get("job")).get("inserted_at"))
    return one.occurred_at


def find_other_scope(skip: Statement, original: Statement) -> Finding | None:
    """Find an original of another run."""
    mine, theirs = _logical(skip), _logical(original)
    if not (mine and theirs) or mine == theirs or skip.source != original.source:
        return None
    if _spans(skip, original, {skip.scope, mine, original.scope, theirs}):
        return None
    sentence = f"{no(skip)} is of the scope {mine}, and its original {no(original)} of {theirs}."
    return Finding("same_scope", "scopes", skip.leaf, original.leaf, sentence)


def find_other_generation(skip: Statement, original: Statement) -> Finding | None:
    """Find an original that is another generation of the same call."""
    is_one_call = _call(skip) == _call(original) and all(_call(skip))
    if not is_one_call or skip.reason in NEWER:
        return None
    mine, theirs = _generation(skip), _generation(original)
    if not (mine and theirs) or mine == theirs:
        return None
    if _spans(skip, original, {skip.scope, _logical(skip), skip.invoke_id}):
        return None
    sentence = (
        f"{no(skip)} is of generation {skip.generation} of invoke {skip.invoke_id}, and its "
        f"original {no(original)} of generation {original.generation}."
    )
    return Finding("same_generation", "generations", skip.leaf, original.leaf, sentence)


def _logical(one: Statement) -> str:
    return unpacked(one.scope, one.generation) if one.scope else ""


def _call(one: Statement) -> tuple[str, str, str]:
    return one.source or "-", _logical(one), one.invoke_id


def _generation(one: Statement) -> str:
    number = generation_number(one.generation)
    return one.generation if number is None else str(number)


def _spans(skip: Statement, original: Statement, names: Collection[str]) -> bool:
    """Tell whether the matching rule says that they are one: an equal key that holds no name."""
    if skip.key_digest is None or skip.key_digest != original.key_digest:
        return False
    quoted = {plain.json_text(name) for name in names}
    return not any(value in quoted for _, value in skip.key_fields)


def find_failed_original(skip: Statement, end: Statement) -> Finding | None:
    """Find a skip that says already done of what had failed or was cancelled before it."""
    states = _FAILED.get(end.kind)
    if states is None or skip.reason != "already_done" or skip.original_state in states:
        return None
    if skip.occurred_at is None or end.occurred_at is None:
        return None
    before = skip.occurred_at - end.occurred_at
    if before <= SKEW or states & _counted_states(skip):
        return None
    became = "was cancelled" if end.kind == "cancel" else "had failed"
    sentence = (
        f"{no(skip)} was skipped as already done, {span(before)} after its original {became} "
        f"({no(end)})."
    )
    return Finding("original_succeeded", "ended-before", skip.leaf, end.leaf, sentence)


def _counted_states(skip: Statement) -> set[str]:
    states = plain.object_of(skip.body.get("key")).get("states")
    return {plain.name_of(state) for state in plain.list_of(states)}


def span(length: timedelta) -> str:
    """Say a length of time in the largest unit that it fills."""
    seconds = int(length.total_seconds())
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds // size:,} {unit}"
    return f"{seconds} s"


def no(one: Statement) -> str:
    """Name a receipt by its number."""
    return f"№{one.leaf:,}"
