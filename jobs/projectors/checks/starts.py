"""Dones against the starts that they should have, by job, key, original and id."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta

from jobs.domain.contradicted_work import no_start
from jobs.projectors.checks.desk import Desk
from ledger.domain import plain
from ledger.domain.names import column
from ledger.domain.statement import Statement, done_id, normal_id
from ledger.statements import Item

INVARIANT = "done_has_start"
GRACE = timedelta(minutes=10)
"""How long after a done its start may come."""
START = "start"
_BEGINNINGS = ("enqueue", "start", "deliver", "retry", "rescue", "observe")
_COLUMNS = {"job": "job", "key": "key_digest", "id": "id_key"}
PAIR = "pair"
Name = tuple[str, str]


class Starts:
    """Looks for a beginning of each done whose source and task send starts."""

    def __init__(self, desk: Desk) -> None:
        """Load which names of the batch were begun before, and which dones wait for one."""
        self._desk = desk
        told = desk.readable()
        desk.watch.load((INVARIANT, one.source, one.task) for one in told if _matters(one))
        starting = {(one.source, one.task) for one in told if one.kind == "start"}
        asked: dict[str, set[str]] = defaultdict(set)
        for one in told:
            if one.kind == "done" and self._may_be_watched(one, starting):
                for kind, name in _names_of_done(one):
                    asked[kind].add(name)
        # Which start a done's id was made of cannot be told from the id.
        asked.pop(PAIR, None)
        self._names = {one.leaf: _noted(one) for one in told if _begins(one)}
        self._begun = {
            (kind, name)
            for kind, names in asked.items()
            for name in desk.which_have(_COLUMNS[kind], names, _BEGINNINGS)
        }
        self._load_waiting()

    def _load_waiting(self) -> None:
        names = {note for noted in self._names.values() for note in noted.values()}
        self._desk.notes.load("sort = %s AND name", [START], sorted(names))
        leaves = {leaf for name in names for _, _, _, leaf in self._desk.notes.of(START, name)}
        self._desk.notes.load("sort = %s AND leaf_index", [START], sorted(leaves))
        self._desk.found.load(leaves)

    def _may_be_watched(self, done: Statement, starting: set[tuple[str, str]]) -> bool:
        held = self._desk.watch.of(INVARIANT, done.source, done.task)
        return held.since_leaf is not None or (done.source, done.task) in starting

    def take(self, item: Item) -> None:
        """Take a beginning, or look for that of a done."""
        one = item.statement
        if not one.is_readable:
            return
        if _begins(one):
            self._begin(one)
        elif one.kind == "done":
            self._check(one)

    def _begin(self, one: Statement) -> None:
        if one.kind == "start":
            held = self._desk.watch.of(INVARIANT, one.source, one.task)
            self._desk.watch.begin(held, one.leaf)
        for name, note in self._names[one.leaf].items():
            self._begun.add(name)
            for _, _, _, leaf in list(self._desk.notes.of(START, note)):
                self._desk.found.end((INVARIANT, leaf, -1), one.leaf)
                self._desk.notes.forget_leaf(START, leaf)

    def _check(self, done: Statement) -> None:
        held = self._desk.watch.of(INVARIANT, done.source, done.task)
        names = list(_names_of_done(done))
        is_watched = held.since_leaf is not None and _names_something(done)
        self._desk.watch.count(held, is_checked=is_watched)
        if not is_watched or any(name in self._begun for name in names):
            return
        self._desk.found.add(no_start(done), done.leaf, done.received_at + GRACE)
        for name in names:
            self._desk.notes.add((START, _note(name), 0, done.leaf), done.received_at)


def _matters(one: Statement) -> bool:
    return one.kind in ("done", "start")


def _begins(one: Statement) -> bool:
    return one.kind in _BEGINNINGS and (one.kind != "observe" or one.job is not None)


def _names_something(done: Statement) -> bool:
    """Tell whether a done names anything by which its start can be known beside its own id."""
    points = done.pointer is not None and done.pointer.names_something
    return done.job is not None or done.key_digest is not None or points


def _names_of_done(done: Statement) -> Iterator[Name]:
    if done.job is not None:
        yield "job", column(done.job.text())
    if done.key_digest is not None:
        yield "key", done.key_digest
    if done.pointer is not None and done.pointer.job is not None:
        yield "job", column(done.pointer.job.text())
    if done.pointer is not None and done.pointer.receipt:
        yield "id", column(normal_id(done.pointer.receipt))
    # A start that comes later may be the one that this done's id was made of.
    yield PAIR, done.id_key


def _names_of_start(one: Statement) -> Iterator[Name]:
    if one.job is not None:
        yield "job", column(one.job.text())
    if one.key_digest is not None:
        yield "key", one.key_digest
    if one.id_key:
        yield "id", column(one.id_key)
    made = done_id(one.id_key) if one.kind == "start" else None
    if made is not None:
        yield PAIR, made


def _noted(one: Statement) -> dict[Name, str]:
    """Give the names of a beginning, with the note that a done would wait under."""
    return {name: _note(name) for name in _names_of_start(one)}


def _note(name: Name) -> str:
    return plain.digest_of("\0".join(name))
