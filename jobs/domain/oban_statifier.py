"""Which call or timer of a Statifier run a job is, told by its arguments.

Source: reference/statifier-oban.md section 2. The three workers of statifier_oban name scope,
call and generation in their arguments; no other worker does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jobs.domain.oban_values import text_of, whole_of

INVOKE = "StatifierOban.Invoke.Worker"
CHILD = "StatifierOban.Invoke.ChildStartWorker"
TIMER = "StatifierOban.Timer.Worker"
WORKERS = frozenset({INVOKE, CHILD, TIMER})

Identity = dict[str, Any]


def identity_of(worker: object, args: Any) -> Identity:
    """Return the members `invoke` or `timer`, and `key`, that a job's arguments tell."""
    if worker not in WORKERS or not isinstance(args, Mapping):
        return {}
    return timer_of(args) if worker == TIMER else call_of(args, is_child=worker == CHILD)


def call_of(args: Mapping[str, Any], *, is_child: bool, is_old_key: bool = False) -> Identity:
    """Return `invoke` and `key` of a call; nothing where scope or invoke id is no text.

    An old key lacks the generation: statifier_oban 0.1 compared scope and invoke id alone.
    """
    scope, name = args.get("scope"), args.get("invoke_id")
    if not (_is_name(scope) and _is_name(name)):
        return {}
    invoke = {"scope": scope, "id": name, "generation": text_of(args.get("macrostep"))}
    invoke |= {"element": _element(args), "index": whole_of(args.get("index"))}
    invoke |= {word: args[word] for word in ("handler", "type", "src") if _is_name(args.get(word))}
    fields = {"scope": scope, "invoke_id": name, "macrostep": whole_of(args.get("macrostep"))}
    if is_child:
        fields["index"] = whole_of(args.get("index"))
    return {"invoke": present(invoke), **_key(fields, is_child=is_child, is_old_key=is_old_key)}


def timer_of(args: Mapping[str, Any]) -> Identity:
    """Return `timer` and `key` of a durable timer; nothing where the scope is no text."""
    scope = args.get("scope")
    if not _is_name(scope):
        return {}
    timer = {"scope": scope, "ordinal": text_of(args.get("ordinal"))}
    timer["send_id"] = args.get("send_id") if _is_name(args.get("send_id")) else None
    fields = {"scope": scope, "ordinal": whole_of(args.get("ordinal"))}
    return {"timer": present(timer), **_key_of("statifier.timer", "1", fields)}


def present(members: Mapping[str, Any]) -> dict[str, Any]:
    """Return the members that are there: what is not known is absent, not null."""
    return {name: value for name, value in members.items() if value is not None}


def _key(fields: dict[str, Any], *, is_child: bool, is_old_key: bool) -> Identity:
    if is_child:
        return _key_of("statifier.child", "1", fields)
    if not is_old_key:
        return _key_of("statifier.invoke", "2", fields)
    ignored = {"macrostep": fields.pop("macrostep")}
    found = _key_of("statifier.invoke", "1", fields)
    return {"key": {**found["key"], "ignored": present(ignored)}} if found else {}


def _key_of(recipe: str, version: str, fields: Mapping[str, Any]) -> Identity:
    if None in fields.values():
        return {}
    return {"key": {"recipe": recipe, "version": version, "fields": dict(fields)}}


def _element(args: Mapping[str, Any]) -> Sequence[int] | None:
    place = [whole_of(args.get("state_index")), whole_of(args.get("invoke_index"))]
    return None if None in place else [one for one in place if one is not None]


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value != ""
