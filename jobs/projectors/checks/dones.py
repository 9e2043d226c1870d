"""Dones against earlier dones of their key, and acts against the rule that somebody is named."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from jobs.domain import contradicted_work
from jobs.domain.contradictions import Finding, begun_of
from jobs.projectors.checks.desk import Brief, Desk
from jobs.projectors.keys import released_key
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.domain.targets import BEGINS
from ledger.projectors.book import Book
from ledger.statements import Item

INVARIANT = "one_done"
LAST = 20
RELEASE = "release"
_DONE = ("done",)


class Dones:
    """Compares each done with the last dones of the same key."""

    def __init__(self, desk: Desk) -> None:
        """Load the keys of the batch that were done before."""
        self._desk = desk
        self._done: dict[str, list[Brief]] = defaultdict(list)
        dones = [one for one in desk.readable() if one.kind == "done"]
        desk.watch.load((INVARIANT, one.source, one.task) for one in dones)
        digests = {one.key_digest for one in dones if one.key_digest}
        again = desk.which_have("key_digest", digests, _DONE)
        self._done.update(desk.last_of("key_digest", again, _DONE, LAST))
        desk.notes.load("sort = %s AND name", [RELEASE], sorted(digests))

    def take(self, item: Item) -> None:
        """Hold a done against those before it; note a key that was released."""
        one = item.statement
        if released := released_key(one):
            self._desk.notes.add((RELEASE, released[:64], 0, one.leaf), one.happened_at)
        if one.kind != "done" or not one.is_readable:
            return
        held = self._desk.watch.of(INVARIANT, one.source, one.task)
        self._desk.watch.count(held, is_checked=bool(one.key_digest))
        if one.key_digest:
            finding = self._find(one, self._done[one.key_digest][-LAST:])
            if finding is not None:
                self._desk.found.add(finding, one.leaf, one.received_at)
            self._done[one.key_digest].append(_brief(one))

    def _find(self, done: Statement, earlier: list[Brief]) -> Finding | None:
        near = [one for one in earlier if _may_contradict(done, one)]
        for brief in reversed(near):
            other = self._desk.get(brief.leaf)
            finding = contradicted_work.find_second_done(done, other)
            if finding is None or self._was_released(done, other):
                continue
            begun = self._begun(done, done.leaf), self._begun(other, done.leaf)
            if finding := contradicted_work.find_second_done(done, other, begun):
                return finding
        return None

    def _was_released(self, done: Statement, earlier: Statement) -> bool:
        notes = self._desk.notes.of(RELEASE, done.key_digest or "")
        first, last = sorted((done.happened_at, earlier.happened_at))
        return any(first <= at <= last for at in notes.values())

    def _begun(self, done: Statement, end: int) -> datetime | None:
        """Give when the job of a done was asked for, as far as was known then."""
        if done.job is None or done.window_s is None:
            return None
        found = Book(self._desk.project_id, end).by_job(done.job)
        begun = [begun_of(one) for one in found if one.kind in BEGINS or one.is_row]
        return min((at for at in begun if at is not None), default=None)


def _brief(one: Statement) -> Brief:
    return Brief(one.leaf, one.happened_at, column(one.job.text()) if one.job else "")


def _may_contradict(done: Statement, earlier: Brief) -> bool:
    """Tell by the columns alone whether an earlier done is worth reading."""
    mine = _brief(done)
    apart_s = abs((mine.at - earlier.at).total_seconds())
    is_within = done.window_s is None or apart_s <= done.window_s
    return is_within and not (mine.job and mine.job == earlier.job)


class Acts:
    """Looks at each act for who did it."""

    def __init__(self, desk: Desk) -> None:
        """Load what was counted of acts."""
        self._desk = desk
        acts = [one for one in desk.readable() if one.kind == "act"]
        desk.watch.load((_ACTOR, one.source, "") for one in acts)

    def take(self, item: Item) -> None:
        """Find an act that names nobody."""
        one = item.statement
        if one.kind != "act" or not one.is_readable:
            return
        self._desk.watch.count(self._desk.watch.of(_ACTOR, one.source), is_checked=True)
        finding = contradicted_work.find_no_actor(one)
        if finding is not None:
            self._desk.found.add(finding, one.leaf, one.received_at)


_ACTOR = "mutation_has_actor"
