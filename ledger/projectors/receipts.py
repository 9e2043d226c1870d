"""Entries: one row a receipt, and what its pointer has come to as later receipts arrived.

Receipts are taken one by one in the order of their leaves, also inside a batch, so that the rows
do not depend on how the log was cut. Each arrival asks the pointers again that were looked up by
one of its names (`pointer_wait`); a change is an event of that pointer at that leaf.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import chain

from kit import bulk
from ledger.domain import pointers, verdicts, words
from ledger.domain.book import is_of_job
from ledger.domain.names import column
from ledger.domain.pointers import Finding
from ledger.domain.policies import SKEW
from ledger.domain.statement import Statement, normal_id
from ledger.projectors import late, policies
from ledger.projectors.book import Book, Name, Near, is_of_key, names_of
from ledger.registry import Judging, Write, registry
from ledger.statements import Item

RULES_VERSION = 5
TABLES = ("entry", "entry_subject", "pointer_event", "pointer_wait")
# A skip looks for its key back in time, and up to this far ahead where a lock was lost.
AHEAD = timedelta(minutes=10)
BEGINNING = datetime.min.replace(tzinfo=UTC)
# The same as `_may_change` for a key, as far as the row tells: which waiting skips to load.
_MAY_CHANGE = "(entry.happened_at >= %s OR entry.pointer_text <> '')"
_WAITING = (
    "SELECT name, leaf_index FROM pointer_wait "
    "WHERE project_id = %s AND name_kind = %s AND name IN ({values})"
)
_WAITING_FOR_KEY = (
    "SELECT pointer_wait.name, pointer_wait.leaf_index FROM pointer_wait "  # noqa: S608
    "JOIN entry ON entry.project_id = pointer_wait.project_id "
    "AND entry.leaf_index = pointer_wait.leaf_index "
    f"WHERE pointer_wait.project_id = %s AND pointer_wait.name_kind = %s AND {_MAY_CHANGE} "
    "AND pointer_wait.name IN ({values})"
)

_ENTRY = (
    "project_id", "leaf_index", "receipt", "kind", "word", "state", "token", "id_text", "id_key",
    "masked_id", "occurred_at", "received_at", "happened_at", "system", "instance", "job",
    "job_number", "task", "queue", "scope", "invoke", "generation", "recipe", "key_digest",
    "reason", "rule", "actor", "trace", "level", "verdict", "verdict_when_due", "pointer_text",
    "pointer_state", "outcome", "due_at", "target", "terminal", "derived_from",
)  # fmt: skip
_EVENT = (
    "project_id", "leaf_index", "at_leaf", "pointer_state", "outcome", "due_at", "target",
    "terminal", "verdict", "verdict_when_due", "level",
)  # fmt: skip
_UPDATE = (
    "UPDATE entry SET pointer_state = %s, outcome = %s, due_at = %s, target = %s, terminal = %s, "
    "verdict = %s, verdict_when_due = %s, level = %s WHERE project_id = %s AND leaf_index = %s"
)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a receipt's pointer and verdict are as of a leaf; the columns of `_EVENT` after it."""

    pointer_state: str
    outcome: str
    due_at: datetime | None
    target: int | None
    terminal: int | None
    verdict: str
    verdict_when_due: str
    level: str

    def row(self) -> tuple[object, ...]:
        """Give the values in the order of the columns."""
        return (
            self.pointer_state, self.outcome, self.due_at, self.target, self.terminal,
            self.verdict, self.verdict_when_due, self.level,
        )  # fmt: skip


