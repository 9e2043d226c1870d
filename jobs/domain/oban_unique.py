"""The key that Oban's `unique` compared, by what the changeset asked for.

Nothing of `unique` is written to the table, so only telemetry can tell. The names of the fields
are `worker`, `queue`, `args` and `meta`; with keys, `args.NAME` and `meta.NAME`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jobs.domain.oban_values import text_of, whole_of, without_opaque
from ledger.domain import plain

RECIPE = "oban.unique"
_WAITING = ("suspended", "available", "scheduled", "executing", "retryable")
GROUPS = {
    "all": (*_WAITING, "completed", "discarded", "cancelled"),
    "incomplete": _WAITING,
    "scheduled": ("scheduled",),
    "successful": (*_WAITING, "completed"),
}
"""The names for several states that `unique` takes."""

_MAPS = ("args", "meta")
_DEFAULT_FIELDS = ("args", "queue", "worker")
_DEFAULT_PERIOD_S = 60

Event = Mapping[str, Any]


def key_of(event: Event) -> dict[str, Any]:
    """Return the key of an insert; empty where no uniqueness was asked for.

    A period without end has no `window_s`.
    """
    unique = event.get("unique")
    if not isinstance(unique, Mapping):
        return {}
    fields = [str(one) for one in plain.list_of(unique.get("fields"))] or list(_DEFAULT_FIELDS)
    keys = [str(one) for one in plain.list_of(unique.get("keys"))]
    all_of = dict(_named(event))
    picked = {name: value for name, value in all_of.items() if _is_picked(name, fields, keys)}
    ignored = {name: value for name, value in all_of.items() if name not in picked}
    period = whole_of(unique.get("period", _DEFAULT_PERIOD_S))
    return {
        "recipe": RECIPE,
        "fields": _whole(picked, fields, keys, event),
        "ignored": ignored,
        **({} if period is None else {"window_s": period}),
        "states": _states(unique.get("states")),
        "timestamp": text_of(unique.get("timestamp")) or "inserted_at",
    }


def _named(event: Event) -> Iterator[tuple[str, Any]]:
    for name in ("worker", "queue"):
        if event.get(name) is not None:
            yield name, event[name]
    for name in _MAPS:
        for key, value in plain.object_of(event.get(name)).items():
            yield f"{name}.{key}", without_opaque(value)


def _is_picked(name: str, fields: list[str], keys: list[str]) -> bool:
    where, _, key = name.partition(".")
    return where in fields and (not key or not keys or key in keys)


def _whole(
    picked: dict[str, Any], fields: list[str], keys: list[str], event: Event
) -> dict[str, Any]:
    """Give whole maps as such where no keys were picked from them: they are compared whole."""
    if keys:
        return picked
    plainly = {name: value for name, value in picked.items() if "." not in name}
    maps = {name: without_opaque(event.get(name) or {}) for name in _MAPS if name in fields}
    return {**plainly, **maps}


def _states(value: Any) -> list[str]:
    if isinstance(value, list | tuple):
        return [str(one) for one in value]
    return list(GROUPS.get(str(value), GROUPS["successful"]))
