"""Skips after which the work may not have been done, though their pointer came to something."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from kit import bulk, counts
from kit.search import Query, Term, render
from ledger.queries.as_of import AsOf
from ledger.queries.where import where
from ledger.registry import AttentionItem

LAST_LEAF = 2**63 - 2


@dataclass(frozen=True, slots=True)
class _Watched:
    """A verdict that needs someone, with the words for one skip and for many."""

    code: str
    one: str
    many: str
    small: str
    further: tuple[Term, ...] = ()

    @property
    def query(self) -> Query:
        return Query((Term("verdict", (self.code,)), *self.further))


# A skip whose original is missing is among the pointers that were not found.
_WATCHED = (
    _Watched(
        "skip.original_failed",
        "A skip points to work that did not succeed.",
        "skips point to work that did not succeed.",
        "the work may not have been done at all",
    ),
    _Watched(
        "skip.holder_lost",
        "A skip met a key whose holder was lost.",
        "skips met a key whose holder was lost.",
        "nothing on record shows that the work was done",
        (Term("outcome", ("done",), negated=True),),
    ),
)


def verdict_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each verdict that means the work may have to be done yet."""
    as_of = AsOf(LAST_LEAF, now, is_now=True)
    for watched in _WATCHED:
        found = _skips(project_id, watched, as_of)
        if found:
            yield _item(watched, found)


def _skips(project_id: int, watched: _Watched, as_of: AsOf) -> list[tuple[int, datetime]]:
    """Give the leaf and the arrival of each skip of a verdict, newest first."""
    found = where(project_id, watched.query, as_of)
    # What the query asks for holds this too, but hides it from the index behind the clock.
    found.add("e.verdict = %s", watched.code)
    rows = bulk.select_rows(
        f"SELECT e.leaf_index, e.received_at {found.text()} ORDER BY e.leaf_index DESC LIMIT %s",
        [*found.parameters, counts.CAP + 1],
    )
    return [(leaf, bulk.as_time(at)) for leaf, at in rows]


def _item(watched: _Watched, found: list[tuple[int, datetime]]) -> AttentionItem:
    count, leaves = len(found), [leaf for leaf, _ in found]
    number = f"{count:,}" if count <= counts.CAP else f"{counts.CAP:,}+"
    return AttentionItem(
        code=f"verdict.{watched.code}",
        subject="",
        sentence=watched.one if count == 1 else f"{number} {watched.many}",
        since=found[-1][1],
        severity="bad",
        facts=f"{leaves[0]}:{count}:{sum(leaves)}",
        next_label="list them",
        next_path=f"receipts?q={quote(render(watched.query.terms), safe=':.')}",
        small=watched.small,
    )