def judge(
    statement: Statement, book: Book, judgings: Sequence[Judging] = ()
) -> tuple[Judgement, Finding | None]:
    """Resolve and judge one receipt by what the book and the apps' judges hold."""
    finding = pointers.find_pointer(statement, book)
    original = terminal = None
    if finding is not None:
        original = None if finding.target_leaf is None else book.get(finding.target_leaf)
        terminal = None if finding.terminal_leaf is None else book.get(finding.terminal_leaf)
    verdict = verdicts.stored_verdict(statement, finding, original, terminal)
    found = original if finding is not None and finding.state in words.FOUND else None
    judged = next(filter(None, (one.judge(statement, found) for one in judgings)), None)
    judgement = Judgement(
        pointer_state=finding.state if finding else "",
        outcome=finding.outcome if finding else "",
        due_at=finding.due_at if finding else None,
        target=finding.target_leaf if finding else None,
        terminal=finding.terminal_leaf if finding else None,
        verdict=(judged or verdict).code,
        verdict_when_due=judged.code if judged else verdicts.code_when_due(statement, finding),
        level=(judged or verdict).level,
    )
    return judgement, finding


@dataclass(slots=True)
class _Run:
    """One batch being worked through."""

    project_id: int
    book: Book
    names: dict[int, frozenset[Name]]
    waits: dict[Name, set[int]]
    current: dict[int, Judgement]
    judgings: Sequence[Judging]
    late: Set[int] = frozenset()
    raised: Mapping[int, Sequence[int]] = field(default_factory=dict)
    entries: list[tuple[object, ...]] = field(default_factory=list)
    subjects: list[tuple[object, ...]] = field(default_factory=list)
    events: list[tuple[object, ...]] = field(default_factory=list)
    updates: dict[int, Judgement] = field(default_factory=dict)
    new_waits: dict[tuple[Name, int], None] = field(default_factory=dict)

    def take(self, item: Item) -> None:
        statement = item.statement
        self.book.add(item, self.names[item.leaf])
        touched = {leaf for one in self.judgings for leaf in one.take(item)}
        touched.update(self._put_in_order(item.leaf))
        judgement, finding = judge(statement, self.book, self.judgings)
        self.current[item.leaf] = judgement
        self.entries.append(self._entry(item, judgement))
        self.subjects.extend(
            (self.project_id, type_, subject, item.leaf) for type_, subject in statement.subjects
        )
        is_watched = item.leaf in self.late or any(j.watches(item.leaf) for j in self.judgings)
        if finding is not None or is_watched:
            self._note(item.leaf, item.leaf, judgement, finding)
        self._ask_again(item, touched)

    def _put_in_order(self, leaf: int) -> Iterator[int]:
        """Give the late receipts that an arrival puts in order, and the pointers that ask them."""
        for one in self.raised.get(leaf, ()):
            self.book.put_in_order(one)
            yield one
            for name in names_of(self.book.get(one)):
                yield from self.waits.get(name, ())

    def _ask_again(self, item: Item, waiting: set[int]) -> None:
        for kind, name in self.names[item.leaf]:
            leaves = self.waits.get((kind, name), ())
            waiting.update(leaf for leaf in leaves if self._may_change(kind, leaf, item))
        for leaf in sorted(waiting):
            judgement, finding = judge(self.book.get(leaf), self.book, self.judgings)
            if judgement != self._current(leaf):
                self.current[leaf] = self.updates[leaf] = judgement
                self._note(leaf, item.leaf, judgement, finding)
            elif finding is not None and finding.skips:
                # A chain may go on through another skip and come to the same for now.
                self._wait(leaf, finding)

    def _current(self, leaf: int) -> Judgement:
        if leaf not in self.current:
            self.current.update(_current(self.project_id, [leaf]))
        return self.current[leaf]

    def _may_change(self, kind: str, leaf: int, item: Item) -> bool:
        """Leave out the pointers that an arrival cannot touch, which on a hot key are most."""
        if leaf >= item.leaf:
            return False
        if kind == "job":
            return is_of_job(item.statement)
        if kind != "key":
            return True
        asked = self.book.get(leaf)
        if not is_of_key(item.statement):
            return False
        # A pointer that names something came to the key by way of another skip, whose time counts.
        names_one = asked.pointer is not None and asked.pointer.names_something
        return names_one or item.statement.begun_at - asked.happened_at <= AHEAD

    def _note(self, leaf: int, at_leaf: int, judgement: Judgement, finding: Finding | None) -> None:
        self.events.append((self.project_id, leaf, at_leaf, *judgement.row()))
        if finding is not None:
            self._wait(leaf, finding)

    def _wait(self, leaf: int, finding: Finding) -> None:
        for kind, text in finding.asked:
            name = (kind, column(text))
            self.waits[name].add(leaf)
            # Whoever waits for another policy is found by its time.
            if kind != "policy":
                self.new_waits[name, leaf] = None

    def _entry(self, item: Item, judgement: Judgement) -> tuple[object, ...]:
        one = item.statement
        return (
            self.project_id, item.leaf, item.receipt, one.kind, one.word, one.state, one.token_id,
            one.id_text, one.id_key, one.masked_id or "", one.occurred_at, one.received_at,
            one.happened_at, one.system, one.instance, column(one.job.text()) if one.job else "",
            one.job.number if one.job else "", one.task, one.queue, one.scope, one.invoke_id,
            one.generation, one.recipe, one.key_digest or "", one.reason or "", _rule_name(one),
            _actor_name(one), one.trace_id, judgement.level, judgement.verdict,
            judgement.verdict_when_due, _pointer_text(one),
            judgement.pointer_state, judgement.outcome, judgement.due_at, judgement.target,
            judgement.terminal, item.derived_from,
        )  # fmt: skip

    def write(self) -> None:
        """Write what the batch came to."""
        bulk.insert_rows("entry", _ENTRY, self.entries)
        subject = ("project_id", "type", "subject", "leaf_index")
        bulk.insert_rows("entry_subject", subject, self.subjects)
        bulk.insert_rows("pointer_event", _EVENT, self.events)
        fresh = {row[1] for row in self.entries}
        waits = [(self.project_id, *name, leaf) for name, leaf in self.new_waits]
        columns = ("project_id", "name_kind", "name", "leaf_index")
        bulk.insert_rows("pointer_wait", columns, [row for row in waits if row[3] in fresh])
        bulk.insert_ignoring("pointer_wait", columns, [row for row in waits if row[3] not in fresh])
        bulk.update_rows(
            _UPDATE,
            [(*one.row(), self.project_id, leaf) for leaf, one in sorted(self.updates.items())],
        )
        for judging in self.judgings:
            judging.write()


