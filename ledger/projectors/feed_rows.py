"""Spools and their holes as rows of `feed_spool` and `feed_gap`, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from kit import bulk
from ledger.domain import plain
from ledger.domain.arrivals import Run
from ledger.domain.feed_lines import producer_of
from ledger.domain.feeds import Dispute, Hole, Mark, Spool
from ledger.domain.leaf import rfc3339

_PLACE = (
    "project_id", "spool", "leaf_index", "until_leaf", "span", "is_settled", "producer",
    "is_numbered",
)  # fmt: skip
FACTS = (
    "first_at", "heard_at", "token", "source", "client", "high", "replayed", "fed_at", "written",
    "unsent", "dropped", "dropped_at", "waived", "outcomes_lost", "outcomes_waived",
    "oldest_at", "expected", "expected_since", "closed_at", "end", "skew_ms", "marks",
    "complete_until", "owners", "declared", "disputes", "disputed_at", "conflicts",
)  # fmt: skip
COLUMNS = (*_PLACE, *FACTS)
_TIMES = frozenset(name for name in FACTS if name.endswith(("_at", "_since", "_until")))
MILLISECOND = timedelta(milliseconds=1)


def select(table: str = "feed_spool") -> str:
    """Give the column list of a SELECT that `spool_of` reads."""
    return ", ".join(f'{table}."{name}"' for name in ("spool", *FACTS))


def spool_of(row: Sequence[Any], holes: Iterable[Hole] = ()) -> Spool:
    """Read the columns of `select`, and the holes that the spool had."""
    name, *values = row
    facts: dict[str, Any] = {
        column: bulk.as_time(value) if value is not None and column in _TIMES else value
        for column, value in zip(FACTS, values, strict=True)
    }
    skew_ms, marks = facts.pop("skew_ms"), json.loads(facts.pop("marks"))
    owners, disputes = json.loads(facts.pop("owners")), json.loads(facts.pop("disputes"))
    return Spool(
        name=name,
        holes=tuple(sorted(holes)),
        skew=None if skew_ms is None else skew_ms * MILLISECOND,
        marks=tuple(Mark(number, _time(at)) for number, at in marks),
        owners=tuple(owners),
        disputes=tuple(_dispute(*one) for one in disputes),
        **facts,
    )


def row_of(
    project_id: int, spool: Spool, leaf: int, until_leaf: int | None = None
) -> tuple[object, ...]:
    """Give the row of a spool as a leaf left it, in the order of `COLUMNS`."""
    facts = {name: getattr(spool, name, None) for name in FACTS}
    facts["skew_ms"] = None if spool.skew is None else spool.skew // MILLISECOND
    facts["marks"] = json.dumps([[one.number, rfc3339(one.at)] for one in spool.marks])
    facts["owners"] = json.dumps(spool.owners)
    facts["disputes"] = json.dumps([_told(one) for one in spool.disputes])
    span = span_of(leaf, until_leaf) if until_leaf is not None else _span_now(spool)
    place = (
        project_id, spool.name, leaf, until_leaf, span, spool.is_settled,
        producer_of(spool.name), spool.is_numbered,
    )  # fmt: skip
    return (*place, *facts.values())


def span_of(leaf: int, until_leaf: int) -> int:
    """Give how many binary digits a time in force has."""
    return (until_leaf - leaf).bit_length()


def _span_now(spool: Spool) -> int | None:
    return 0 if spool.is_settled else None


def _told(one: Dispute) -> list[object]:
    runs = [[run.first, run.last, rfc3339(run.at)] for run in one.runs]
    return [one.token, rfc3339(one.since), runs]


def _dispute(token: int | None, since: str, runs: Iterable[Sequence[Any]]) -> Dispute:
    return Dispute(token, _time(since), tuple(Run(a, b, _time(at)) for a, b, at in runs))


def _time(text: str) -> Any:
    return plain.time_of(text)
