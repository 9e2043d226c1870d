"""The walk from a receipt along its pointers to the end.

`find_pointer` takes one statement and a book of all others in its project and answers with a
finding that knows no clock: "waiting" stands for what is shown as pending before `due_at` and
as dangling from then on. It keeps what it asked the book for, so that a later arrival can
re-examine exactly the pointers that it touches. Sources: contract.md section 2,
reference/ledger.md section 4 ("Pointer states"), reference/jobs.md section 4a.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta

from ledger.domain import links, targets, words
from ledger.domain.book import Book, Inquiry, answers
from ledger.domain.findings import Finding, Hop, chip, is_unresolved, shown_state, tone
from ledger.domain.links import DEADLINE, Link
from ledger.domain.statement import Statement

__all__ = [
    "DEADLINE",
    "Book",
    "Finding",
    "Hop",
    "answers",
    "chip",
    "find_pointer",
    "has_pointer",
    "is_unresolved",
    "shown_state",
    "tone",
]


HOP_CAP = 16


WALK_CAP = 256
"""Skips that are walked; a chain that is longer still counts as not found."""


TALLIED = {
    "found": "tallied",
    words.OUTCOME_WORDS["done"]: "tallied, done",
    words.OUTCOME_WORDS["running"]: "tallied, tried again",
}
"""What a hop says that ends at a tally, by what any other would say."""


def has_pointer(statement: Statement) -> bool:
    """Tell whether a statement gets a finding: every skip does, and all that name an original."""
    names_one = statement.pointer is not None and statement.pointer.names_something
    return statement.kind == "skip" or names_one


def find_pointer(
    statement: Statement, book: Book, *, deadline: timedelta = DEADLINE
) -> Finding | None:
    """Follow a statement's pointer to its end, or return None when it has none to follow.

    `deadline` is how long after its arrival a pointer may wait for its target.
    """
    if not has_pointer(statement):
        return None
    inquiry = Inquiry(book)
    finding = _Walk(statement, inquiry, deadline).finding()
    return replace(finding, asked=frozenset(inquiry.asked))


@dataclass(slots=True)
class _Walk:
    """The walk from one receipt: the receipts passed, and the hops they left."""

    start: Statement
    inquiry: Inquiry
    deadline: timedelta
    trail: list[Statement] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    seen: set[int] = field(default_factory=set)
    by_key: bool = False

    def finding(self) -> Finding:
        here, via = self.start, ""
        while True:
            link = links.follow(here, self.inquiry, self.deadline)
            self._pass(here, via, link)
            target = link.target
            if target is None:
                return self._stopped(link)
            if target.leaf in self.seen:
                return self._stopped(Link("loop", "cycle"))
            if len(self.trail) > WALK_CAP:
                return self._capped()
            if target.kind != "skip":
                return self._arrived(target, link)
            here, via = target, link.via

    def _pass(self, here: Statement, via: str, link: Link) -> None:
        self.trail.append(here)
        self.seen.add(here.leaf)
        self.by_key = self.by_key or link.via == "key"
        self.hops.append(_hop(here, via, _leaving(here, link)))

    def _shown(self, *ends: Hop) -> tuple[Hop, ...]:
        """Keep the first hops and the end: all are walked, so that no length hides a circle."""
        return (*self.hops[:HOP_CAP], *(ends or self.hops[HOP_CAP:][-1:]))

    def _level(self, *further: Statement) -> str:
        levels = [each.level for each in (*self.trail, *further)]
        return words.lowest_level([*levels, "reconstructed"] if self.by_key else levels)

    def _target_leaf(self) -> int | None:
        return self.trail[1].leaf if len(self.trail) > 1 else None

    def _stopped(self, link: Link) -> Finding:
        """End without an original; at a chain's end the state is that of the last skip's pointer.

        A chain that ends in a skip which names nothing can come to nothing more, so it dangles
        at once instead of waiting for a deadline.
        """
        state, due_at, outcome = link.state, link.due_at, ""
        if len(self.trail) > 1:
            outcome = "skipped"
            if state == "not-needed":
                state = "resolved-chain"
            elif state == "missing-pointer":
                state = "dangling"
        return Finding(
            state=state,
            rule=link.rule,
            level=self._level(),
            hops=self._shown(),
            target_leaf=self._target_leaf(),
            outcome=outcome,
            due_at=due_at,
            hint=link.hint or self._unshown(len(self.trail) - HOP_CAP - 1),
            left_out=link.left_out,
            candidates=link.candidates,
            skips=len(self.trail) - 1,
        )

    def _capped(self) -> Finding:
        return Finding(
            state="dangling",
            rule="hop-cap",
            level=self._level(),
            hops=self._shown(),
            target_leaf=self._target_leaf(),
            outcome="skipped",
            skips=len(self.trail) - 1,
            hint=f"the walk stopped after {WALK_CAP} hops; the chain goes on",
        )

    def _arrived(self, target: Statement, link: Link) -> Finding:
        end, outcome = targets.end_of(target, self.inquiry, link.run, link.job)
        found = words.OUTCOME_WORDS[outcome]
        if end is None or end.leaf == target.leaf:
            ends = [_hop(target, link.via, self._said(target, found))]
        else:
            via = "job" if target.job is not None or link.job is not None else "receipt"
            first = _hop(target, link.via, self._said(target, "found"))
            ends = [first, _hop(end, via, self._said(end, found))]
        return Finding(
            state=self._found_state(target, link),
            rule=link.rule,
            level=self._level(target, *([end] if end is not None else [])),
            hops=self._shown(*ends),
            target_leaf=target.leaf if len(self.trail) == 1 else self._target_leaf(),
            terminal_leaf=None if end is None else end.leaf,
            outcome=outcome,
            hint=self._unshown(len(self.trail) - HOP_CAP),
            skips=len(self.trail) - 1,
        )

    def _said(self, receipt: Statement, found: str) -> str:
        """Say of a hop to a tally that it is one: it is about many jobs."""
        return TALLIED[found] if receipt.kind == "tally" else found

    def _unshown(self, count: int) -> str | None:
        """Say how many skips of a long chain were walked and are not shown."""
        if count <= 0:
            return None
        skips = "1 more skip on the way is" if count == 1 else f"{count} more skips on the way are"
        return f"{skips} not shown"

    def _found_state(self, target: Statement, link: Link) -> str:
        if len(self.trail) > 1:
            return "resolved-chain"
        if link.via == "key":
            return "resolved-by-key"
        # Of a job any receipt is enough: a first one that comes late makes no answer late.
        first_at = min(each.received_at for each in (target, *link.run))
        is_late = first_at > self.start.received_at + self.deadline
        return "resolved-late" if is_late else "resolved"


def _hop(statement: Statement, via: str, state: str) -> Hop:
    return Hop(statement.leaf, statement.ref, statement.kind, statement.happened_at, state, via)


def _leaving(here: Statement, link: Link) -> str:
    if link.via == "key":
        return "by its key"
    if here.pointer is not None and here.pointer.names_something:
        return "as sent"
    return words.POINTER_WORDS.get(link.state, "names no original")
