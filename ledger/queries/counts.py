"""Counts from roll-ups: each row with the query that lists what it counts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from kit import bulk
from kit.http import ProblemError, bad_query
from kit.search import Query, Term, moment, render
from ledger.domain.leaf import rfc3339
from ledger.projectors.roll_ups import BUCKET_S, bucket_of
from ledger.queries import heads

Document = dict[str, Any]
MOST_FIELDS = 3
MOST_ROWS = 1_000
FACETS = {"kind": "kind", "task": "task", "queue": "queue", "source": "system", "reason": "reason"}
_BUCKETS = {"5m": BUCKET_S, "1h": 3_600, "1d": 86_400}


def counts_document(
    project_id: int, query: Query, by: list[str], bucket: str, now: datetime
) -> Document:
    """Count receipts by at most three facets, and by time when a bucket is asked for.

    Times are cut to five minutes, as the roll-ups are; what a row's `q` lists is the same count.
    """
    _check(query, by, bucket)
    conditions, parameters, start, end = _where(project_id, query, now)
    columns = [_column(name) for name in by]
    rows = _rows(columns, conditions, parameters, bool(bucket))
    base = [term for term in query.terms if term.name not in ("after", "before")]
    found = _fold(rows, by, _BUCKETS.get(bucket, 0))
    counted = [
        _row(key, count, by, bucket, base, start, end)
        for key, count in sorted(found.items(), key=lambda one: (-one[1], one[0]))
    ]
    reach = heads.reach_of(project_id)
    return {
        "items": counted[:MOST_ROWS],
        "window": {
            "from": start,
            "to": end or reach.derived_at,
            "complete": reach.lag == 0 and len(counted) <= MOST_ROWS,
            "lag": reach.lag,
        },
        "method": "exact",
        "as_of": now,
    }


def facet_rows(project_id: int, facet: str, after: datetime, now: datetime) -> list[Document]:
    """Count by one facet since a moment; for the overview and the list's margin."""
    query = Query((Term("after", (rfc3339(after),)),))
    return list(counts_document(project_id, query, [facet], "", now)["items"])


def _check(query: Query, by: list[str], bucket: str) -> None:
    if query.faults:
        raise bad_query(query)
    allowed = {*FACETS, "after", "before"}
    strange = [term.name for term in query.terms if term.name not in allowed or term.negated]
    strange += list(query.words)
    if strange:
        raise _bad(f"Counts are kept by {', '.join(FACETS)}, after and before; not {strange[0]}.")
    if not by or len(by) > MOST_FIELDS or len(set(by)) < len(by) or not set(by) <= set(FACETS):
        raise _bad(f"`by` takes one to {MOST_FIELDS} of {', '.join(FACETS)}.")
    if bucket and bucket not in _BUCKETS:
        raise _bad(f"`bucket` takes one of {', '.join(_BUCKETS)}.")


def _bad(detail: str) -> ProblemError:
    return ProblemError(400, "bad_counts", "This cannot be counted", detail)


def _column(name: str) -> str:
    if name == "source":
        return "CASE WHEN instance = '' THEN system ELSE system || '/' || instance END"
    return FACETS[name]


Bounds = tuple[list[str], list[Any], datetime | None, datetime | None]


def _where(project_id: int, query: Query, now: datetime) -> Bounds:
    conditions, parameters = ["project_id = %s"], [project_id]
    start = end = None
    values: list[Any] = list(parameters)
    for term in query.terms:
        if term.name == "after":
            start = bucket_of(moment(term.values[0], now))
            conditions.append("bucket_at >= %s")
            values.append(start)
        elif term.name == "before":
            end = bucket_of(moment(term.values[0], now))
            conditions.append("bucket_at < %s")
            values.append(end)
        else:
            marks = ", ".join(["%s"] * len(term.values))
            conditions.append(f"{_column(term.name)} IN ({marks})")
            values.extend(term.values)
    return conditions, values, start, end


def _rows(
    columns: list[str], conditions: list[str], parameters: list[Any], by_time: bool
) -> list[tuple[Any, ...]]:
    chosen = [*(["bucket_at"] if by_time else []), *columns]
    numbers = ", ".join(str(at) for at in range(1, len(chosen) + 1))
    statement = (
        f"SELECT {', '.join(chosen)}, sum(count) FROM roll_up "  # noqa: S608
        f"WHERE {' AND '.join(conditions)} GROUP BY {numbers}"
    )
    return bulk.select_rows(statement, parameters)


Key = tuple[str, ...]


def _fold(rows: list[tuple[Any, ...]], by: list[str], seconds: int) -> dict[Key, int]:
    """Sum rows of five minutes into wider buckets; a key is the bucket's start and the facets."""
    found: dict[Key, int] = {}
    for row in rows:
        start = ""
        if seconds:
            at = int(bulk.as_time(row[0]).timestamp()) // seconds * seconds
            start = rfc3339(datetime.fromtimestamp(at, bulk.as_time(row[0]).tzinfo))
        key = (start, *row[-1 - len(by) : -1])
        found[key] = found.get(key, 0) + int(row[-1])
    return found


def _row(
    key: Key,
    count: int,
    by: list[str],
    bucket: str,
    base: list[Term],
    start: datetime | None,
    end: datetime | None,
) -> Document:
    values = dict(zip(by, key[1:], strict=True))
    terms = [term for term in base if term.name not in values]
    terms += [Term(name, (value,)) for name, value in values.items()]
    document: Document = {**values, "count": count}
    if key[0]:
        at = datetime.fromisoformat(key[0])
        start, end = at, at + timedelta(seconds=_BUCKETS[bucket])
        document["bucket"] = at
    if start is not None:
        terms.append(Term("after", (rfc3339(start),)))
    if end is not None:
        terms.append(Term("before", (rfc3339(end),)))
    # A facet that is empty cannot be asked for: what has no task has none to name.
    document["q"] = None if "" in values.values() else render(terms)
    return document
