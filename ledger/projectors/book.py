"""The ledger as the pointer resolver reads it: what is stored, and the batch at hand over it.

A hot job or key may have a million receipts, so of each only a part is looked at. Of an id, a job
or a masked id it is the ends: the first and the last `ENDS` that can matter. Of a key it is what
lies around the receipt that asks, `ENDS` to either side: what came long before or long after is
not its original, and the ends of a hot key would move away from it. Both parts of "stored and
batch" are made of the parts of both, so the answer does not depend on how the log was cut into
batches.

Tallies and policies were written by projectors that run before, and perhaps further on: of those
only what lies below the leaf at hand is seen.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from kit import bulk
from kit.db import indexed_by
from ledger import statements, tallied
from ledger.domain import links, pointers, tallies
from ledger.domain.names import column
from ledger.domain.policies import Policy
from ledger.domain.statement import JobName, Statement, in_order
from ledger.domain.tallies import Tallied
from ledger.projectors import late, policies
from ledger.projectors.policies import Kept
from ledger.statements import Item

ENDS = 20
Name = tuple[str, str]
Near = tuple[str, int]
_COLUMNS = {"id": "id_key", "job": "job", "masked": "masked_id"}
_INDEXES = {"id": "entry_by_id", "job": "entry_by_job", "masked": "entry_by_masked_id"}
# A skip is never what another skip points at by key, nor by job, unless the job itself ended so.
_MATTER = {
    "job": " AND (kind <> 'skip' OR (system = 'celery' AND reason IN ('', 'expired')))",
}
# Of observations only a job's row counts; which one is, its body tells.
_OF_KEY = (*links.OF_KEY, "observe")
# Each is two SELECTs of one compound statement, of which SQLite allows 500.
_KEYS_AT_ONCE = 200


def names_of(statement: Statement) -> frozenset[Name]:
    """Give the names under which others may look a statement up."""
    return frozenset((kind, column(name)) for kind, name in pointers.answers(statement))


def is_of_key(statement: Statement) -> bool:
    """Tell whether a receipt may be what another's key finds."""
    return statement.kind in links.OF_KEY or statement.is_row


