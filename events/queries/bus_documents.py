"""Buses, lanes and ID spaces as documents."""

from __future__ import annotations

import json
from collections.abc import Sequence

from events.domain.times import moment, moment_or_none
from events.domain.told.names import BusName
from events.queries import rows, told_lanes
from events.queries.bus_settings import settings_at
from events.queries.buses import get_bus, lanes_of, spaces_of, totals_of
from events.queries.rows import Document
from ledger.queries import feeds, lists
from ledger.queries.as_of import AsOf

SPACES = 200


def lane_summary(row: Document) -> Document:
    """Give where a lane stands; of one known by its words alone the messages are another's."""
    if row.get("is_told"):
        row = {**row, **_UNSEEN}
    return {
        "id": row["lane"],
        "replica": row["replica"],
        "watched": not row.get("is_told"),
        "profile": row["profile"],
        "epoch": row["epoch"],
        "high_water": rows.as_text(row["high_water"]),
        "form": row["form"] or None,
        "space": row["space"],
        "spaces": row["spaces"],
        "messages": row["messages"],
        "kept": max(0, row["messages"] - row["held_from"]),
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


_UNSEEN = {
    **dict.fromkeys(("epoch", "high_water", "space", "last_at", "frame_at")),
    **dict.fromkeys(("spaces", "messages", "held_from", "frames", "junk", "holes"), 0),
    **{"refused": 0, "late": 0, "form": ""},
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
        "lanes_count": count_of(lanes),
    }


def count_of(lanes: Sequence[Document]) -> int:
    """Tell how many lanes a bus has of which these were read: with many, not all are."""
    told = sum(bool(one.get("is_told")) for one in lanes)
    return told + max((one["all_lanes"] for one in lanes if not one.get("is_told")), default=0)


def bus_at(project_id: int, bus: str, cut: AsOf) -> Document:
    """Give the row of a bus with the settings that were in force; raises where it was none yet."""
    row = get_bus(project_id, bus)
    if cut.is_now:
        return row
    if row["first_leaf"] >= cut.end:
        raise rows.missing("bus", f"Nothing was known of this bus as of {cut.label}.")
    found, leaf = settings_at(project_id, BusName(row["installation"], row["name"]), cut.end)
    return {
        **row,
        "profile": found.profile,
        "density": found.density,
        "settings": json.dumps(found.document),
        "settings_leaf": leaf,
    }


def bus_document(project_id: int, row: Document, cut: AsOf) -> Document:
    """Give one bus with its lanes, the newest ID spaces of each, and its findings, counted."""
    end = None if cut.is_now else cut.end
    lanes = lanes_of(project_id, [row["bus"]], end)
    spaces = spaces_of(project_id, [one["lane"] for one in lanes], end)
    told = told_lanes.told_lanes(project_id, row, lanes, end)
    return {
        **bus_summary(row if end is None else _past(project_id, row, end), [*lanes, *told]),
        "settings": settings_of(row),
        "settings_leaf": rows.as_text(row["settings_leaf"]),
        "spaces": [space_document(one) for one in spaces[::-1][:SPACES]],
        **around_page(project_id, cut),
    }


def _past(project_id: int, row: Document, end: int) -> Document:
    """Give the row of a bus as its lanes were."""
    found = totals_of(project_id, row["bus"], end)
    if found["from_at"] is None:
        found |= {"from_at": row["from_at"], "to_at": row["from_at"]}
    return {**row, **found}


def settings_of(row: Document) -> Document:
    """Give the settings in force for a bus, with the defaults filled in."""
    found: Document = json.loads(row["settings"] or "{}")
    return found


def window_of(cut: AsOf, feed: Document) -> Document:
    """Say how far the tables of buses show the log, and whether all that was sent is in it."""
    whole = not cut.lag and feeds.is_whole(feed)
    return {"complete": whole, "lag": cut.lag, "from": None, "to": cut.committed_at}


def around_page(project_id: int, cut: AsOf) -> Document:
    """Give what stands on every answer: as of when it is, how far it looks, what is missing."""
    feed = lists.feed_of(project_id, cut)
    return {
        "as_of": {"leaf_index": str(cut.leaf), "time": cut.at},
        "window": window_of(cut, feed),
        "feed": feed,
    }


def around_list(project_id: int, cut: AsOf) -> Document:
    """Give the same for a list, in the form of the contract."""
    feed = lists.feed_of(project_id, cut)
    return {"window": {**window_of(cut, feed), "searched": cut.end}, "feed": feed}
