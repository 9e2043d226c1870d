"""What a fold hands out: findings as they stand now, those taken back, and spaces that grew."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from events.domain import codes
from events.domain.findings import Finding
from events.domain.records import Record
from events.domain.spaces import Space

MINUTE = 60_000_000
AT_ONCE = 60
"""Findings of one code that a lane opens in a minute; one more of them counts what is beyond."""
Packed = list[Any]
_MEMBERS = tuple(name for name in Finding.__dataclass_fields__ if name != "facts")


@dataclass(frozen=True, slots=True)
class Changes:
    """What came of the records since the last drain.

    `findings` are new or changed ones as they stand now, `dropped` the keys of those that later
    records took back, `spaces` those that were born or grew.
    """

    findings: list[Finding] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    spaces: list[Space] = field(default_factory=list)


class Journal:
    """The findings of one bus on their way out, none twice and no flood of one code."""

    def __init__(self, installation: str, bus: str, state: list[Any] | None = None) -> None:
        self.installation, self.bus = installation, bus
        self._findings: dict[str, Finding] = {}
        self._dropped: dict[str, None] = {}
        self._floods: dict[str, list[Any]] = {name: [*one] for name, *one in state or []}

    def open(
        self,
        code: str,
        at: int,
        rule: str,
        record: Record | None = None,
        *,
        due_at: int = 0,
        facts: Mapping[str, str | int],
        **named: Any,
    ) -> Finding | None:
        """Open a finding about a record, or about what `named` says.

        None when so many of its code came at once that it is only counted.
        """
        members: dict[str, Any] = {
            "installation": self.installation,
            "bus": self.bus,
            "severity": codes.mark_of(code).severity,
            "due_at": max(at, due_at),
            "facts": {**facts, **_place(record)},
            **_about(record),
            **named,
        }
        finding = Finding(code=code, at=at, rule=rule, **members)
        return self._put(finding) if self._has_room(finding) else None

    def change(self, finding: Finding, *, facts: Mapping[str, str | int], **named: Any) -> Finding:
        """Keep a finding with other facts, or with another member that is not part of its key."""
        return self._put(replace(finding, facts={**finding.facts, **facts}, **named))

    def drop(self, finding: Finding) -> None:
        """Take a finding back, since a later record showed that there is nothing to it."""
        key = finding.key
        self._findings.pop(key, None)
        self._dropped[key] = None
        flood = self._floods.get(f"{finding.code}\n{finding.replica}")
        if flood and flood[0] == finding.at // MINUTE:
            flood[1] = max(0, flood[1] - 1)

    def drain(self) -> tuple[list[Finding], list[str]]:
        """Hand out what changed and what was taken back, and begin anew."""
        found = (list(self._findings.values()), list(self._dropped))
        self._findings, self._dropped = {}, {}
        return found

    def state(self) -> list[Any]:
        """Give as JSON what must outlast a drain."""
        return [[name, *one] for name, one in self._floods.items()]

    def rename(self, finding: Finding, number: int, *, facts: Mapping[str, str | int]) -> Finding:
        """Keep a finding under another id, which is part of its key."""
        self._findings.pop(finding.key, None)
        self._dropped[finding.key] = None
        return self._put(replace(finding, id=number, facts={**finding.facts, **facts}))

    def _put(self, finding: Finding) -> Finding:
        key = finding.key
        self._dropped.pop(key, None)
        self._findings[key] = finding
        return finding

    def _has_room(self, finding: Finding) -> bool:
        """Tell whether the minute has room for another finding of its code and lane."""
        name, minute = f"{finding.code}\n{finding.replica}", finding.at // MINUTE
        flood = self._floods.get(name)
        if flood is None or flood[0] != minute:
            flood = self._floods[name] = [minute, 0, 0, None]
        if flood[1] < AT_ONCE:
            flood[1] += 1
            return True
        flood[2] += 1
        if is_round(flood[2]):
            last = unpack(flood[3]) or finding
            flood[3] = pack(self.change(last, facts={"more": flood[2]}))
        return False


def pack(finding: Finding | None) -> Packed | None:
    """Write a finding as JSON, for a state."""
    if finding is None:
        return None
    return [getattr(finding, name) for name in _MEMBERS] + [dict(finding.facts)]


def unpack(packed: Packed | None) -> Finding | None:
    """Read what `pack` wrote."""
    if packed is None:
        return None
    *members, facts = packed
    return Finding(**dict(zip(_MEMBERS, members, strict=True)), facts=facts)


def is_round(count: int) -> bool:
    """Tell whether a count is a power of two: then it is written down, so a flood costs little."""
    return count & (count - 1) == 0


def _place(record: Record | None) -> dict[str, int]:
    return {} if record is None else {"leaf": record.place[0], "row": record.place[1]}


def _about(record: Record | None) -> dict[str, Any]:
    if record is None:
        return {}
    return {
        "replica": record.replica,
        "scope": record.scope,
        "epoch": record.epoch,
        "id": record.id,
    }
