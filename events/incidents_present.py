"""Incidents made ready for templates: what several replicas saw of one thing, told once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from events.domain import sightings

Document = dict[str, Any]
_ICONS = {"bad": "triangle-alert", "gap": "diamond", "plain": "circle"}


def told_once(findings: Iterable[Document]) -> list[Document]:
    """Give the first finding of each incident, the newest first, with all who saw it."""
    return [
        {**group[0], "seen_by": sightings.replicas_of(group) if len(group) > 1 else []}
        for group in sightings.incidents_of(findings)
    ]


def marked(findings: Sequence[Document]) -> list[Document]:
    """Give findings as they stand, each with the replicas that saw the same incident beside it."""
    others: dict[str, list[str]] = {}
    for group in sightings.incidents_of(findings):
        names = sightings.replicas_of(group)
        others |= {
            one["finding"]: [name for name in names if name != one["replica"]] for one in group
        }
    return [{**one, "also_seen_by": others[one["finding"]]} for one in findings]


def counted(bus: Mapping[str, Any], count: Mapping[str, Any]) -> Document:
    """Count the findings and the incidents of a bus, in the tone of the worst.

    `bus` is one made ready for a template, `count` that of the list of its findings.
    """
    worst = bus["worst"]
    tone = worst["tone"] if worst else "done"
    incidents = sum(one["incidents"] for one in bus["findings"])
    more = "" if count["method"] == "exact" else " or more"
    words = _many(count["value"], "finding", more)
    if incidents and incidents != bus["findings_count"]:
        words = f"{_many(incidents, 'incident', more)}, {words}"
    return {
        "findings_count": count["value"],
        "incidents_count": incidents,
        "findings_words": words,
        "findings_tone": tone,
        "findings_icon": _ICONS.get(tone, "check"),
    }


def _many(count: int, noun: str, more: str) -> str:
    return f"{count:,}{more} {noun}{'' if count == 1 else 's'}"
