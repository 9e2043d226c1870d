"""Installations: what is watched of each, where its buses stand, and what is not watched."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from events.domain.times import micros, moment, moment_or_none
from events.queries import bus_documents, buses, findings, rows
from events.queries.rows import Document
from kit import bulk, counts, keyset
from ledger.queries.as_of import AsOf

LIST = "installations"
RECENT = timedelta(hours=24)
CROSS_SHOWN = 50
REPLICAS = 500
COLUMNS = "installation, name, alias_of, since_leaf, last_leaf"


def list_installations(project_id: int, cut: AsOf, limit: int, cursor: str) -> Document:
    """Give a page of installations by name, each with its buses and their lanes."""
    after = [str(one) for one in keyset.decode(cursor, LIST, (str,)).values] if cursor else []
    placed = " AND installation > %s" if after else ""
    found = rows.select(
        COLUMNS,
        f"FROM bus_installation WHERE project_id = %s{placed} ORDER BY installation LIMIT %s",
        [project_id, *after, limit + 1],
    )
    page, has_more = keyset.take(found, limit)
    return {
        "items": sorted(_summaries(project_id, page, cut), key=lambda one: str(one["name"])),
        "next": keyset.encode(keyset.Cursor((page[-1]["installation"],)), LIST)
        if has_more
        else None,
        "newer": 0,
        "count": counts.capped(
            "SELECT 1 FROM bus_installation WHERE project_id = %s", [project_id], as_of=cut.at
        ),
        **bus_documents.around_list(project_id, cut),
    }


def get_installation(project_id: int, installation: str) -> Document:
    """Give the row of an installation; raises a problem for an id that is none."""
    where = "FROM bus_installation WHERE project_id = %s AND installation = %s"
    found = rows.select(COLUMNS, where, [project_id, installation])
    if not found:
        detail = "No receipt of this project told of an installation with this id."
        raise rows.missing("installation", detail)
    return found[0]


def installation_document(project_id: int, installation: str, cut: AsOf) -> Document:
    """Give one installation, with what was found across it and others."""
    row = get_installation(project_id, installation)
    (summary,) = _summaries(project_id, [row], cut)
    return {
        **summary,
        "aliases": _aliases(project_id, installation),
        "cross": findings.crossing(project_id, row["name"], cut, CROSS_SHOWN),
        **bus_documents.around_page(project_id, cut),
    }


def bus_rows(project_id: int, installations: Sequence[str]) -> list[Document]:
    """Give the rows of the buses of some installations, by name."""
    where = (
        "FROM bus WHERE project_id = %s AND installation_id IN "
        f"({rows.marks(installations)}) ORDER BY name, bus"
    )
    return rows.select(buses.BUS, where, [project_id, *installations])


def _summaries(project_id: int, found: Sequence[Document], cut: AsOf) -> list[Document]:
    """Give installations with their buses, by a fixed number of statements."""
    own = [row["installation"] for row in found]
    listed = bus_rows(project_id, own)
    names = [row["bus"] for row in listed]
    lanes = _by("bus", buses.lanes_of(project_id, names))
    tallies = findings.tally_of(project_id, names, cut)
    crossed = findings.crossed(project_id, cut)
    unwatched = _unwatched(project_id, names, cut)
    replicas = _by("installation_id", _replicas(project_id, own))
    heard = _by("installation_id", listed)
    return [
        {
            "id": row["installation"],
            "name": row["name"],
            "alias_of": row["alias_of"] or None,
            "buses": [
                {
                    **bus_documents.bus_summary(bus, lanes[bus["bus"]]),
                    "findings": tallies[bus["bus"]],
                    "crossed": crossed.get((row["name"], bus["name"]), []),
                    "unwatched": unwatched.get(bus["bus"], _NOTHING),
                }
                for bus in heard[row["installation"]]
            ],
            "replicas": [_replica(one) for one in replicas[row["installation"]]],
            "last_at": _latest(heard[row["installation"]]),
        }
        for row in found
    ]


def _by(name: str, found: Iterable[Document]) -> dict[str, list[Document]]:
    grouped: dict[str, list[Document]] = defaultdict(list)
    for row in found:
        grouped[row[name]].append(row)
    return grouped


def _latest(heard: Sequence[Document]) -> Any:
    times = [row["last_at"] for row in heard if row["last_at"] is not None]
    return moment(max(times)) if times else None


_NOTHING: Document = {"holes": 0, "seconds": 0.0, "last_at": None}


def _unwatched(project_id: int, names: Sequence[str], cut: AsOf) -> dict[str, Document]:
    """Say of each bus how long its lanes were not watched in the last 24 hours."""
    since = micros(cut.at - RECENT)
    found = bulk.select_rows(
        "SELECT bus, count(*), sum(to_at - from_at), max(to_at) FROM bus_hole "  # noqa: S608
        f"WHERE project_id = %s AND bus IN ({rows.marks(names)}) AND from_at >= %s GROUP BY bus",
        [project_id, *names, since],
    )
    return {
        bus: {"holes": count, "seconds": round(int(length) / 1e6, 3), "last_at": moment(last)}
        for bus, count, length, last in found
    }


def _replicas(project_id: int, installations: Sequence[str]) -> list[Document]:
    where = (
        f"FROM bus_replica WHERE project_id = %s AND installation_id IN "
        f"({rows.marks(installations)}) ORDER BY installation_id, replica LIMIT {REPLICAS}"
    )
    columns = "installation_id, replica, phase, heartbeat_phase, namespace, started_at, sampled_at"
    return rows.select(columns, where, [project_id, *installations])


def _replica(row: Document) -> Document:
    return {
        "replica": row["replica"],
        "phase": row["phase"] or None,
        "heartbeat_phase": row["heartbeat_phase"] or None,
        "namespace": row["namespace"] or None,
        "started_at": moment_or_none(row["started_at"]),
        "sampled_at": moment(row["sampled_at"]),
    }


def _aliases(project_id: int, installation: str) -> list[Document]:
    """Give what people said of an installation's other names, the newest first."""
    where = (
        "FROM bus_setting WHERE project_id = %s AND subject = %s AND verb = 'alias' "
        "ORDER BY leaf_index DESC LIMIT 20"
    )
    found = rows.select("leaf_index, data, at, actor", where, [project_id, installation])
    refs = rows.refs_of(project_id, [row["leaf_index"] for row in found])
    return [
        {
            "alias": str(json.loads(row["data"]).get("alias") or ""),
            "at": moment(row["at"]),
            "actor": row["actor"] or None,
            "ref": refs.get(row["leaf_index"]),
        }
        for row in found
    ]
