"""One bus: what it is, its lanes and their ID spaces, and how far it was read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from events.domain.times import moment, moment_or_none
from events.queries import rows
from events.queries.rows import Document
from ledger.queries import heads

STREAMS = "streams"
BUS = (
    "bus, installation_id, installation, name, profile, density, settings, settings_leaf, "
    "first_leaf, last_leaf, from_at, to_at, last_at, messages, frames, junk, refused, late"
)
LANE = (
    "lane, bus, installation, bus_name, replica, profile, incarnation, n, first_leaf, last_leaf, "
    "from_at, to_at, last_at, frame_at, messages, kept_from, segments, frames, junk, holes, "
    "refused, late, spaces, space, epoch, high_water, form"
)
SPACE = (
    "lane, ordinal, epoch, kind, born_at, last_at, first, last, least, greatest, count, parent, "
    "switch_id"
)


def get_bus(project_id: int, bus: str) -> Document:
    """Give the row of a bus; raises a problem for an id that is none."""
    found = rows.select(
        BUS, "FROM bus WHERE project_id = %s AND bus = %s", [project_id, bus]
    )  # fmt: skip
    if not found:
        raise rows.missing("bus", "No receipt of this project told of a bus with this id.")
    return found[0]


def lanes_of(project_id: int, buses: Sequence[str]) -> list[Document]:
    """Give the rows of the lanes of some buses, by replica."""
    where = f"FROM bus_lane WHERE project_id = %s AND bus IN ({rows.marks(buses)})"
    return rows.select(LANE, f"{where} ORDER BY bus, replica, lane", [project_id, *buses])


def spaces_of(project_id: int, lanes: Sequence[str], newest: int = 0) -> list[Document]:
    """Give the ID spaces of some lanes in the order of birth, or the newest of each."""
    where = f"FROM bus_space WHERE project_id = %s AND lane IN ({rows.marks(lanes)})"
    parameters: list[Any] = [project_id, *lanes]
    if newest:
        where += (
            " AND ordinal >= (SELECT spaces FROM bus_lane l WHERE l.project_id = "
            "bus_space.project_id AND l.lane = bus_space.lane) - %s"
        )
        parameters.append(newest)
    return rows.select(SPACE, f"{where} ORDER BY lane, ordinal", parameters)


def lane_summary(row: Document) -> Document:
    """Give where a lane stands."""
    return {
        "id": row["lane"],
        "replica": row["replica"],
        "profile": row["profile"],
        "epoch": row["epoch"],
        "high_water": rows.as_text(row["high_water"]),
        "form": row["form"] or None,
        "space": row["space"],
        "spaces": row["spaces"],
        "messages": row["messages"],
        "kept": row["messages"] - row["kept_from"],
        "frames": row["frames"],
        "junk": row["junk"],
        "holes": row["holes"],
        "refused": row["refused"],
        "late": row["late"],
        "first_at": moment(row["from_at"]),
        "watched_to": moment(row["to_at"]),
        "last_at": moment_or_none(row["last_at"]),
        "frame_at": moment_or_none(row["frame_at"]),
    }


def space_document(row: Document) -> Document:
    """Give one ID space of a lane."""
    numbers = ("first", "last", "least", "greatest", "switch_id")
    return {
        "id": f"{row['lane']}/{row['ordinal']}",
        "ordinal": row["ordinal"],
        "epoch": row["epoch"],
        "kind": row["kind"],
        "born_at": moment(row["born_at"]),
        "last_at": moment(row["last_at"]),
        "count": row["count"],
        "parent": None if row["parent"] is None else f"{row['lane']}/{row['parent']}",
        **{name: rows.as_text(row[name]) for name in numbers},
    }


def bus_summary(row: Document, lanes: Sequence[Document]) -> Document:
    """Give where a bus stands, with its lanes."""
    return {
        "id": row["bus"],
        "installation": row["installation"],
        "installation_id": row["installation_id"],
        "bus": row["name"],
        "profile": row["profile"],
        "density": row["density"],
        "messages": row["messages"],
        "frames": row["frames"],
        "junk": row["junk"],
        "refused": row["refused"],
        "late": row["late"],
        "first_at": moment(row["from_at"]),
        "watched_to": moment(row["to_at"]),
        "last_at": moment_or_none(row["last_at"]),
        "lanes": [lane_summary(lane) for lane in lanes],
    }


def settings_of(row: Document) -> Document:
    """Give the settings in force for a bus, with the defaults filled in."""
    found: Document = json.loads(row["settings"] or "{}")
    return found


def window_of(project_id: int) -> Document:
    """Say how far the tables of buses show the log."""
    reach = heads.reach_of(project_id, STREAMS)
    return {"complete": not reach.lag, "lag": reach.lag, "from": None, "to": reach.derived_at}
