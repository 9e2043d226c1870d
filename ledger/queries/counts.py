"""Counts from roll-ups: each row with the query that lists what it counts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from kit import bulk
from kit.http import ProblemError, bad_query
from kit.search import Query, Term, moment, render
from ledger.domain.leaf import rfc3339
from ledger.domain.names import column
from ledger.projectors.roll_ups import BUCKET_S, EPOCH, bucket_of
from ledger.queries import feeds, heads
from ledger.queries.conditions import Condition, source_condition

Document = dict[str, Any]
Sums = tuple[int, int]
"""How many receipts, and how many outcomes that stand in tallies."""
MOST_FIELDS = 3
MOST_ROWS = 1_000
FACETS = {"kind": "kind", "task": "task", "queue": "queue", "source": "system", "reason": "reason"}
_BUCKETS = {"5m": BUCKET_S, "1h": 3_600, "1d": 86_400}


def counts_document(
    project_id: int, query: Query, by: list[str], bucket: str, now: datetime
) -> Document:
    """Count receipts by at most three facets, and by time when a bucket is asked for.

    Times are cut to five minutes, as the roll-ups are; what a row's `q` lists is the same count.
    `tallied` counts what stands in tallies, as the kind that receipts of their own would have had.
    """
    _check(query, by, bucket)
    start, end = _span(query, now)
    conditions, parameters = _where(project_id, query, start, end)
    columns = [_column(name) for name in by]
    rows = _rows(columns, conditions, parameters, by_time=bool(bucket))
    counted = _counted(rows, by, bucket, query, (start, end))
    reach = heads.reach_of(project_id)
    feed = feeds.feed_at(project_id, feeds.now_of(now))
    whole = reach.lag == 0 and len(counted) <= MOST_ROWS
    return {
        "items": counted[:MOST_ROWS],
        "window": {
            "from": start,
            "to": end or reach.derived_at,
            "complete": whole and feeds.is_whole(feed),
            "lag": reach.lag,
        },
        "method": "exact",
        "feed": feed,
        "as_of": now,
    }


def facet_rows(project_id: int, after: datetime, now: datetime) -> dict[str, list[Document]]:
    """Count by kind and by reason since a moment, with one statement.

    Reasons are those of skips: a fail or an act may have a reason too.
    """
    since = Query((Term("after", (rfc3339(after),)),))
    skips = Query((Term("kind", ("skip",)), *since.terms))
    span = _span(since, now)
    rows = _rows(["kind", "reason"], *_where(project_id, since, *span), by_time=False)
    kinds = [(kind, *sums) for kind, _, *sums in rows]
    reasons = [(reason, *sums) for kind, reason, *sums in rows if kind == "skip"]
    return {
        "kind": _by_receipts(_counted(kinds, ["kind"], "", since, span)),
        "reason": _by_receipts(_counted(reasons, ["reason"], "", skips, span)),
    }


def _by_receipts(rows: list[Document]) -> list[Document]:
    """Sort rows by what their lists hold: a facet shows no tallied outcomes."""
    return sorted(rows, key=lambda row: -int(row["count"]))


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
    return "system || '/' || instance" if name == "source" else FACETS[name]


Bound = datetime | None


def _span(query: Query, now: datetime) -> tuple[Bound, Bound]:
    """Give the time that all terms of the query leave, cut to the roll-ups' five minutes."""

    def moments(name: str) -> list[list[datetime]]:
        terms = [term for term in query.terms if term.name == name]
        return [[bucket_of(moment(value, now)) for value in term.values] for term in terms]

    starts, ends = moments("after"), moments("before")
    start = max(min(times) for times in starts) if starts else None
    return start, min(max(times) for times in ends) if ends else None


def _where(project_id: int, query: Query, start: Bound, end: Bound) -> tuple[list[str], list[Any]]:
    conditions, parameters = ["project_id = %s"], [project_id]
    values: list[Any] = list(parameters)
    for sign, bound in ((">=", start), ("<", end)):
        if bound is not None:
            conditions.append(f"bucket_at {sign} %s")
            values.append(bound)
    for term in query.terms:
        if term.name in FACETS:
            met = [_facet(term.name, value) for value in term.values]
            conditions.append(f"({' OR '.join(condition for condition, _ in met)})")
            values.extend(one for _, found in met for one in found)
    return conditions, values


def _facet(name: str, value: str) -> Condition:
    if name == "source":
        return source_condition(value, "")
    return f"{FACETS[name]} = %s", [column(value)]


def _rows(
    columns: list[str], conditions: list[str], parameters: list[Any], *, by_time: bool
) -> list[tuple[Any, ...]]:
    chosen = [*(["bucket_at"] if by_time else []), *columns]
    numbers = ", ".join(str(at) for at in range(1, len(chosen) + 1))
    statement = (
        f"SELECT {', '.join(chosen)}, sum(count), sum(tallied) FROM roll_up "  # noqa: S608
        f"WHERE {' AND '.join(conditions)} GROUP BY {numbers}"
    )
    return bulk.select_rows(statement, parameters)


def _counted(
    rows: Sequence[tuple[Any, ...]],
    by: list[str],
    bucket: str,
    query: Query,
    span: tuple[Bound, Bound],
) -> list[Document]:
    """Sum rows and give each sum with its query, the greatest first."""
    base = [term for term in query.terms if term.name not in ("after", "before")]
    found = _fold(rows, by, _BUCKETS.get(bucket, 0))
    ordered = sorted(found.items(), key=lambda one: (-sum(one[1]), one[0]))
    return [_row(key, sums, by, bucket, base, *span) for key, sums in ordered]


Key = tuple[str, ...]


def _fold(rows: Sequence[tuple[Any, ...]], by: list[str], seconds: int) -> dict[Key, Sums]:
    """Sum rows of five minutes into wider buckets; a key is the bucket's start and the facets."""
    found: dict[Key, Sums] = {}
    for row in rows:
        start = ""
        if seconds:
            at = bulk.as_time(row[0])
            start = rfc3339(at - (at - EPOCH) % timedelta(seconds=seconds))
        *_, count, tallied = row
        key = (start, *row[-2 - len(by) : -2])
        known = found.get(key, (0, 0))
        found[key] = (known[0] + int(count), known[1] + int(tallied))
    return found


def _row(
    key: Key,
    sums: Sums,
    by: list[str],
    bucket: str,
    base: list[Term],
    start: Bound,
    end: Bound,
) -> Document:
    values = dict(zip(by, key[1:], strict=True))
    terms = [term for term in base if term.name not in values]
    terms += [Term(name, (value,)) for name, value in values.items()]
    shown = {
        name: value.removesuffix("/") if name == "source" else value
        for name, value in values.items()
    }
    document: Document = {**shown, "count": sums[0], "tallied": sums[1]}
    if key[0]:
        at = datetime.fromisoformat(key[0])
        start, end = _within(at, _BUCKETS[bucket], start, end)
        document["bucket"] = at
    if start is not None:
        terms.append(Term("after", (rfc3339(start),)))
    if end is not None:
        terms.append(Term("before", (rfc3339(end),)))
    document["q"] = render(terms)
    return document


def _within(at: datetime, seconds: int, start: Bound, end: Bound) -> tuple[Bound, Bound]:
    """Cut a bucket to what was asked for: the first and the last may be only partly counted."""
    first = at if start is None else max(at, start)
    # The last bucket of the year 9999 has no end that can be written.
    width = timedelta(seconds=seconds)
    last = at + width if at <= datetime.max.replace(tzinfo=UTC) - width else None
    return first, min((one for one in (last, end) if one is not None), default=None)
