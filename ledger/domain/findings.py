"""What a pointer has come to, hop by hop, and how its state is shown at a moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ledger.domain import words
from ledger.domain.book import Question
from ledger.domain.policies import LeftOut


@dataclass(frozen=True, slots=True)
class Hop:
    """One receipt on the way; `via` is how it was reached, empty for the first."""

    leaf: int
    ref: str
    kind: str
    at: datetime
    state: str
    via: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a pointer has come to, by which rule, and what was looked up for it.

    `skips` counts the other skips on the way; `hops` shows the first of a long one, and its end.
    `left_out` says which policy left an original out that is not on record.
    """

    state: str
    rule: str
    level: str
    hops: tuple[Hop, ...] = ()
    target_leaf: int | None = None
    terminal_leaf: int | None = None
    outcome: str = ""
    due_at: datetime | None = None
    hint: str | None = None
    candidates: tuple[int, ...] = ()
    asked: frozenset[Question] = frozenset()
    skips: int = 0
    left_out: LeftOut | None = None


def shown_state(finding_state: str, due_at: datetime | None, now: datetime) -> str:
    """Return the state at a moment: what waits is pending before `due_at`, dangling from it on."""
    if finding_state != "waiting":
        return finding_state
    return "pending" if due_at is not None and now < due_at else "dangling"


def is_unresolved(shown: str) -> bool:
    """Tell whether a shown state needs someone."""
    return shown in words.UNRESOLVED


def chip(shown: str, outcome: str) -> str:
    """Return the words of a pointer's chip; a pointer is never just "resolved"."""
    return words.POINTER_WORDS.get(shown) or words.OUTCOME_WORDS.get(outcome, "found")


def tone(shown: str, outcome: str) -> str:
    """Return the tone of a pointer's chip: done, skip, bad, gap or plain."""
    return words.POINTER_TONES.get(shown) or words.OUTCOME_TONES.get(outcome, "plain")
