"""The recording policies that sources announced, and from when to when each was in force."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from kit import bulk
from ledger.domain.policies import CHOICES, Policy
from ledger.projectors.policies import Speaker, policy_from
from ledger.queries import heads, tokens
from ledger.queries.as_of import AsOf
from ledger.queries.sights import joined

Document = dict[str, Any]
MOST = 500
_VERSIONS = (
    "SELECT system, instance, leaf_index, receipt, at, version, each, tally, never, voice, token "
    "FROM policy_version WHERE project_id = %s AND leaf_index < %s "
    "ORDER BY leaf_index DESC LIMIT %s"
)


def list_policies(project_id: int, as_of: AsOf) -> Document:
    """Give every announced policy with its time in force, by source and token, newest first."""
    rows = bulk.select_rows(_VERSIONS, [project_id, as_of.end, MOST + 1])
    by_voice: dict[Speaker, list[Policy]] = defaultdict(list)
    for system, instance, *row in rows[:MOST]:
        policy = policy_from(joined(system, instance), row)
        by_voice[system, instance, policy.voice].append(policy)
    told = [one for _, each in sorted(by_voice.items()) for one in _in_force(each)]
    names = tokens.names_of(one.token for one, _ in told)
    reach = heads.reach_of(project_id)
    return {
        "items": [_document(one, after, names) for one, after in told],
        "window": {
            "from": None,
            "to": reach.derived_at,
            "lag": reach.lag,
            "complete": not reach.lag and len(rows) <= MOST,
        },
        "as_of": {"leaf_index": str(as_of.leaf), "time": as_of.at},
    }


def _in_force(told: list[Policy]) -> Iterator[tuple[Policy, Policy | None]]:
    """Give each policy of one voice with the next other one, by the source's own clock."""
    ordered = sorted(told, key=lambda one: (one.at, one.leaf))
    changes = [one for before, one in pairwise([None, *ordered]) if _differs(before, one)]
    following = [*changes[1:], None]
    for one, after in reversed(list(zip(changes, following, strict=True))):
        if one is not None:
            yield one, after


def _differs(before: Policy | None, one: Policy | None) -> bool:
    return before is None or (one is not None and one.digest != before.digest)


def _document(one: Policy, after: Policy | None, names: Mapping[int | None, str]) -> Document:
    return {
        "source": one.source or None,
        "version": one.version or None,
        **{name: list(getattr(one, name)) for name in CHOICES},
        "since": one.at,
        "until": None if after is None else after.at,
        "token": names.get(one.token),
        "ref": one.ref,
        "leaf_index": str(one.leaf),
    }