class ReceiptsProjector:
    """Writes entries, their subjects, and the events of their pointers."""

    name = "receipts"

    @property
    def rules_version(self) -> int:
        """Give the version of our own rules and of all judges', of which each only rises."""
        return RULES_VERSION + sum(judge.rules_version for judge in registry.judges)

    @property
    def tables(self) -> tuple[str, ...]:
        """Give our own tables and those of the judges."""
        return (*TABLES, *(table for judge in registry.judges for table in judge.tables))

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Resolve and judge the batch, and whatever it asks again."""
        book = Book(project_id, items[0].leaf)
        names = {item.leaf: _names(item) for item in items}
        earliest = _before(min(item.statement.begun_at for item in items))
        raised = late.raised_by(project_id, items)
        stored = [one for found in raised.values() for one in found if one not in names]
        book.fetch_leaves(stored)
        asked = [*names.values(), *(names_of(book.get(one)) for one in stored)]
        waits, leaves = _waiting(project_id, asked, earliest)
        leaves.update(stored)
        for change in policies.find_changes(project_id, _recorders(items)):
            name = ("policy", change.source)
            names[change.leaf] |= {name}
            found = _left_out(project_id, change.since, items[0].leaf)
            waits[name].update(found)
            leaves.update(found)
        book.fetch(_wanted(items))
        book.fetch_keys(_wanted_keys(items))
        book.fetch_leaves(leaves)
        judgings = [judge.open(project_id, items) for judge in registry.judges]
        numbered = late.numbered(project_id, items)
        current = _current(project_id, leaves)
        run = _Run(project_id, book, names, waits, current, judgings, numbered, raised)
        for item in items:
            run.take(item)
        return run.write


def _names(item: Item) -> frozenset[Name]:
    """Give the names under which others may look a leaf up, with those that a tally lists."""
    names = names_of(item.statement)
    return names.union(("job", name) for name in item.listed) if item.listed else names


def _recorders(items: Iterable[Item]) -> list[int]:
    """Give the leaves that may tell what their source records, which are few."""
    return [
        item.leaf
        for item in items
        if item.statement.kind == "tally" or item.statement.what == "policy"
    ]


def _left_out(project_id: int, since: datetime | None, end: int) -> set[int]:
    """Give the pointers below a leaf that another policy may leave out, or leave out no more."""
    statement = (
        "SELECT leaf_index FROM entry WHERE project_id = %s AND leaf_index < %s "
        "AND happened_at >= %s AND pointer_state IN ('waiting', 'unrecorded')"
    )
    at = BEGINNING if since is None else max(since, BEGINNING + SKEW) - SKEW
    return {leaf for (leaf,) in bulk.select_rows(statement, [project_id, end, at])}


def _wanted(items: Iterable[Item]) -> set[Name]:
    """Give the names that the pointers of a batch will be looked up by, as far as one can tell."""
    wanted: set[Name] = set()
    for item in items:
        one = item.statement
        if not pointers.has_pointer(one):
            continue
        if one.pointer is not None and one.pointer.receipt:
            wanted.add(("id", column(normal_id(one.pointer.receipt))))
        if one.pointer is not None and one.pointer.job:
            wanted.add(("job", column(one.pointer.job.text())))
    return wanted


def _wanted_keys(items: Iterable[Item]) -> Iterator[Near]:
    for item in items:
        one = item.statement
        names_one = one.pointer is not None and one.pointer.names_something
        if one.key_digest and pointers.has_pointer(one) and not names_one:
            yield one.key_digest, item.leaf


def _waiting(
    project_id: int, names_of_items: Iterable[Iterable[Name]], earliest: datetime
) -> tuple[dict[Name, set[int]], set[int]]:
    """Give the stored pointers that were looked up by a name of the batch, or of late enough."""
    waits: dict[Name, set[int]] = defaultdict(set)
    texts: dict[str, set[str]] = defaultdict(set)
    for kind, name in chain.from_iterable(names_of_items):
        texts[kind].add(name)
    for kind, names in texts.items():
        fixed = [project_id, kind, earliest] if kind == "key" else [project_id, kind]
        statement = _WAITING_FOR_KEY if kind == "key" else _WAITING
        for name, leaf in bulk.select_in(statement, fixed, names, size=1_000):
            waits[kind, name].add(leaf)
    return waits, {leaf for found in waits.values() for leaf in found}


def _before(happened_at: datetime) -> datetime:
    """Go back by `AHEAD`; a producer's clock may stand at the beginning of time."""
    return max(happened_at, BEGINNING + AHEAD) - AHEAD


def _current(project_id: int, leaves: Iterable[int]) -> dict[int, Judgement]:
    statement = (
        "SELECT leaf_index, pointer_state, outcome, due_at, target, terminal, verdict, "
        "verdict_when_due, level "
        "FROM entry WHERE project_id = %s AND leaf_index IN ({values})"
    )
    return {
        leaf: Judgement(state, outcome, due and bulk.as_time(due), *rest)
        for leaf, state, outcome, due, *rest in bulk.select_in(
            statement, [project_id], leaves, size=1_000
        )
    }


def _rule_name(statement: Statement) -> str:
    if statement.rule is not None and statement.rule.name:
        return statement.rule.name
    return statement.switch.name if statement.switch is not None else ""


def _actor_name(statement: Statement) -> str:
    return statement.actor_id or statement.actor_label


def _pointer_text(statement: Statement) -> str:
    """Give the pointer as a list shows it: what it names, or the empty text."""
    pointer = statement.pointer
    if pointer is None:
        return ""
    if pointer.receipt:
        return pointer.receipt
    return pointer.job.text() if pointer.job else ""
