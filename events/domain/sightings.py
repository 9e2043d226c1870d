"""Sightings: the findings that several lanes of a bus have of one thing are one incident.

A counter that restarts is seen by every replica that listens, and each of them has its finding.
They belong together when code, channel, epoch and id agree and one follows another of another lane
within the settle time (reference/events-and-loops.md section 4). What a client was answered is
never shared: two clients that were served wrongly are two incidents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

from events.domain.holes import SETTLE

Document = Mapping[str, Any]

ALONE = ("SILENT_SKIP", "AMBIGUOUS_RESUME", "NEEDLESS_RESYNC")
"""Codes of answers, each of which one client got."""
_SETTLE = timedelta(microseconds=SETTLE)


def incidents_of(findings: Iterable[Document]) -> list[list[Document]]:
    """Group findings of one bus into incidents, the one that began last first.

    The findings of an incident are in order of time; those without a lane are alone.
    """
    alike: dict[tuple[Any, ...], list[list[Document]]] = defaultdict(list)
    for one in sorted(findings, key=lambda one: (one["at"], one["finding"])):
        groups = alike[one["code"], one["channel"], one["epoch"], one["id"]]
        if groups and _is_same(groups[-1][-1], one):
            groups[-1].append(one)
        else:
            groups.append([one])
    found = [group for groups in alike.values() for group in groups]
    return sorted(found, key=lambda group: (group[0]["at"], group[0]["finding"]), reverse=True)


def _is_same(before: Document, one: Document) -> bool:
    if one["code"] in ALONE or before["lane"] == one["lane"]:
        return False
    return bool(one["at"] - before["at"] <= _SETTLE)


def replicas_of(incident: Iterable[Document]) -> list[str]:
    """Name the replicas that saw an incident, each once, in order of their names."""
    return sorted({one["replica"] for one in incident if one["replica"]})
