"""What all checks of one batch share: the batch, what was found, notes and counts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from jobs.projectors.checks.found import Found, Notes, Watch
from kit import bulk
from ledger import statements
from ledger.domain.statement import Statement
from ledger.statements import Item

_AT_ONCE = 1_000
# Each is two SELECTs of one compound statement, of which SQLite allows 500.
_PARTS = 200


class Check(Protocol):
    """One check of a batch; it loads what it takes when it is made."""

    def take(self, item: Item) -> None:
        """Take the next receipt, in the order of the leaves."""
        ...


@dataclass(frozen=True, slots=True)
class Brief:
    """A receipt by what tells whether it is worth reading: its leaf, its time, its job's name."""

    leaf: int
    at: datetime
    job: str


class Desk:
    """A batch at hand; every check finds, notes and counts here."""

    def __init__(self, project_id: int, items: Sequence[Item]) -> None:
        """Begin with a batch."""
        self.project_id = project_id
        self.items = items
        self.first = items[0].leaf
        self.found = Found(project_id)
        self.notes = Notes(project_id)
        self.watch = Watch(project_id)
        self._statements = {item.leaf: item.statement for item in items}

    def readable(self) -> list[Statement]:
        """Give the receipts of the batch that were well formed."""
        return [item.statement for item in self.items if item.statement.is_readable]

    def load(self, leaves: Iterable[int]) -> None:
        """Load some receipts at once."""
        missing = {leaf for leaf in leaves if leaf not in self._statements}
        self._statements.update(statements.load_leaves(self.project_id, missing))

    def get(self, leaf: int) -> Statement:
        """Give one receipt."""
        if leaf not in self._statements:
            self.load([leaf])
        return self._statements[leaf]

    def which_have(self, column: str, names: Collection[str], kinds: Sequence[str]) -> set[str]:
        """Give the names under which a receipt of some kinds was stored before this batch.

        Each name costs a look at its first such receipt, however many there are.
        """
        marks = ", ".join(["%s"] * len(kinds))
        found: set[str] = set()
        wanted = sorted(names)
        for start in range(0, len(wanted), _AT_ONCE):
            chunk = wanted[start : start + _AT_ONCE]
            asked = ", ".join(["(%s)"] * len(chunk))
            statement = (
                f"SELECT asked.column1 FROM (VALUES {asked}) AS asked WHERE EXISTS ("  # noqa: S608
                f"SELECT 1 FROM entry WHERE project_id = %s AND {column} = asked.column1 "
                f"AND {column} <> '' AND leaf_index < %s AND kind IN ({marks}))"
            )
            rows = bulk.select_rows(statement, [*chunk, self.project_id, self.first, *kinds])
            found.update(name for (name,) in rows)
        return found

    def last_of(
        self, column: str, names: Collection[str], kinds: Sequence[str], many: int
    ) -> dict[str, list[Brief]]:
        """Give the last receipts of some kinds under each name before this batch, oldest first."""
        marks = ", ".join(["%s"] * len(kinds))
        found: dict[str, list[Brief]] = {name: [] for name in names}
        wanted = sorted(names)
        for start in range(0, len(wanted), _PARTS):
            chunk = wanted[start : start + _PARTS]
            parts = [
                f"SELECT * FROM (SELECT {place} AS place, leaf_index, happened_at, job "  # noqa: S608
                f"FROM entry WHERE project_id = %s AND {column} = %s AND {column} <> '' "
                f"AND leaf_index < %s AND kind IN ({marks}) "
                f"ORDER BY leaf_index DESC LIMIT {many}) AS part{place}"
                for place in range(len(chunk))
            ]
            asked = [one for name in chunk for one in (self.project_id, name, self.first, *kinds)]
            statement = " UNION ALL ".join(parts) + " ORDER BY place, leaf_index"
            for place, leaf, at, job in bulk.select_rows(statement, asked):
                found[chunk[place]].append(Brief(leaf, bulk.as_time(at), job))
        return found

    def write(self) -> None:
        """Write what the batch came to."""
        self.found.write()
        self.notes.write()
        self.watch.write()
