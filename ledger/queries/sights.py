"""In which ways the ledger learns of tasks, and which policy their sources record them by."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kit import bulk
from ledger.domain import policies, sights
from ledger.domain.names import column
from ledger.domain.policies import Policy
from ledger.projectors.policies import policy_from
from ledger.queries import tokens

Document = dict[str, Any]
Source = tuple[str, str]
_SIGHTS = (
    "SELECT task, system, instance, told, told_leaf, seen, skips FROM task_sight "
    "WHERE project_id = %s AND task IN ({values})"
)
_IN_FORCE = (
    "SELECT p.system, p.instance, p.leaf_index, p.receipt, p.at, p.version, p.each, p.tally, "
    "p.never, p.voice, p.token FROM policy_version p WHERE p.project_id = %s AND p.leaf_index = "
    "(SELECT o.leaf_index FROM policy_version o WHERE o.project_id = p.project_id "
    "AND o.system = p.system AND o.instance = p.instance AND o.voice = p.voice "
    "ORDER BY o.at DESC, o.leaf_index DESC LIMIT 1) ORDER BY p.system, p.instance, p.leaf_index"
)


@dataclass(slots=True)
class Seen:
    """What is known of how a task is seen, over all its sources."""

    told: set[str] = field(default_factory=set)
    seen: set[str] = field(default_factory=set)
    skips: set[str] = field(default_factory=set)
    sources: list[Source] = field(default_factory=list)

    def as_json(self) -> Document:
        """Give the ways, and the sentence that says what they come to."""
        return {
            "ways": {
                "told": sorted(self.told),
                "seen": sorted(self.seen),
                "skips": sights.skips_by(self.told, self.skips),
            },
            "sees": sights.sees(self.told, self.seen, self.skips),
        }


def find_sights(project_id: int, tasks: Iterable[str]) -> dict[str, Seen]:
    """Give how each task is seen, by its name as it stands in a column."""
    found: dict[str, Seen] = defaultdict(Seen)
    rows = bulk.select_in(_SIGHTS, [project_id], sorted({column(task) for task in tasks}))
    for task, system, instance, told, told_leaf, seen, skips in rows:
        one = found[task]
        one.told.update(json.loads(told) if told_leaf is not None else [])
        one.seen.update(json.loads(seen))
        one.skips.update(json.loads(skips))
        one.sources.append((system, instance))
    return found


@dataclass(slots=True)
class InForce:
    """The policies that are in force, by source, and the names of the tokens that announced them.

    A source has one for each voice, since none speaks for what another hands in.
    """

    policies: dict[Source, list[Policy]]
    tokens: Mapping[int | None, str]


def policies_in_force(project_id: int) -> InForce:
    """Give the policies that each source announced last, by its own clock."""
    found: dict[Source, list[Policy]] = defaultdict(list)
    for system, instance, *row in bulk.select_rows(_IN_FORCE, [project_id]):
        found[system, instance].append(policy_from(joined(system, instance), row))
    names = tokens.names_of(one.token for each in found.values() for one in each)
    return InForce(found, names)


def recording_of(task: str, sources: Iterable[Source], in_force: InForce) -> list[Document]:
    """Say how the ordinary outcomes of a task are recorded, by each source that announced it."""
    return [
        {**_recording(task, source, policy), "token": in_force.tokens.get(policy.token)}
        for source in sorted(sources)
        for policy in in_force.policies.get(source, ())
    ]


def _recording(task: str, source: Source, policy: Policy) -> Document:
    choice, pattern = policies.choice_of(policy, task)
    return {
        "source": joined(*source) or None,
        "choice": choice,
        "pattern": pattern or None,
        "version": policy.version or None,
        "since": policy.at,
        "ref": policy.ref,
        "leaf_index": str(policy.leaf),
    }


def joined(system: str, instance: str) -> str:
    """Write a source as `celery/shop`."""
    return "/".join(part for part in (system, instance) if part)
