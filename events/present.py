"""Documents about buses made ready for templates: addresses and words beside the facts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from access.rows import ProjectRow
from events.domain.finding_rules import RULES
from events.domain.findings import CRITICAL, NOTE, WARNING
from events.domain.records import SECOND
from events.domain.times import moment
from events.queries.finding_words import mark_of
from events.twin import moved
from kit.http import rfc3339
from ledger.present import address

Document = dict[str, Any]
TONES = {CRITICAL: "bad", WARNING: "gap", NOTE: "plain"}
_AROUND = timedelta(minutes=1)


def severity_tone(severity: str) -> str:
    """Give the tone of a severity."""
    return TONES.get(severity, "plain")


def counted(project: ProjectRow, bus: str, tallies: Sequence[Document]) -> list[Document]:
    """Give what was found on a bus, counted by code, with the lists that the numbers open."""
    return [
        {
            **one,
            "tone": severity_tone(one["severity"]),
            "word": mark_of(one["code"]).word,
            "label": _times(mark_of(one["code"]).word, one["incidents"]),
            "icon": mark_of(one["code"]).icon,
            "url": address(project, "buses", bus, "findings", code=one["code"]),
        }
        for one in tallies
    ]


def _times(word: str, count: int) -> str:
    return word if count == 1 else f"{word}, {count:,} times"


def lane(project: ProjectRow, one: Document) -> Document:
    """Give a lane of a list with its addresses."""
    return {
        **one,
        "url": address(project, "lanes", one["id"]),
        "buffer_url": address(project, "lanes", one["id"], "buffer"),
        "resume_url": address(project, "lanes", one["id"], "resume"),
    }


def bus(project: ProjectRow, one: Document) -> Document:
    """Give a bus of a list with its lanes and what was found, counted."""
    found = counted(project, one["id"], one.get("findings", []))
    return {
        **one,
        "url": address(project, "buses", one["id"]),
        "findings_url": address(project, "buses", one["id"], "findings"),
        "installation_url": address(project, "installations", one["installation_id"]),
        "lanes": [lane(project, each) for each in one["lanes"]],
        "findings": found,
        "crossed": [
            {
                **each,
                "tone": severity_tone(each["severity"]),
                "label": f"seen in {each['installation']} too: {mark_of(each['code']).word}",
                "icon": mark_of(each["code"]).icon,
                "url": address(project, "findings", each["finding"]),
            }
            for each in one.get("crossed", [])
        ],
        "findings_count": sum(each["count"] for each in found),
        "worst": found[0] if found else None,
    }


def installation(project: ProjectRow, one: Document) -> Document:
    """Give an installation of a list."""
    tail = ("installations", one["id"])
    return {
        **one,
        "url": address(project, *tail),
        "rollout_url": address(project, *tail, "rollout"),
        "resets_url": address(project, *tail, "resets"),
        "resumes_url": address(project, *tail, "resumes"),
        "buses": [bus(project, each) for each in one["buses"]],
    }


def finding(project: ProjectRow, one: Document) -> Document:
    """Give a finding with its stable address, and the places that show what it is about."""
    mark = mark_of(one["code"])
    return {
        **one,
        "tone": severity_tone(one["severity"]),
        "word": mark.word,
        "icon": mark.icon,
        "url": address(project, "findings", one["finding"]),
        "bus_url": address(project, "buses", one["bus_id"]),
        "lane_url": address(project, "lanes", one["lane"]) if one["lane"] else "",
        "timeline_url": timeline_url(project, one),
        "list_url": address(project, "buses", one["bus_id"], "findings", code=one["code"]),
        "buffer_url": _buffer_url(project, one),
        "receipt_url": address(project, "receipts", one["ref"]) if one["ref"] else "",
        "rule_words": RULES.get(one["rule"], one["rule"].replace("_", " ")),
        "told": [_fact(*told) for told in one["facts"].items() if told[0] not in _PLACES],
    }


_PLACES = ("leaf", "row", "space")
_FACTS = {"high": "high-water mark before", "more": "more in that minute"}
_TIMES = ("_at", "_from", "since")


def _fact(name: str, value: object) -> Document:
    """Give what a detector noted beside a finding; times are microseconds there."""
    is_time = isinstance(value, int) and name.endswith(_TIMES) and value > SECOND * SECOND
    at = moment(value) if is_time and isinstance(value, int) else None
    return {"name": _FACTS.get(name, name.replace("_", " ")), "value": value, "at": at}


def timeline_url(project: ProjectRow, one: Document) -> str:
    """Give the address of the timeline a minute around a finding."""
    begin, end = (rfc3339(moved(one["at"], step)) for step in (-_AROUND, _AROUND))
    asked = {"from": begin, "to": end, "finding": one["finding"]}
    return address(project, "buses", one["bus_id"], **asked)


def _buffer_url(project: ProjectRow, one: Document) -> str:
    if not one["lane"]:
        return ""
    return address(
        project, "lanes", one["lane"], "buffer", channel=one["channel"] or "", at=rfc3339(one["at"])
    )


def timeline(project: ProjectRow, document: Document) -> Document:
    """Give a timeline with what its findings are called."""
    return {
        **document,
        "findings": [
            {
                **one,
                "tone": severity_tone(one["severity"]),
                "word": mark_of(one["code"]).word,
                "icon": mark_of(one["code"]).icon,
                "url": address(project, "findings", one["id"]),
            }
            for one in document["findings"]
        ],
    }


def code(name: str | None) -> Document | None:
    """Give the words of a code, None where answer and rule agree."""
    if not name:
        return None
    mark = mark_of(name)
    return {"tone": severity_tone(mark.severity), "word": mark.word, "icon": mark.icon}


def following(
    project: ProjectRow, parts: Sequence[str], asked: Mapping[str, str], cursor: str | None
) -> str:
    """Give the address of the next page of a list, empty on the last."""
    if cursor is None:
        return ""
    return address(project, *parts, **{**asked, "cursor": cursor})


def facets(
    project: ProjectRow, bus: str, found: Sequence[Document], asked: Mapping[str, str]
) -> list[Document]:
    """Give the codes that were found on a bus as links that narrow its list."""
    return [
        {
            **one,
            "current": one["code"] == asked["code"],
            "url": address(project, "buses", bus, "findings", **{**asked, "code": one["code"]}),
        }
        for one in found
    ]
