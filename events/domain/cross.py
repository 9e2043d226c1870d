"""Checks across the installations of a project: one feeds another, or two go on with one epoch.

Where the epoch is a token drawn at random, one id in common is enough. A shorter token that is no
number was chosen, perhaps by both: one id in the same channel is a hint, and a warning only. Where
the epoch is a number or there is none, only bodies tell: so many different ones under the same ids
and in the same minute are one stream that two installations receive, because they share the names
of their channels.
Source: reference/events-and-loops.md section 4; reference/pad.md section 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from events.domain import codes
from events.domain.changes import Changes, Journal, is_round, pack, unpack
from events.domain.findings import WARNING, Finding
from events.domain.records import BARE, PREFIXED, REPLAY, SECOND, Record
from events.domain.tokens import is_named, is_telling

WINDOW, SLOTS, PAIRS = 1_024, 64, 64
TOGETHER = 4_096
"""The ids of an installation that are kept in all slots together, so that the state stays short."""
ALIKE = 8
MINUTE = 60 * SECOND
_OF_A_NAME = {
    "same_event": "same_event_of_a_name",
    "another_body": "another_body_of_a_name",
}
Name = tuple[str, str, str]
Seen = dict[int, tuple[str, int]]


class CrossWatch:
    """The newest ids of each epoch by installation, for one project."""

    def __init__(self, state: Mapping[str, Any] | None = None) -> None:
        """Begin anew, or go on exactly where `state` was taken."""
        state = state or {}
        self._journal = Journal("", "", state.get("journal"))
        self._aliases: dict[str, str] = dict(state.get("aliases", ()))
        self._slots: dict[Name, dict[str, Seen]] = {}
        for name, owner, rows in state.get("slots", ()):
            seen = {number: (body, at) for number, body, at in rows}
            self._slots.setdefault((name[0], name[1], name[2]), {})[owner] = seen
        self._told: dict[str, list[Any]] = {
            name: [unpack(packed), count] for name, packed, count in state.get("told", ())
        }
        self._alike: dict[str, list[str]] = {
            name: list(bodies) for name, bodies in state.get("alike", ())
        }
        self._telling: dict[str, bool] = {}

    def alias(self, installation: str, other: str) -> None:
        """Take two names as those of one installation, and take back what set them against it."""
        self._aliases[self._real(other)] = self._real(installation)
        for name, row in list(self._told.items()):
            finding: Finding | None = row[0]
            if finding is not None and self._is_one(finding):
                self._journal.drop(finding)
                del self._told[name]

    def take(self, record: Record) -> None:
        """Hold a record against what the other installations received under the same epoch."""
        number = record.id
        if number is None or record.form not in (PREFIXED, BARE) or record.source == REPLAY:
            return
        is_telling_one = self._is_telling(record.epoch)
        slot = self._slot(record, is_telling_one)
        owner = self._real(record.installation)
        seen = slot.setdefault(owner, {})
        body, _ = seen.get(number, ("", 0))
        # What another replica of the installation received before is the same message.
        if len(slot) > 1 and (not body or body != record.fingerprint):
            self._compare(record, slot, owner, is_telling_one)
        seen[number] = (record.fingerprint, record.at)
        longest = min(WINDOW, TOGETHER // len(self._slots))
        while len(seen) > longest:
            del seen[next(iter(seen))]

    def _is_telling(self, epoch: str | None) -> bool:
        if epoch is None:
            return False
        known = self._telling.get(epoch)
        if known is None:
            if len(self._telling) > SLOTS:
                self._telling.clear()
            known = self._telling[epoch] = is_telling(epoch)
        return known

    def _slot(self, record: Record, is_telling_one: bool) -> dict[str, Seen]:
        if is_telling_one:
            name = ("", "", record.epoch or "")
        else:
            name = (record.bus, record.scope, record.epoch or "")
        slot = self._slots.get(name)
        if slot is None:
            slot = self._slots[name] = {}
            if len(self._slots) > SLOTS:
                del self._slots[next(iter(self._slots))]
        return slot

    def _compare(
        self, record: Record, slot: dict[str, Seen], owner: str, is_telling_one: bool
    ) -> None:
        for other, seen in slot.items():
            known = seen.get(record.id or 0)
            if other == owner or known is None:
                continue
            body, at = known
            is_same = bool(body) and body == record.fingerprint
            if not is_telling_one:
                self._note_alike(record, owner, other, is_same and abs(record.at - at) <= MINUTE)
            if not is_telling_one and not is_named(record.epoch or ""):
                continue
            if is_same:
                self._tell(codes.CROSS_FEED, record, owner, other, "same_event")
            elif body and record.fingerprint:
                self._tell(codes.FORKED_EPOCH, record, owner, other, "another_body")

    def _note_alike(self, record: Record, owner: str, other: str, is_alike: bool) -> None:
        name = "\n".join((record.bus, *sorted((owner, other))))
        bodies = self._alike.setdefault(name, [])
        if is_alike and len(bodies) < ALIKE and record.fingerprint not in bodies:
            bodies.append(record.fingerprint)
        if is_alike and len(bodies) >= ALIKE:
            self._tell(codes.SHARED_NAMESPACE, record, owner, other, "same_bodies", record.bus)
        if len(self._alike) > PAIRS:
            del self._alike[next(iter(self._alike))]

    def _tell(
        self, code: str, record: Record, owner: str, other: str, rule: str, about: str | None = None
    ) -> None:
        """Tell of two installations once, and count what else shows it."""
        subject = record.epoch if about is None else about
        name = "\n".join((code, *sorted((owner, other)), subject or ""))
        row = self._told.get(name)
        if row is None:
            count = ALIKE if code == codes.SHARED_NAMESPACE else 1
            row = self._told[name] = [self._open(code, record, owner, other, rule), count]
            if len(self._told) > PAIRS:
                del self._told[next(iter(self._told))]
            return
        row[1] += 1
        if row[0] is not None and is_round(row[1]):
            row[0] = self._journal.change(row[0], facts={"count": row[1]})

    def _open(self, code: str, record: Record, owner: str, other: str, rule: str) -> Finding | None:
        facts: dict[str, str | int] = {"other": other}
        names: dict[str, Any] = {"installation": owner, "bus": record.bus}
        if code != codes.SHARED_NAMESPACE and is_named(record.epoch or ""):
            rule, names["severity"] = _OF_A_NAME[rule], WARNING
        return self._journal.open(code, record.at, rule, record, facts=facts, **names)

    def _real(self, installation: str) -> str:
        """Give the first name of an installation that is registered under several."""
        seen = {installation}
        while (name := self._aliases.get(installation)) is not None and name not in seen:
            seen.add(name)
            installation = name
        return installation

    def _is_one(self, finding: Finding) -> bool:
        other = str(finding.facts.get("other", ""))
        return self._real(other) == self._real(finding.installation)

    def drain(self) -> Changes:
        """Hand out what came of the records since the last drain."""
        return Changes(*self._journal.drain())

    def state(self) -> dict[str, Any]:
        """Give as JSON what a later watch needs to go on; take it after a drain."""
        return {
            "journal": self._journal.state(),
            "aliases": list(self._aliases.items()),
            "slots": [
                [list(name), owner, [[number, *one] for number, one in seen.items()]]
                for name, slot in self._slots.items()
                for owner, seen in slot.items()
            ],
            "told": [[name, pack(row[0]), row[1]] for name, row in self._told.items()],
            "alike": [[name, bodies] for name, bodies in self._alike.items()],
        }
