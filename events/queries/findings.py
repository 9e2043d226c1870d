"""Findings of a bus: a page of them, one of them, and all that lie in a part of its timeline."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from events.domain.axis import Axis
from events.domain.findings import CRITICAL, NOTE, WARNING, Finding
from events.domain.times import micros, moment, moment_or_none
from events.queries import bus_documents, finding_words, incidents, rows
from events.queries.rows import Document
from kit import bulk, counts, keyset
from ledger.queries import lists
from ledger.queries.as_of import AsOf

LIST = "bus_findings"
CROSS = "cross"
MOST = 2_000
"""Findings of a timeline that are told one by one; more are told as clusters."""
COUNTED = 10_000
TALLIED_AT_ONCE = 100
"""Buses that one statement tallies: SQLite takes 500 parts of a statement at the most."""
COLUMNS = (
    "finding, origin, code, severity, at, due_at, closed_at, bus, lane, installation, bus_name, "
    "replica, scope, space, epoch, event_id, rule, facts, leaf_index, opened_leaf"
)
_STANDING = "f.due_at <= %s AND (f.closed_at IS NULL OR f.closed_at > f.due_at)"
_RANK = f"CASE f.severity WHEN '{CRITICAL}' THEN 0 WHEN '{WARNING}' THEN 1 ELSE 2 END"
_ORDER = "ORDER BY f.at DESC, f.finding DESC"
_TALLIED = ", ".join(f"f.{name}" for name in ("severity", *incidents.COLUMNS.split(", ")))


@dataclass(frozen=True, slots=True)
class Wanted:
    """A page of findings as it is asked for; empty texts narrow nothing."""

    bus: str
    cut: AsOf
    code: str = ""
    severity: str = ""
    lane: str = ""
    limit: int = lists.USUAL
    cursor: str = ""


def list_findings(project_id: int, wanted: Wanted) -> Document:
    """Give a page of findings, the newest first, in the list form of the contract."""
    where, parameters = _where(project_id, wanted)
    after, top = _place(wanted.cursor)
    placed = " AND (f.at, f.finding) < (%s, %s)" if after else ""
    found = _select(f"{where}{placed} {_ORDER} LIMIT %s", [*parameters, *after, wanted.limit + 1])
    page, has_more = keyset.take(found, wanted.limit)
    top = top if top is not None else (page[0]["at"] if page else 0)
    return {
        "items": _documents(project_id, page),
        "next": _next(page[-1], top) if has_more else None,
        "newer": _newer(where, parameters, top, wanted) if after else 0,
        "count": _count(where, parameters, wanted),
        **bus_documents.around_list(project_id, wanted.cut),
    }


def get_finding(project_id: int, finding: str, cut: AsOf) -> Document:
    """Give one finding by its id; raises a problem for one that is none, or not yet."""
    in_force, leaves = _in_force(cut)
    where = f"FROM bus_finding f WHERE f.project_id = %s AND f.finding = %s AND {in_force}"
    found = _select(where, [project_id, finding, *leaves])
    if not found:
        raise rows.missing("finding", "No detector of this project found anything with this id.")
    (document,) = _documents(project_id, found)
    return document


def in_range(
    project_id: int, bus: str, axis: Axis, cut: AsOf
) -> tuple[list[Document], list[Document]]:
    """Give the findings in a range in order of time, and clusters of those beyond the cap.

    None is left out: with more than the cap, the worst are told one by one and all others counted.
    """
    where, parameters = _where(project_id, Wanted(bus, cut))
    where, parameters = f"{where} AND f.at >= %s AND f.at < %s", [*parameters, axis.begin, axis.end]
    found = _select(
        f"{where} ORDER BY {_RANK}, f.at DESC, f.finding LIMIT %s", [*parameters, MOST + 1]
    )
    told, has_more = keyset.take(found, MOST)
    clusters = _clusters(where, parameters, axis, told) if has_more else []
    ordered = sorted(told, key=lambda row: (row["at"], row["finding"]))
    return _documents(project_id, ordered), clusters


def tally_of(project_id: int, names: Sequence[str], cut: AsOf) -> dict[str, list[Document]]:
    """Count what stands by bus, code and severity, among the newest of each bus, worst first.

    Findings and incidents are counted apart: what several lanes saw is one incident.
    """
    found: dict[str, list[Document]] = {name: [] for name in names}
    for start in range(0, len(names), TALLIED_AT_ONCE):
        for bus, *told in _tallied(project_id, names[start : start + TALLIED_AT_ONCE], cut):
            code, severity, *numbers = told
            found[bus].append({"code": code, "severity": severity, **_tally(*numbers)})
    return found


def _tallied(project_id: int, names: Sequence[str], cut: AsOf) -> list[tuple[Any, ...]]:
    parts: list[str] = []
    parameters: list[Any] = []
    for name in names:
        where, given = _where(project_id, Wanted(name, cut))
        newest = f"SELECT {_TALLIED} {where} {_ORDER} LIMIT {COUNTED}"
        parts.append(f"SELECT * FROM ({newest}) AS newest{len(parts)}")  # noqa: S608
        parameters += given
    return bulk.select_rows(
        "SELECT bus, code, severity, count(*), sum(opens), max(at) FROM "  # noqa: S608
        f"(SELECT bus, code, severity, at, {incidents.OPENS} AS opens "
        f"FROM ({' UNION ALL '.join(parts)}) AS newest {incidents.ALIKE}) AS told "
        f"GROUP BY bus, code, severity ORDER BY bus, {_RANK.replace('f.', '')}, code",
        parameters,
    )


def _tally(count: int, opened: int, newest: int) -> Document:
    return {"count": count, "incidents": int(opened), "newest_at": moment(newest)}


def crossing(project_id: int, installation: str, cut: AsOf, limit: int) -> list[Document]:
    """Give the newest findings between an installation and others, whichever side they name."""
    own = [
        row
        for row in _crossings(project_id, cut)
        if installation in (row["installation"], _other_of(row))
    ]
    return _documents(project_id, own[:limit])


def crossed(project_id: int, cut: AsOf) -> dict[tuple[str, str], list[Document]]:
    """Give what was found across installations by the name of the other one and of the bus.

    Such a finding is one of the installation where it showed; the other has as much to do with it.
    """
    found: dict[tuple[str, str], list[Document]] = {}
    for row in _crossings(project_id, cut):
        told = {name: row[name] for name in ("finding", "code", "severity", "installation")}
        found.setdefault((_other_of(row), row["bus_name"]), []).append(told)
    return found


def _crossings(project_id: int, cut: AsOf) -> list[Document]:
    """Give findings across installations, among the newest grave ones."""
    in_force, leaves = _in_force(cut)
    newest = (
        f"(SELECT * FROM bus_finding f WHERE f.project_id = %s AND f.severity = %s AND {in_force} "  # noqa: S608
        f"AND {_STANDING} ORDER BY f.due_at DESC LIMIT {COUNTED}) AS newest"
    )
    given = [project_id, CRITICAL, *leaves, micros(cut.at), CROSS]
    rest = f"FROM {newest} WHERE origin = %s ORDER BY due_at DESC, finding"
    return rows.select(COLUMNS, rest, given)


def _other_of(row: Document) -> str:
    return str(json.loads(row["facts"] or "{}").get("other", ""))


def _where(project_id: int, wanted: Wanted) -> tuple[str, list[Any]]:
    """Give FROM and WHERE of the findings of a bus that hold as of a leaf and a clock."""
    in_force, leaves = _in_force(wanted.cut)
    where = f"FROM bus_finding f WHERE f.project_id = %s AND f.bus = %s AND {in_force} "
    parameters: list[Any] = [project_id, wanted.bus, *leaves, micros(wanted.cut.at)]
    where += f"AND {_STANDING}"
    for name in ("code", "severity", "lane"):
        if value := getattr(wanted, name):
            where, parameters = f"{where} AND f.{name} = %s", [*parameters, value]
    return where, parameters


def _in_force(cut: AsOf) -> tuple[str, list[int]]:
    if cut.is_now:
        return "f.until_leaf IS NULL", []
    past = "f.leaf_index <= %s AND (f.until_leaf IS NULL OR f.until_leaf > %s)"
    return past, [cut.leaf, cut.leaf]


def _select(rest: str, parameters: Sequence[Any]) -> list[Document]:
    columns = ", ".join(f"f.{name}" for name in COLUMNS.split(", "))
    return rows.select(columns, rest, parameters)


def _place(cursor: str) -> tuple[list[Any], int | None]:
    """Give the values that a page goes on after, and the newest time of the first page."""
    if not cursor:
        return [], None
    at, finding, top = keyset.decode(cursor, LIST, (int, str, int)).values
    return [at, finding], int(str(top))


def _next(row: Document, top: int) -> str:
    return keyset.encode(keyset.Cursor((row["at"], row["finding"], top)), LIST)


def _count(where: str, parameters: Sequence[Any], wanted: Wanted) -> counts.Count:
    return counts.capped(f"SELECT 1 {where}", bulk.adapt(parameters), as_of=wanted.cut.at)


def _newer(where: str, parameters: Sequence[Any], top: int, wanted: Wanted) -> int:
    return _count(f"{where} AND f.at > %s", [*parameters, top], wanted).value


def _clusters(
    where: str, parameters: Sequence[Any], axis: Axis, told: Iterable[Document]
) -> list[Document]:
    """Count by code and pixel what is not told one by one."""
    pixel = f"(f.at - {axis.begin}) / {axis.bucket}"
    counted = bulk.select_rows(
        f"SELECT f.code, {pixel} AS pixel, count(*) {where} GROUP BY f.code, pixel "
        "ORDER BY pixel, f.code",
        parameters,
    )
    listed: dict[tuple[str, int], int] = {}
    for row in told:
        place = row["code"], (row["at"] - axis.begin) // axis.bucket
        listed[place] = listed.get(place, 0) + 1
    return [
        _cluster(axis, code, int(place), count - listed.get((code, int(place)), 0))
        for code, place, count in counted
        if count > listed.get((code, int(place)), 0)
    ]


def _cluster(axis: Axis, code: str, pixel: int, count: int) -> Document:
    begin = axis.begin + pixel * axis.bucket
    ends = axis.clip(begin + axis.bucket)
    return {"code": code, "count": count, "from_ms": axis.ms(begin), "to_ms": axis.ms(ends)}


def _documents(project_id: int, found: Sequence[Document]) -> list[Document]:
    refs = rows.refs_of(project_id, {row["opened_leaf"] for row in found})
    return [_document(row, refs) for row in found]


def _document(row: Document, refs: dict[int, str]) -> Document:
    finding = finding_of(row)
    mark = finding_words.mark_of(row["code"])
    return {
        "finding": row["finding"],
        "code": row["code"],
        "severity": row["severity"],
        "letter": mark.letter,
        "at": moment(row["at"]),
        "since": moment(row["due_at"]),
        "closed_at": moment_or_none(row["closed_at"]),
        "installation": row["installation"],
        "bus": row["bus_name"],
        "bus_id": row["bus"],
        "lane": row["lane"] or None,
        "replica": row["replica"] or None,
        "channel": row["scope"] or None,
        "band": f"{row['lane']}/{row['space']}" if row["lane"] and row["space"] >= 0 else None,
        "epoch": row["epoch"],
        "id": row["event_id"],
        "sentence": finding_words.sentence_of(finding),
        "rule": row["rule"],
        "facts": json.loads(row["facts"] or "{}"),
        "ref": refs.get(row["opened_leaf"]),
        "leaf_index": str(row["opened_leaf"]),
    }


def finding_of(row: Document) -> Finding:
    """Read a finding from its row."""
    return Finding(
        code=row["code"],
        severity=row["severity"],
        at=row["at"],
        installation=row["installation"],
        bus=row["bus_name"],
        rule=row["rule"],
        replica=row["replica"],
        scope=row["scope"],
        epoch=row["epoch"],
        id=None if row["event_id"] is None else int(row["event_id"]),
        due_at=row["due_at"],
        closed_at=row["closed_at"],
        facts=json.loads(row["facts"] or "{}"),
    )


SEVERITIES = (CRITICAL, WARNING, NOTE)
