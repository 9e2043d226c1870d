"""Keys: which run took each last, who was turned away, and what a person noted of a release."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter

from jobs.domain import attempts
from jobs.domain.attempts import micros
from kit import bulk
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.registry import Write
from ledger.statements import Item

RELEASE = "release"
_CLAIMS = frozenset({"enqueue", "start", "done"})


@dataclass(slots=True)
class Held:
    """A key as it is stored, in the order of its columns."""

    digest: str
    recipe: str
    version: str
    source: str
    named: str
    first_leaf: int
    last_leaf: int
    turned_away: int = 0
    holder_run: str = ""
    holder_leaf: int | None = None
    held_at: int | None = None
    told_by: str = ""
    released_leaf: int | None = None
    released_at: int | None = None

    def take(self, one: Statement) -> None:
        """Take the next receipt with this key."""
        self.last_leaf = one.leaf
        if one.kind == "skip":
            self.turned_away += 1
            return
        run, at = attempts.names_of(one)[0], micros(one.begun_at)
        if run and self._is_taken_by(run, one.kind, at):
            self.holder_run, self.holder_leaf = run, one.leaf
            self.held_at, self.told_by = at, one.kind

    def _is_taken_by(self, run: str, kind: str, at: int) -> bool:
        """Tell whether a claim is a new holder's; a done is one only where nobody tells starts."""
        if self.held_at is None:
            return True
        if run == self.holder_run or (kind == "done" and self.told_by != "done"):
            return False
        return at >= self.held_at


_HELD = tuple(one.name for one in fields(Held))
_COLUMNS = ("project_id", *_HELD)
_values_of = attrgetter(*_HELD)
_DELETE = "DELETE FROM key_holder WHERE project_id = %s AND digest IN ({values})"


class KeysProjector:
    """Keeps one row for each key that any receipt compared."""

    name = "keys"
    rules_version = 1
    tables: tuple[str, ...] = ("key_holder",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Work out what the batch tells of keys."""
        digests = {digest for item in items for digest in _digests(item.statement)}
        held = _load(project_id, digests)
        stored = sorted(held)
        for item in items:
            _take(item.statement, held)
        rows = [(project_id, *_values_of(one)) for one in held.values()]

        def write() -> None:
            bulk.delete_in(_DELETE, [project_id], stored)
            bulk.insert_rows("key_holder", _COLUMNS, rows)

        return write


def _take(one: Statement, held: dict[str, Held]) -> None:
    released = released_key(one)
    if released in held:
        held[released].released_leaf = one.leaf
        held[released].released_at = micros(one.happened_at)
    if not _has_key(one):
        return
    digest = one.key_digest or ""
    if digest not in held:
        named = json.dumps(one.key_fields, ensure_ascii=True)
        recipe, version = column(one.recipe), column(one.recipe_version)
        held[digest] = Held(digest, recipe, version, one.source, named, one.leaf, one.leaf)
    held[digest].take(one)


def _has_key(one: Statement) -> bool:
    is_claim = one.kind in _CLAIMS or one.is_row or one.kind == "skip"
    return bool(one.key_digest) and is_claim and one.state == "accepted"


def _digests(one: Statement) -> Iterator[str]:
    if _has_key(one):
        yield one.key_digest or ""
    if released := released_key(one):
        yield released


def released_key(one: Statement) -> str:
    """Give the digest of the key that an act of ours says was released."""
    is_ours = one.kind == "act" and one.token_id is None and one.act_verb == RELEASE
    if not is_ours or not one.act_target.startswith("key:"):
        return ""
    return one.act_target.rpartition("/")[2]


def _load(project_id: int, digests: Iterable[str]) -> dict[str, Held]:
    statement = (
        f"SELECT {', '.join(_COLUMNS[1:])} FROM key_holder "  # noqa: S608
        "WHERE project_id = %s AND digest IN ({values})"
    )
    rows = bulk.select_in(statement, [project_id], sorted(digests))
    return {row[0]: Held(*row) for row in rows}
