"""What a receipt names: jobs, originals, rules, switches, ids, keys and evidence levels."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from ledger.domain import plain, receipt_ids, words

LEVEL_BY_VIA: dict[str, str] = {
    "client": "recorded",
    "telemetry": "recorded",
    "signal": "recorded",
    "row": "reconstructed",
    "log": "reconstructed",
    "import": "reconstructed",
    "page": "asserted",
}
"""The highest level that each way in can give (contract section 2); any other gives unknown."""


@dataclass(frozen=True, slots=True)
class JobName:
    """A job by its source and number; system and instance are empty where nobody named them."""

    system: str
    instance: str
    number: str

    def text(self) -> str:
        """Write the name as `oban/prod-1/101`."""
        return f"{self.system}/{self.instance}/{self.number}"


@dataclass(frozen=True, slots=True)
class Pointer:
    """What a receipt says its original is.

    `receipt` is the id as the producer wrote it. `stated_none` tells a null, which says that
    there is none, from a member that could not be read.
    """

    receipt: str | None = None
    job: JobName | None = None
    stated_none: bool = False

    @property
    def names_something(self) -> bool:
        """Tell whether the pointer names a receipt or a job."""
        return self.receipt is not None or self.job is not None


@dataclass(frozen=True, slots=True)
class RuleNamed:
    """The rule that the producer says decided, each part empty where it was not given."""

    name: str = ""
    version: str = ""
    text: str = ""
    decision: str = ""
    repo: str = ""
    path: str = ""
    line: int | None = None
    symbol: str = ""
    commit: str = ""


@dataclass(frozen=True, slots=True)
class SwitchNamed:
    """The switch that the producer says was thrown, when, and by whom."""

    name: str
    set_at: datetime | None = None
    actor: str = ""


def done_id(token: str) -> str | None:
    """Return the id of the done receipt that belongs to a start receipt's id key.

    The client's rule: "the done receipt's id is UUIDv5(token, "done")". None when the start's
    id is no UUID, because then no such id can be made.
    """
    return str(uuid.uuid5(uuid.UUID(normal_id(token)), "done")) if masked_id(token) else None


def normal_id(text: str) -> str:
    """Return the form in which an id is matched."""
    return receipt_ids.read_id(text).key


def masked_id(text: str) -> str | None:
    """Return a UUID with the version digit and the variant bits masked, None for other ids."""
    return receipt_ids.read_id(text).masked


def level_of(via: str, evidence: str, *, is_late: bool) -> str:
    """Return the evidence level: the way in sets the ceiling, the producer may only lower it.

    An `evidence` word that is no level counts as unknown; lateness lowers recorded only.
    """
    ceiling = LEVEL_BY_VIA.get(via, "unknown")
    level = words.lowest_level([ceiling, evidence or ceiling])
    return "reconstructed" if is_late and level == "recorded" else level


def key_digest(
    system: str, instance: str, recipe: str, fields: tuple[tuple[str, str], ...]
) -> str | None:
    """Return what two attempts must share to have the same key: 64 hex digits, None without one.

    SHA-256 over the JSON text of [system, instance, recipe, {field: value}]. The recipe's
    version is left out, so that a new version which picks the same fields still matches. Values
    compare as JSON text: 4 and "4" differ, and so do 4 and 4.0.
    """
    if not fields:
        return None
    head = plain.json_text([system, instance, recipe])
    members = ",".join(f"{plain.json_text(name)}:{text}" for name, text in fields)
    return plain.digest_of(f"{head[:-1]},{{{members}}}]")
