"""The fields that a key may be made of: what a receipt's own key picks, and all else it names.

Values are JSON texts, as keys compare them: 4 and "4" differ. A long one stands as its digest.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache

from ledger.domain import members, plain
from ledger.domain.names import column
from ledger.domain.statement import Statement

SEPARATOR = "\x1f"
"""JSON text has no bare control characters, so this one parts values."""

LONGEST = 200
MOST = 64
STATES = {
    "suspended": "i", "scheduled": "i", "available": "i", "executing": "i", "retryable": "i",
    "in_flight": "i", "completed": "c", "discarded": "f", "failed": "f", "cancelled": "x",
    "deleted": "d",
}  # fmt: skip
"""Job states by the letter that they are taken together as; `deleted` is a row that is gone."""

_WORKERS = {
    "statifier.invoke": "StatifierOban.Invoke.Worker",
    "statifier.child": "StatifierOban.Invoke.ChildStartWorker",
    "statifier.timer": "StatifierOban.Timer.Worker",
}
_INVOKE = {
    "scope": "scope", "id": "invoke_id", "generation": "macrostep", "index": "index",
    "element": "element", "handler": "handler", "type": "type", "src": "src",
}  # fmt: skip
_TIMER = {"scope": "scope", "ordinal": "ordinal", "send_id": "send_id"}
_NUMERALS = frozenset({"generation", "index", "ordinal"})
Picked = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Shape:
    """What many attempts share: their source, task and matching rule, and the names of fields.

    The first `own` names are those that the attempt's own key picked. `window_s` is None and
    `blocking` empty where the key did not say.
    """

    source: str = ""
    task: str = ""
    queue: str = ""
    recipe: str = ""
    version: str = ""
    names: tuple[str, ...] = ()
    own: int = 0
    window_s: float | None = None
    blocking: str = ""

    @property
    def digest(self) -> str:
        """Give what tells this shape from all others, as 32 hex digits."""
        return _digest(self)


@lru_cache(maxsize=4_096)
def _digest(shape: Shape) -> str:
    parts = [
        shape.source, shape.task, shape.queue, shape.recipe, shape.version, list(shape.names),
        shape.own, repr(shape.window_s), shape.blocking,
    ]  # fmt: skip
    return plain.digest_of(plain.json_text(parts))[:32]


def picked(one: Statement) -> Picked:
    """Give all fields of a receipt with their values: those of its own key first."""
    key = _key(one)
    found: dict[str, str] = {}
    own = plain.object_of(key.get("fields"))
    for group in (
        own,
        _members(own),
        plain.object_of(key.get("ignored")),
        _renamed(one.body.get("timer"), _TIMER),
        _renamed(one.body.get("invoke"), _INVOKE),
        _subjects(one),
    ):
        for name in sorted(map(str, group)):
            found.setdefault(column(name), _text(group[name]))
    return list(found.items())[:MOST]


def shape_of(one: Statement, fields: Picked) -> Shape:
    """Give the shape of a receipt with these fields."""
    key = _key(one)
    return Shape(
        source=one.source,
        task=one.task or _WORKERS.get(one.recipe, ""),
        queue=one.queue,
        recipe=one.recipe,
        version=one.recipe_version,
        names=tuple(name for name, _ in fields),
        own=min(len(plain.object_of(key.get("fields"))), len(fields)),
        window_s=one.window_s,
        blocking=blocking_of(plain.list_of(key.get("states"))),
    )


def blocking_of(states: list[object]) -> str:
    """Give the letters of the states that a key says block, in one order."""
    return "".join(sorted({STATES[one] for one in map(str, states) if one in STATES}))


Fields = tuple[Shape, tuple[str, ...]]


def union(told: Fields, other: Fields) -> Fields:
    """Add to an attempt's fields those that only another receipt of the same run names."""
    (shape, values), (more, others) = told, other
    known = set(shape.names)
    added = [pair for pair in zip(more.names, others, strict=True) if pair[0] not in known]
    takes_key = not shape.own and more.own > 0
    if takes_key:
        return union((replace(more, task=more.task or shape.task), others), (shape, values))
    wider = replace(
        shape,
        task=shape.task or more.task,
        queue=shape.queue or more.queue,
        names=(*shape.names, *(name for name, _ in added))[:MOST],
    )
    return wider, (*values, *(text for _, text in added))[:MOST]


def _key(one: Statement) -> Mapping[str, object]:
    if "key" in one.body:
        return plain.object_of(one.body["key"])
    if one.system == "oban" and ("invoke" in one.body or "timer" in one.body):
        return members.implied_key(one.body)
    return {}


def _renamed(value: object, names: Mapping[str, str]) -> dict[str, object]:
    """Give members under the names that keys call them by; a numeral in a text is its number."""
    given = plain.object_of(value)
    return {
        names[name]: _number(item) if name in _NUMERALS else item
        for name, item in given.items()
        if name in names and item is not None
    }


def _members(fields: Mapping[str, object]) -> dict[str, object]:
    """Give the members of fields that were compared whole, such as `args.report` of `args`."""
    return {
        f"{name}.{member}": item
        for name, value in fields.items()
        for member, item in plain.object_of(value).items()
    }


def _number(value: object) -> object:
    number = plain.integer_of(value)
    return value if number is None else number


def _subjects(one: Statement) -> dict[str, object]:
    """Give the business objects by type; several of one type are one value."""
    found: dict[str, list[object]] = {}
    for kind, name in one.subjects:
        found.setdefault(f"subject.{kind}", []).append(name)
    return {kind: names[0] if len(names) == 1 else sorted(map(str, names))
            for kind, names in found.items()}  # fmt: skip


def _text(value: object) -> str:
    text = plain.printable(plain.json_text(value))
    return text if len(text) <= LONGEST else f'"sha256:{plain.digest_of(text)}"'
