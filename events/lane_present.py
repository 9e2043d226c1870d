"""Documents about lanes made ready for templates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from access.rows import ProjectRow
from kit.http import rfc3339
from ledger.present import address

Document = dict[str, Any]


def lane(project: ProjectRow, document: Document, asked: Mapping[str, str]) -> Document:
    """Give a lane with its channels, its siblings and its addresses."""
    own = ("lanes", document["id"])
    kept = {name: asked[name] for name in ("channel", "at", "as_of")}
    return {
        **document,
        "bus_url": address(project, "buses", document["bus_id"]),
        "read_from_url": address(project, "lanes", document["read_from"]["id"], "buffer", **kept)
        if document["read_from"]
        else "",
        "late_label": f"{document['late']:,} late segment{'' if document['late'] == 1 else 's'}",
        "installation_url": address(project, "installations", document["installation_id"]),
        "spaces_count": document["spaces"],
        "spaces": document["spaces_shown"],
        "channels": [_channel(project, own, one, asked) for one in document["channels"]],
        "siblings": [
            {
                **one,
                "url": address(project, "lanes", one["id"], "buffer", **kept),
                "beside_url": address(project, *own, "buffer", **{**kept, "beside": one["id"]}),
                "current": one["id"] == asked["beside"],
            }
            for one in document["siblings"]
        ],
        "export_url": _export(project, document["id"], kept),
    }


def _channel(
    project: ProjectRow, own: tuple[str, str], one: Document, asked: Mapping[str, str]
) -> Document:
    name = one["channel"] or ""
    return {
        **one,
        "name": name,
        "current": name == asked["channel"],
        "url": address(project, *own, "buffer", channel=name, at=asked["at"]),
    }


def _export(project: ProjectRow, lane: str, kept: Mapping[str, str]) -> str:
    """Give the address of the export; the ending is no part of a segment."""
    path, _, query = address(project, "lanes", lane, "buffer", **kept).partition("?")
    return f"{path}.ndjson" + (f"?{query}" if query else "")


def urls(
    project: ProjectRow, lane: str, asked: Mapping[str, str], buffer: Document | None
) -> Document:
    """Give the addresses of a lane's views; later pages keep the moment of the first."""
    own = ("lanes", lane)
    kept = {name: asked[name] for name in ("channel", "at", "as_of")}
    paged = {**kept, "beside": asked["beside"], "limit": asked["limit"]}
    following = buffer["next"] if buffer else None
    at = rfc3339(buffer["at"]) if buffer else ""
    return {
        "lane": address(project, *own, as_of=asked["as_of"]),
        "buffer": address(project, *own, "buffer", **kept),
        "resume": address(project, *own, "resume", **kept),
        "export": _export(project, lane, {**kept, "at": at}),
        "newest": address(project, *own, "buffer", **paged) if asked["page"] else "",
        "next": address(project, *own, "buffer", **{**paged, "at": at, "cursor": following})
        if following
        else "",
    }


def resume(project: ProjectRow, document: Document, asked: Mapping[str, str]) -> Document:
    """Give the answers to a resume, with the addresses that try the others."""
    own = ("lanes", document["lane"], "resume")
    kept = {name: asked[name] for name in ("channel", "at", "version", "as_of")}

    def try_url(cursor: str, epoch: str | None, **more: str) -> str:
        return address(project, *own, **{**kept, **more}, cursor=cursor, epoch=epoch or "")

    return {
        **document,
        "probes": [
            {**one, "url": try_url(one["cursor"], one["epoch"])} for one in document["probes"]
        ],
        "givens": [
            {**one, "url": try_url(one["cursor"], one["epoch"], at=rfc3339(one["at"]))}
            for one in document["givens"]
        ],
    }
