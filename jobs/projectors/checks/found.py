"""Contradictions as they are stored, and the notes and counts that finding them takes.

All three are loaded for a batch, worked on receipt by receipt, and written at its end.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from operator import attrgetter

from jobs.domain.contradictions import Finding
from kit import bulk
from ledger.domain import plain

NO_OTHER = -1
Key = tuple[str, int, int]
"""Which contradiction: its invariant and its two leaves."""
NoteKey = tuple[str, str, int, int]
"""Which note: sort, name, number and leaf."""
Name = tuple[str, str, str]
"""Which count: invariant, source and task."""


@dataclass(slots=True)
class Row:
    """A contradiction in the order of its columns."""

    invariant: str
    leaf_index: int
    other_leaf: int
    at_leaf: int
    gone_leaf: int | None
    since: datetime
    rule: str
    sentence: str

    @property
    def key(self) -> Key:
        """Tell which contradiction it is."""
        return self.invariant, self.leaf_index, self.other_leaf


_ROW = tuple(one.name for one in fields(Row))
_COLUMNS = ("project_id", *_ROW)
_values_of_row = attrgetter(*_ROW)
_OPEN = (
    f"SELECT {', '.join(_COLUMNS[1:])} FROM contradiction "  # noqa: S608
    "WHERE project_id = %s AND gone_leaf IS NULL AND leaf_index IN ({values})"
)
_END = (
    "UPDATE contradiction SET gone_leaf = %s WHERE project_id = %s AND invariant = %s "
    "AND leaf_index = %s AND other_leaf = %s AND at_leaf = %s"
)


class Found:
    """The contradictions that stand, of the receipts that were loaded and those since."""

    def __init__(self, project_id: int) -> None:
        """Know none yet."""
        self._project_id = project_id
        self._open: dict[Key, Row] = {}
        self._fresh: list[Row] = []
        self._ended: list[Row] = []

    def load(self, leaves: Iterable[int]) -> None:
        """Load what stands of some receipts."""
        for row in bulk.select_in(_OPEN, [self._project_id], sorted(set(leaves))):
            one = Row(*row)
            one.since = bulk.as_time(one.since)
            self._open.setdefault(one.key, one)

    def standing(self, invariant: str, leaf: int, other: int = NO_OTHER) -> Row | None:
        """Give a contradiction that stands."""
        return self._open.get((invariant, leaf, other))

    def add(self, finding: Finding, at_leaf: int, since: datetime) -> None:
        """Note a contradiction, unless it stands already."""
        other = NO_OTHER if finding.other is None else finding.other
        row = Row(
            finding.invariant, finding.leaf, other, at_leaf, None, since, finding.rule,
            finding.sentence,
        )  # fmt: skip
        if row.key not in self._open:
            self._open[row.key] = row
            self._fresh.append(row)

    def end(self, key: Key, at_leaf: int) -> None:
        """Note that a contradiction is none any more; nothing happens where it stands not."""
        row = self._open.pop(key, None)
        if row is not None:
            row.gone_leaf = at_leaf
            self._ended.append(row)

    def end_all(self, invariant: str, leaf: int, rule: str, at_leaf: int) -> None:
        """Note that whatever a rule found of one receipt is none any more."""
        for key, row in list(self._open.items()):
            if key[:2] == (invariant, leaf) and row.rule == rule:
                self.end(key, at_leaf)

    def settle(
        self, leaf: int, about: Collection[str], findings: Iterable[Finding], at_leaf: int,
        since: datetime,
    ) -> None:  # fmt: skip
        """Have exactly these stand, of the invariants that one receipt was held against again."""
        wanted = list(findings)
        kept = {(one.invariant, one.leaf, one.other) for one in wanted}
        standing = [key for key in self._open if key[1] == leaf and key[0] in about]
        for key in standing:
            if key not in kept:
                self.end(key, at_leaf)
        for one in wanted:
            self.add(one, at_leaf, since)

    def write(self) -> None:
        """Write what is new and what is gone."""
        bulk.insert_rows(
            "contradiction",
            _COLUMNS,
            [(self._project_id, *_values_of_row(one)) for one in self._fresh],
        )
        fresh = {id(one) for one in self._fresh}
        bulk.update_rows(
            _END,
            [
                (one.gone_leaf, self._project_id, *one.key, one.at_leaf)
                for one in self._ended
                if id(one) not in fresh
            ],
        )


_NOTES = "SELECT sort, name, number, leaf_index, at FROM contradiction_note WHERE project_id = %s "
_NOTE = ("project_id", "sort", "name", "number", "leaf_index", "at")
_FORGET = (
    "DELETE FROM contradiction_note WHERE project_id = %s AND sort = %s AND name = %s "
    "AND number = %s AND leaf_index = %s"
)


class Notes:
    """What later receipts are compared with."""

    def __init__(self, project_id: int) -> None:
        """Know none yet."""
        self._project_id = project_id
        self._kept: dict[tuple[str, str], dict[NoteKey, datetime]] = defaultdict(dict)
        self._of_leaf: dict[tuple[str, int], set[NoteKey]] = defaultdict(set)
        self._of_number: dict[tuple[str, str, int], set[NoteKey]] = defaultdict(set)
        self._fresh: set[NoteKey] = set()
        self._gone: set[NoteKey] = set()

    def load(self, condition: str, fixed: Iterable[object], values: Iterable[object]) -> None:
        """Load the notes that a condition, which ends in a list of values, selects."""
        statement = f"{_NOTES} AND {condition} IN ({{values}})"
        self.know(bulk.select_in(statement, [self._project_id, *fixed], values, size=1_000))

    def know(self, rows: Iterable[tuple[str, str, int, int, datetime]]) -> None:
        """Take stored notes."""
        for sort, name, number, leaf, at in rows:
            key = (sort, name, number, leaf)
            if key not in self._gone:
                self._keep(key, bulk.as_time(at))

    def _keep(self, key: NoteKey, at: datetime) -> None:
        self._kept[key[:2]][key] = at
        self._of_leaf[key[0], key[3]].add(key)
        self._of_number[key[:3]].add(key)

    def add(self, key: NoteKey, at: datetime) -> None:
        """Take a new note."""
        self._keep(key, at)
        self._fresh.add(key)

    def of(self, sort: str, name: str) -> Mapping[NoteKey, datetime]:
        """Give the notes under a name, with the time of each."""
        return self._kept.get((sort, name), {})

    def of_number(self, sort: str, name: str, number: int) -> list[NoteKey]:
        """Give the notes under a name and a number."""
        return sorted(self._of_number.get((sort, name, number), ()))

    def forget(self, key: NoteKey) -> None:
        """Drop a note that nothing is compared with any more."""
        self._kept[key[:2]].pop(key, None)
        self._of_leaf[key[0], key[3]].discard(key)
        self._of_number[key[:3]].discard(key)
        if key in self._fresh:
            self._fresh.discard(key)
        else:
            self._gone.add(key)

    def forget_leaf(self, sort: str, leaf: int) -> None:
        """Drop all notes of one receipt."""
        for key in list(self._of_leaf.get((sort, leaf), ())):
            self.forget(key)

    def write(self) -> None:
        """Write what is new, and take away what was dropped."""
        rows = [(self._project_id, *key, self._kept[key[:2]][key]) for key in sorted(self._fresh)]
        bulk.update_rows(_FORGET, [(self._project_id, *key) for key in sorted(self._gone)])
        bulk.insert_rows("contradiction_note", _NOTE, rows)


@dataclass(slots=True)
class Held:
    """What an invariant was held against in one source and task, in the order of its columns."""

    invariant: str
    digest: str
    source: str
    task: str
    since_leaf: int | None = None
    checked: int = 0
    unchecked: int = 0


_HELD = ("project_id", *(one.name for one in fields(Held)))
_values_of_held = attrgetter(*_HELD[1:])
_WATCHED = (
    f"SELECT {', '.join(_HELD[1:])} FROM contradiction_watch "  # noqa: S608
    "WHERE project_id = %s AND digest IN ({values})"
)
_UNWATCH = "DELETE FROM contradiction_watch WHERE project_id = %s AND digest IN ({values})"


class Watch:
    """What each invariant was held against."""

    def __init__(self, project_id: int) -> None:
        """Know nothing yet."""
        self._project_id = project_id
        self._held: dict[Name, Held] = {}
        self._stored: set[str] = set()
        self._touched: dict[str, Held] = {}

    def load(self, names: Iterable[Name]) -> None:
        """Load the counts of some invariants, sources and tasks."""
        fresh = [self.of(*name) for name in set(names) if name not in self._held]
        by_digest = {one.digest: one for one in fresh}
        for row in bulk.select_in(_WATCHED, [self._project_id], sorted(by_digest)):
            one = by_digest[row[1]]
            one.since_leaf, one.checked, one.unchecked = row[4:]
            self._stored.add(one.digest)

    def of(self, invariant: str, source: str, task: str = "") -> Held:
        """Give the counts of one invariant, source and task, as far as they are loaded."""
        name = (invariant, source, task)
        held = self._held.get(name)
        if held is None:
            digest = plain.digest_of(plain.json_text(list(name)))[:32]
            held = self._held[name] = Held(invariant, digest, source, task)
        return held

    def count(self, held: Held, *, is_checked: bool) -> None:
        """Count one more receipt."""
        held.checked += is_checked
        held.unchecked += not is_checked
        self._touched[held.digest] = held

    def recount(self, held: Held, *, is_checked: bool) -> None:
        """Count a receipt as checked that was not, or the other way round."""
        step = 1 if is_checked else -1
        held.checked += step
        held.unchecked -= step
        self._touched[held.digest] = held

    def begin(self, held: Held, leaf: int) -> None:
        """Note the first receipt that makes the invariant hold."""
        if held.since_leaf is None:
            held.since_leaf = leaf
            self._touched[held.digest] = held

    def write(self) -> None:
        """Put the counts in place of what was stored of them."""
        stored = sorted(self._stored.intersection(self._touched))
        bulk.delete_in(_UNWATCH, [self._project_id], stored)
        rows = [
            (self._project_id, *_values_of_held(one)) for _, one in sorted(self._touched.items())
        ]
        bulk.insert_rows("contradiction_watch", _HELD, rows)