class Book:
    """Statements of one project up to a leaf, by id, job, key and masked id."""

    def __init__(self, project_id: int, end: int) -> None:
        """See the leaves below `end`; what comes later is added with `add`."""
        self._project_id = project_id
        self._end = end
        self._stored: dict[Name, list[int]] = {}
        self._fresh: dict[Name, list[int]] = defaultdict(list)
        self._around: dict[Near, list[int]] = {}
        self._statements: dict[int, Statement] = {}
        self._seen = end
        self._tallies: dict[str, list[int]] = {}
        self._unasked: set[str] = set()
        self._items: dict[int, Item] = {}
        self._policies: dict[tuple[str, str], Kept] = {}

    def by_id(self, id_key: str) -> Sequence[Statement]:
        """Give all receipts that claim an id."""
        return self._find("id", id_key)

    def by_job(self, job: JobName) -> Sequence[Statement]:
        """Give the first and last receipts of a job."""
        return self._find("job", job.text())

    def by_key(self, key_digest: str, near: int) -> Sequence[Statement]:
        """Give the receipts with a key around a leaf, the last before and the first after it."""
        if (key_digest, near) not in self._around:
            self.fetch_keys([(key_digest, near)])
        found = self._around[key_digest, near] + self._fresh.get(("key", key_digest), [])
        before = [leaf for leaf in found if leaf < near]
        after = [leaf for leaf in found if leaf > near]
        return self._known([*before[-ENDS:], *after[:ENDS]])

    def by_masked_id(self, masked: str) -> Sequence[Statement]:
        """Give receipts whose id is the same but for version and variant."""
        return self._find("masked", masked)

    def is_redacted(self, leaf: int) -> bool:
        """Say whether a receipt was erased whole; there is no erasing yet."""
        return False

    def tallied(self, job: JobName) -> Sequence[Tallied]:
        """Give what tallies list of a job, in the order of their leaves."""
        name = column(job.text())
        if name not in self._tallies:
            self._fetch_tallies(name)
        leaves = [leaf for leaf in self._tallies[name] if leaf < self._seen]
        self._load_tallies(leaves)
        items = (self._items[leaf] for leaf in leaves)
        found = (tallies.find(item.statement, item.rows, name) for item in items)
        return [one for one in found if one is not None]

    def policies(self, system: str, instance: str) -> Sequence[Policy]:
        """Give the recording policies that a source announced so far."""
        return [one for one in self._kept(system, instance).versions if one.leaf < self._seen]

    def lists_all(self, system: str, instance: str, voice: str) -> bool:
        """Say whether every tally of a source by a voice so far lists the jobs that it counts."""
        first = self._kept(system, instance).first_short.get(column(voice))
        return first is None or first >= self._seen

    def get(self, leaf: int) -> Statement:
        """Give the statement of a leaf."""
        if leaf not in self._statements:
            self._load([leaf])
        return self._statements[leaf]

    def put_in_order(self, leaf: int) -> None:
        """Let a late receipt be known as one that was waiting in its spool."""
        self._statements[leaf] = in_order(self.get(leaf))

    def add(self, item: Item, names: Iterable[Name]) -> None:
        """Let the next leaf be found under its names."""
        statement = item.statement
        self._know(item.leaf, statement)
        self._seen = statement.leaf + 1
        if item.rows:
            self._items[item.leaf] = item
        for kind, name in names:
            if _matters(kind, statement):
                self._fresh[kind, name].append(statement.leaf)

    def fetch(self, names: Iterable[Name]) -> None:
        """Load what is stored under many names at once."""
        wanted: dict[str, list[str]] = defaultdict(list)
        for kind, name in names:
            if (kind, name) not in self._stored:
                self._stored[kind, name] = []
                wanted[kind].append(name)
        for kind, texts in wanted.items():
            self._fetch_kind(kind, texts)
        self._load(leaf for leaves in self._stored.values() for leaf in leaves)

    def fetch_keys(self, asked: Iterable[Near]) -> None:
        """Load what is stored around the leaves that ask for a key, given as (digest, leaf)."""
        wanted = sorted({one for one in asked if one not in self._around})
        for start in range(0, len(wanted), _KEYS_AT_ONCE):
            chunk = wanted[start : start + _KEYS_AT_ONCE]
            self._around.update({one: [] for one in chunk})
            rows = bulk.select_rows(*_around(self._project_id, self._end, chunk))
            for place, leaf in rows:
                self._around[chunk[place]].append(leaf)
        self._load(leaf for one in wanted for leaf in self._around[one])

    def fetch_leaves(self, leaves: Iterable[int]) -> None:
        """Load statements by their leaves."""
        self._load(leaves)

    def _fetch_tallies(self, name: str) -> None:
        """Look up one job, and with it all that came to hand since: one by one takes too long."""
        wanted = {name, *map(column, self._unasked)} - self._tallies.keys()
        self._unasked.clear()
        found = tallied.candidates(self._project_id, wanted)
        self._tallies.update((one, found.get(one, [])) for one in wanted)

    def _know(self, leaf: int, statement: Statement) -> None:
        self._statements[leaf] = statement
        pointed = statement.pointer.job if statement.pointer is not None else None
        self._unasked.update(job.text() for job in (statement.job, pointed) if job is not None)

    def _load_tallies(self, leaves: Iterable[int]) -> None:
        missing = {leaf for leaf in leaves if leaf not in self._items}
        for leaf, item in statements.load_items(self._project_id, missing).items():
            self._items[leaf] = item
            self._statements.setdefault(leaf, item.statement)

    def _kept(self, system: str, instance: str) -> Kept:
        source = (system, instance)
        if source not in self._policies:
            self._policies[source] = policies.load(self._project_id, system, instance)
        return self._policies[source]

    def _find(self, kind: str, text: str) -> list[Statement]:
        name = (kind, column(text))
        if name not in self._stored:
            self.fetch([name])
        return self._known(_ends(self._stored[name] + self._fresh.get(name, [])))

    def _known(self, leaves: Sequence[int]) -> list[Statement]:
        self._load(leaves)
        return [self._statements[leaf] for leaf in leaves]

    def _fetch_kind(self, kind: str, texts: Collection[str]) -> None:
        where = _COLUMNS[kind]
        ranked = (
            f"SELECT {where} AS name, leaf_index, "  # noqa: S608
            f"row_number() OVER (PARTITION BY {where} ORDER BY leaf_index) AS first, "
            f"row_number() OVER (PARTITION BY {where} ORDER BY leaf_index DESC) AS last "
            f"FROM entry{indexed_by(_INDEXES[kind])} "
            f"WHERE project_id = %s AND leaf_index < %s{_MATTER.get(kind, '')} "
            f"AND {where} IN ({{values}})"
        )
        statement = (
            f"SELECT name, leaf_index FROM ({ranked}) AS ranked "  # noqa: S608
            f"WHERE first <= {ENDS} OR last <= {ENDS} ORDER BY leaf_index"
        )
        fixed = [self._project_id, self._end]
        for name, leaf in bulk.select_in(statement, fixed, texts, size=1_000):
            self._stored[kind, name].append(leaf)

    def _load(self, leaves: Iterable[int]) -> None:
        missing = {leaf for leaf in leaves if leaf not in self._statements}
        found = statements.load_leaves(self._project_id, missing)
        found |= late.as_ordered(self._project_id, found, self._seen)
        for leaf, statement in found.items():
            self._know(leaf, statement)


def _around(project_id: int, end: int, chunk: Sequence[Near]) -> tuple[str, list[object]]:
    """Select the leaves of each key on both sides of a leaf, with the key's place in the chunk."""
    parts: list[str] = []
    parameters: list[object] = []
    marks = ", ".join(f"'{kind}'" for kind in _OF_KEY)
    for place, (digest, near) in enumerate(chunk):
        sides = [(-1, min(near, end), "DESC"), (near, end, "")]
        for above, below, order in sides[: 1 if near >= end else 2]:
            parts.append(
                f"SELECT * FROM (SELECT {place} AS place, leaf_index FROM entry "  # noqa: S608
                f"WHERE project_id = %s AND key_digest = %s AND key_digest <> '' "
                f"AND kind IN ({marks}) AND leaf_index > %s AND leaf_index < %s "
                f"ORDER BY leaf_index {order} LIMIT {ENDS}) AS part{len(parts)}"
            )
            parameters += [project_id, digest, above, below]
    return " UNION ALL ".join(parts) + " ORDER BY place, leaf_index", parameters


def _matters(kind: str, statement: Statement) -> bool:
    if kind == "job":
        is_of_celery = statement.system == "celery" and statement.reason in (None, "expired")
        # What a tally lists is looked up in the tally.
        return statement.kind != "tally" and (statement.kind != "skip" or is_of_celery)
    return kind != "key" or statement.kind in _OF_KEY


def _ends(leaves: Sequence[int]) -> Sequence[int]:
    return leaves if len(leaves) <= 2 * ENDS else [*leaves[:ENDS], *leaves[-ENDS:]]
