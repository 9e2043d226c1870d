"""The ledger as the pointer resolver reads it: what is stored, and the batch at hand over it.

A hot job or key may have a million receipts, so of each only the ends are looked at: the first
and the last `ENDS` that can matter. The ends of "stored and batch" are made of the ends of both,
so the answer does not depend on how the log was cut into batches.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence

from kit import bulk
from ledger import statements
from ledger.domain import pointers
from ledger.domain.names import column
from ledger.domain.statement import JobName, Statement

ENDS = 20
Name = tuple[str, str]
_COLUMNS = {"id": "id_key", "job": "job", "key": "key_digest", "masked": "masked_id"}
# A skip of a job or key is never what another skip points at by job or key.
_MATTER = {"job": " AND kind <> 'skip'", "key": " AND kind IN ('enqueue', 'start', 'done')"}


def names_of(statement: Statement) -> frozenset[Name]:
    """Give the names under which others may look a statement up."""
    return frozenset((kind, column(name)) for kind, name in pointers.answers(statement))


class Book:
    """Statements of one project up to a leaf, by id, job, key and masked id."""

    def __init__(self, project_id: int, end: int) -> None:
        """See the leaves below `end`; what comes later is added with `add`."""
        self._project_id = project_id
        self._end = end
        self._stored: dict[Name, list[int]] = {}
        self._fresh: dict[Name, list[int]] = defaultdict(list)
        self._statements: dict[int, Statement] = {}

    def by_id(self, id_key: str) -> Sequence[Statement]:
        """Give all receipts that claim an id."""
        return self._find("id", id_key)

    def by_job(self, job: JobName) -> Sequence[Statement]:
        """Give the first and last receipts of a job."""
        return self._find("job", job.text())

    def by_key(self, key_digest: str) -> Sequence[Statement]:
        """Give the first and last receipts with a key."""
        return self._find("key", key_digest)

    def by_masked_id(self, masked: str) -> Sequence[Statement]:
        """Give receipts whose id is the same but for version and variant."""
        return self._find("masked", masked)

    def is_redacted(self, leaf: int) -> bool:
        """Say whether a receipt was erased whole; there is no erasing yet."""
        return False

    def get(self, leaf: int) -> Statement:
        """Give the statement of a leaf."""
        if leaf not in self._statements:
            self._load([leaf])
        return self._statements[leaf]

    def add(self, statement: Statement) -> None:
        """Let the next leaf be found."""
        self._statements[statement.leaf] = statement
        for kind, name in names_of(statement):
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

    def fetch_leaves(self, leaves: Iterable[int]) -> None:
        """Load statements by their leaves."""
        self._load(leaves)

    def _find(self, kind: str, text: str) -> list[Statement]:
        name = (kind, column(text))
        if name not in self._stored:
            self.fetch([name])
        leaves = _ends(self._stored[name] + self._fresh.get(name, []))
        self._load(leaves)
        return [self._statements[leaf] for leaf in leaves]

    def _fetch_kind(self, kind: str, texts: Collection[str]) -> None:
        where = _COLUMNS[kind]
        ranked = (
            f"SELECT {where} AS name, leaf_index, "  # noqa: S608
            f"row_number() OVER (PARTITION BY {where} ORDER BY leaf_index) AS first, "
            f"row_number() OVER (PARTITION BY {where} ORDER BY leaf_index DESC) AS last "
            f"FROM entry WHERE project_id = %s AND leaf_index < %s{_MATTER.get(kind, '')} "
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
        if missing:
            self._statements.update(statements.load_leaves(self._project_id, missing))


def _matters(kind: str, statement: Statement) -> bool:
    if kind == "job":
        return statement.kind != "skip"
    return kind != "key" or statement.kind in ("enqueue", "start", "done")


def _ends(leaves: Sequence[int]) -> Sequence[int]:
    return leaves if len(leaves) <= 2 * ENDS else [*leaves[:ENDS], *leaves[-ENDS:]]
