"""What else is on record of the work of a receipt: its job, its key, and how it ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ledger.domain import words
from ledger.domain.sides import moment
from ledger.domain.statement import Statement

Document = dict[str, Any]
SHOWN = 10
_TONES = {"done": "done", "deliver": "done", "skip": "skip", "fail": "bad", "discard": "bad"}


@dataclass(frozen=True, slots=True)
class Group:
    """Other receipts that share something with one: `of` says what, `name` which, `q` its list."""

    of: str
    name: str
    q: str
    others: Sequence[Statement]


@dataclass(frozen=True, slots=True)
class Way:
    """A list that tells more, of which nothing is shown here."""

    label: str
    q: str


@dataclass(frozen=True, slots=True)
class Kin:
    """What is known beside one receipt; `end` is another one that tells how the work ended."""

    groups: tuple[Group, ...] = ()
    ways: tuple[Way, ...] = ()
    end: Statement | None = None
    outcome: str = ""

    def as_json(self) -> Document:
        """Return the groups that hold something, and what became of the work."""
        ended = None if self.end is None else {**_item(self.end), "outcome": self.outcome}
        return {
            "ended": ended,
            "groups": [_group(each) for each in self.groups if each.others],
            "lists": [{"label": way.label, "q": way.q} for way in self.ways],
        }


def _group(group: Group) -> Document:
    """Show the first and the last of many, in the order in which they happened."""
    found = sorted(group.others, key=lambda one: (one.happened_at, one.leaf))
    shown = found if len(found) <= SHOWN else [*found[: SHOWN // 2], *found[-SHOWN // 2 :]]
    return {
        "of": group.of,
        "name": group.name,
        "q": group.q,
        "items": [_item(each) for each in shown],
        "more": len(found) > len(shown),
    }


def _item(one: Statement) -> Document:
    return {
        "ref": one.ref,
        "leaf_index": str(one.leaf),
        "kind": one.kind,
        "word": words.KIND_WORDS[one.kind],
        "tone": _TONES.get(one.kind, "plain"),
        "at": moment(one.happened_at),
    }
