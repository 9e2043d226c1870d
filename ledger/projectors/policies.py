"""Recording policies: one row each time that a source announces another than the one before."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kit import bulk, ids
from ledger.domain.names import column
from ledger.domain.policies import CHOICES, Policy, policy_of
from ledger.registry import Write
from ledger.statements import Item

_COLUMNS = (
    "project_id", "system", "instance", "leaf_index", "receipt", "at", "version", "digest",
    *CHOICES, "voice", "token",
)  # fmt: skip
_VERSIONS = (
    "SELECT leaf_index, receipt, at, version, each, tally, never, voice, token "
    "FROM policy_version WHERE project_id = %s AND system = %s AND instance = %s "
    "ORDER BY leaf_index"
)
_SHORT = (
    "SELECT voice, min(leaf_index) FROM tally WHERE project_id = %s AND system = %s "
    "AND instance = %s AND is_whole = %s GROUP BY voice"
)
_LATEST = (
    "SELECT digest FROM policy_version WHERE project_id = %s AND system = %s AND instance = %s "
    "AND voice = %s ORDER BY leaf_index DESC LIMIT 1"
)
_CHANGES = (
    "SELECT leaf_index, system, instance, at FROM policy_version "
    "WHERE project_id = %s AND leaf_index IN ({values})"
)
_FIRST_SHORT = (
    "SELECT t.leaf_index, t.system, t.instance FROM tally t "
    "WHERE t.project_id = %s AND t.is_whole = %s AND t.leaf_index = "
    "(SELECT min(o.leaf_index) FROM tally o WHERE o.project_id = t.project_id "
    "AND o.system = t.system AND o.instance = t.instance AND o.is_whole = t.is_whole "
    "AND o.voice = t.voice) "
    "AND t.leaf_index IN ({values})"
)
Source = tuple[str, str]
Speaker = tuple[str, str, str]
"""A source, and by whose token it is spoken of."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is known of how a source records: its policies, and each voice's first short tally."""

    versions: Sequence[Policy]
    first_short: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Change:
    """A leaf after which a source leaves out something else, from a time on, or at all times."""

    leaf: int
    source: str
    since: datetime | None


class PoliciesProjector:
    """Keeps the policies that sources announce; a process that announces the same adds nothing."""

    name = "policies"
    rules_version = 2
    tables: tuple[str, ...] = ("policy_version",)

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Note the announcements that change something."""
        latest: dict[Speaker, str] = {}
        rows: list[tuple[object, ...]] = []
        for item in items:
            policy = policy_of(item.statement)
            if policy is None:
                continue
            source = source_of(item.statement.system, item.statement.instance)
            speaker = (*source, column(policy.voice))
            if speaker not in latest:
                latest[speaker] = _latest(project_id, speaker)
            if policy.digest != latest[speaker]:
                latest[speaker] = policy.digest
                rows.append(_row(project_id, source, item, policy))
        return lambda: bulk.insert_rows("policy_version", _COLUMNS, rows)


def source_of(system: str, instance: str) -> Source:
    """Give a source as it stands in columns."""
    return column(system), column(instance)


def _latest(project_id: int, speaker: Speaker) -> str:
    rows = bulk.select_rows(_LATEST, [project_id, *speaker])
    return str(rows[0][0]) if rows else ""


def _row(project_id: int, source: Source, item: Item, policy: Policy) -> tuple[object, ...]:
    lists = [json.dumps(getattr(policy, name)) for name in CHOICES]
    version = column(policy.version)
    return (
        project_id, *source, item.leaf, item.receipt, policy.at, version, policy.digest, *lists,
        column(policy.voice), policy.token,
    )  # fmt: skip


def load(project_id: int, system: str, instance: str) -> Kept:
    """Load what is known of how a source records."""
    named = [project_id, *source_of(system, instance)]
    first_short = dict(bulk.select_rows(_SHORT, [*named, False]))
    source = "/".join(part for part in (system, instance) if part)
    versions = [policy_from(source, row) for row in bulk.select_rows(_VERSIONS, named)]
    return Kept(versions, first_short)


def policy_from(source: str, row: Sequence[Any]) -> Policy:
    """Make a policy of a row: leaf, receipt, time, version, the three lists, voice and token."""
    leaf, receipt, at, version, *lists, voice, token = row
    each, tally, never = (tuple(json.loads(text)) for text in lists)
    ref = ids.ref_of(bulk.as_uuid(receipt))
    return Policy(leaf, ref, source, bulk.as_time(at), version, each, tally, never, voice, token)


def find_changes(project_id: int, leaves: Iterable[int]) -> list[Change]:
    """Give the leaves after which a source leaves out something else."""
    wanted = sorted(leaves)
    short = bulk.select_in(_FIRST_SHORT, [project_id, False], wanted)
    announced = bulk.select_in(_CHANGES, [project_id], wanted)
    return [
        *(Change(leaf, column(f"{system}/{instance}"), None) for leaf, system, instance in short),
        *(
            Change(leaf, column(f"{system}/{instance}"), bulk.as_time(at))
            for leaf, system, instance, at in announced
        ),
    ]
