"""What a person set of a bus or an installation: acts of ours, by their leaf.

Source: design section 2, "what a verdict depends on and a person can change is a receipt".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from events.domain.told import names
from events.domain.told.names import BusName
from ledger.domain import plain
from ledger.domain.statement import Statement

CONFIGURE, MAINTAIN, ALIAS = "configure", "maintain", "alias"
_VERBS = {CONFIGURE: "bus:", MAINTAIN: "bus:", ALIAS: "installation:"}
_MEMBERS = {CONFIGURE: ("settings",), MAINTAIN: ("from", "to"), ALIAS: ("alias",)}


@dataclass(frozen=True, slots=True)
class SettingTold:
    """One act: what it did to which bus or installation, with the members that say how.

    `bus` is empty for an act on an installation.
    """

    verb: str
    installation: str
    bus: str
    data: Mapping[str, object]
    actor: str

    @property
    def subject(self) -> str:
        """Give the public id of what it is about."""
        if self.bus:
            return BusName(self.installation, self.bus).id
        return names.installation_id(self.installation)


def read(statement: Statement) -> SettingTold | None:
    """Read an act on a bus; None for all others.

    Only our own acts count: a producer may post what it likes, and has no right to operate.
    """
    verb, target = statement.act_verb, statement.act_target
    is_ours = statement.kind == "act" and statement.token_id is None and statement.is_readable
    if not is_ours or verb not in _VERBS or not target.startswith(_VERBS[verb]):
        return None
    named = target.removeprefix(_VERBS[verb])
    installation, _, bus = (named, "", "") if verb == ALIAS else named.partition("/")
    if not installation or (verb != ALIAS and not bus) or _is_denied(statement):
        return None
    data = {name: _member(statement, name) for name in _MEMBERS[verb]}
    actor = statement.actor_label or statement.actor_id
    return SettingTold(
        verb, plain.name_of(installation), plain.name_of(bus), data, plain.name_of(actor)
    )


def _member(statement: Statement, name: str) -> object:
    """Give a member of the act, wherever it lies: beside the act or in it."""
    own = statement.body.get(name)
    return own if own is not None else plain.object_of(statement.body.get("act")).get(name)


def _is_denied(statement: Statement) -> bool:
    """Tell whether it only says that somebody was not allowed to."""
    return plain.object_of(statement.body.get("act")).get("outcome") == "denied"


def window_of(data: Mapping[str, object]) -> tuple[int, int] | None:
    """Read the time of a maintenance, in microseconds; None where it is unreadable or empty."""
    first, last = names.time_or_none(data.get("from")), names.time_or_none(data.get("to"))
    return None if first is None or last is None or first >= last else (first, last)
