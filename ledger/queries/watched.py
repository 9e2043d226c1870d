"""Since when, and for which times, sources were watched."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Any

from kit import bulk
from ledger.domain.names import column
from ledger.domain.reconcile import Span
from ledger.queries.as_of import AsOf

Document = dict[str, Any]
Source = tuple[str, str]
_SPANS = (
    "SELECT system, instance, first_at, last_at FROM watched_span "
    "WHERE project_id = %s AND leaf_index <= %s ORDER BY first_at, leaf_index"
)

_LIVE = (
    "SELECT first_at FROM watched_span WHERE project_id = %s AND system = %s AND instance = %s "
    "AND last_at IS NULL"
)


def spans_of(project_id: int, as_of: AsOf, sources: Collection[Source] = ()) -> list[Span]:
    """Give the spans of some sources, the earliest first; of all where none is named.

    Of all, too, where none of those that are named has any.
    """
    rows = bulk.select_rows(_SPANS, [project_id, as_of.leaf])
    wanted = {(column(system), column(instance)) for system, instance in sources}
    chosen = [row for row in rows if (row[0], row[1]) in wanted] or rows
    return [
        Span(
            "/".join(part for part in (system, instance) if part),
            bulk.as_time(first),
            None if last is None else bulk.as_time(last),
        )
        for system, instance, first, last in chosen
    ]


def since(project_id: int, as_of: AsOf, sources: Collection[Source] = ()) -> datetime | None:
    """Give the first moment for which the ledger could know; None where nothing was watched."""
    spans = spans_of(project_id, as_of, sources)
    return spans[0].first if spans else None


def live_since(project_id: int, source: Source) -> datetime | None:
    """Give when the first live receipt of a source came; None where none has been read."""
    found = [
        bulk.as_time(first)
        for (first,) in bulk.select_rows(_LIVE, [project_id, *map(column, source)])
    ]
    return found[0] if found else None


def source_documents(project_id: int, as_of: AsOf) -> list[Document]:
    """Give each source with its first watched moment, and where it is from, the earliest first."""
    grouped: dict[str, list[Span]] = defaultdict(list)
    for span in spans_of(project_id, as_of):
        grouped[span.source].append(span)
    return [
        {
            "source": source or None,
            "watched_since": spans[0].first,
            "live_since": next((one.first for one in spans if one.last is None), None),
            "imports": [
                {"from": one.first, "to": one.last} for one in spans if one.last is not None
            ],
        }
        for source, spans in grouped.items()
    ]
