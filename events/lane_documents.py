"""The answers about lanes as documents: where one stands, its buffer, and what a resume gets."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

from events.asking import bad, number_of, text_of, time_of
from events.documents import find_cut
from events.domain import profiles
from events.domain.profiles import ACTIVITY_PROFILES, WATCH_PROFILES
from events.domain.times import micros
from events.queries import buffer, bus_documents, lanes, resumes
from events.queries.buffer_view import View
from events.queries.lanes import LaneView
from events.queries.resumes import VERSIONS, Cursor
from kit import http

Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address of a lane asks for: texts, empty where nothing is said."""

    channel: str = ""
    at: str = ""
    beside: str = ""
    cursor: str = ""
    limit: str = ""
    as_of: str = ""


def lane(project_id: int, name: str, as_of_text: str = "") -> Document:
    """Give one lane."""
    view = lanes.view_of(project_id, name, find_cut(project_id, as_of_text))
    return lanes.lane_document(view, lanes.channels_of(view))


def lane_buffer(project_id: int, name: str, asked: Asked) -> Document:
    """Give one page of a lane's replay buffer."""
    found = lanes.view_of(project_id, name, find_cut(project_id, asked.as_of))
    return buffer_of(found, lanes.channels_of(found), asked)


def buffer_of(found: LaneView, channels: list[Document], asked: Asked) -> Document:
    """Give one page of the replay buffer of a lane that is loaded."""
    limit = number_of("limit", asked.limit, 1, buffer.MOST, buffer.USUAL)
    view = view_of(found, channels, asked)
    document = buffer.buffer_document(view, _beside(found, asked), limit, asked.cursor)
    return {
        **document,
        "channels": [lanes.channel_document(one) for one in channels],
        **bus_documents.around_page(found.project_id, found.cut),
    }


def view_of(found: LaneView, channels: list[Document], asked: Asked) -> View:
    """Give a buffer as it is asked for: of the channel heard last where none is named."""
    channel = text_of("channel", asked.channel)
    if not channel and channels:
        channel = channels[0]["scope"]
    at = time_of("at", asked.at, found.cut.at)
    return View(
        project_id=found.project_id,
        lane=found.lane,
        settings=bus_documents.settings_of(found.bus),
        lanes=found.lanes,
        spaces=found.spaces,
        channel=channel,
        at=micros(found.cut.at) if at is None else at,
        end=found.end,
    )


def _beside(found: LaneView, asked: Asked) -> Document | None:
    """Give the lane that is set beside; raises a problem for one that is not of the same bus."""
    if not asked.beside:
        return None
    others = [one for one in [*found.lanes, *found.told] if one["lane"] != found.lane["lane"]]
    beside = next((one for one in others if one["lane"] == asked.beside), None)
    if beside is None:
        raise bad("beside", "`beside` takes the id of another lane of the same bus.")
    return beside


@dataclass(frozen=True, slots=True)
class Asking:
    """A resume that is tried: a cursor, bare or with its epoch, at a moment, of a version or all.

    Texts as in an address; `7:900` is the cursor 900 of epoch 7.
    """

    cursor: str
    epoch: str = ""
    at: str = ""
    version: str = ""
    channel: str = ""
    as_of: str = ""

    def place(self) -> Cursor:
        """Give the place that it names; raises a problem where there is none."""
        text, epoch = text_of("cursor", self.cursor), text_of("epoch", self.epoch)
        if not text:
            raise bad("cursor", "`cursor` takes what a client would send, such as 650 or 7:900.")
        named, _, number = text.rpartition(":")
        if named and not epoch and number.isdecimal():
            return Cursor(number, named)
        return Cursor(text, epoch or None)

    def versions(self, profile: str) -> list[str]:
        """Give the versions to be modelled: the one asked for, or all of a bus of that kind."""
        if profile in WATCH_PROFILES:
            return [profile]
        if not self.version:
            return list(ACTIVITY_PROFILES) if profile in ACTIVITY_PROFILES else []
        found = profiles.find_profile(self.version)
        if found not in ACTIVITY_PROFILES:
            named = ", ".join(f"{short} or {name}" for name, short in VERSIONS.items())
            raise bad("version", f"`version` takes {named}.")
        return [found]


def lane_resume(project_id: int, name: str, asking: Asking) -> Document:
    """Tell what a client that resumes would get of a lane, by the rule and by each version."""
    place = asking.place()
    found = lanes.view_of(project_id, name, find_cut(project_id, asking.as_of))
    channels = lanes.channels_of(found)
    return resume_of(found, channels, asking, place)


def resume_of(found: LaneView, channels: list[Document], asking: Asking, place: Cursor) -> Document:
    """Tell what a client would get of a lane that is loaded."""
    versions = asking.versions(found.lane["profile"])
    view = view_of(found, channels, Asked(channel=asking.channel, at=asking.at))
    bench = resumes.bench_of(view, versions)
    return {
        **resumes.resume_document(bench, place, found.cut),
        "as_of": {"leaf_index": str(found.cut.leaf), "time": found.cut.at},
    }


@dataclass(frozen=True, slots=True)
class Export:
    """A buffer as NDJSON: its lines, the digest of those before the last, how many there are."""

    content: bytes
    digest: str
    count: int


def lane_export(project_id: int, name: str, asked: Asked) -> Export:
    """Write a whole replay buffer as NDJSON; its last line holds the digest of those before.

    It is made at once and not streamed, since its head names the digest too; a buffer is bounded.
    """
    found = lanes.view_of(project_id, name, find_cut(project_id, asked.as_of))
    view = view_of(found, lanes.channels_of(found), asked)
    lines = [http.json_bytes(one) + b"\n" for one in buffer.iter_export(view)]
    body = b"".join(lines)
    digest = hashlib.sha256(body).hexdigest()
    trailer = {
        "trailer": {
            "sha256": digest,
            "messages": len(lines),
            "lane": found.lane["lane"],
            "channel": view.channel or None,
            "at": view.moment,
            "basis": "reconstructed" if view.dump is None else "dumped",
        }
    }
    return Export(body + http.json_bytes(trailer) + b"\n", digest, len(lines))
