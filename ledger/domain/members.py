"""Readers of the members of a receipt's body, each total: what cannot be read is left empty.

Every reader takes the whole body and answers with the fields of a statement that it fills. Of
members that a body has not, nothing is read, and the fields keep their defaults.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ledger.domain import plain, words
from ledger.domain.terms import JobName, Pointer, RuleNamed, SwitchNamed, key_digest

TRACE_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
SPAN_ID = re.compile(r"[0-9a-f]{16}", re.ASCII)
SUBJECT_TYPE = re.compile(r"[a-z0-9_]{1,32}", re.ASCII)
SUBJECT_LIMIT = 16
KEY_FIELD_LIMIT = 64
_IMPLYING = frozenset({"invoke", "timer"})
_DOINGS = frozenset({"act", "what", "loop", "jobs"})

Body = Mapping[str, object]
Fields = dict[str, Any]


def source_of(body: Body, default: tuple[str, str]) -> tuple[str, str]:
    """Return system and instance; what the receipt leaves out is that of its token."""
    named = plain.object_of(body.get("source"))
    return _named_source(named, default)


def _named_source(named: Mapping[str, object], default: tuple[str, str]) -> tuple[str, str]:
    system = plain.name_of(named.get("system")) or default[0]
    fallback = default[1] if system == default[0] else ""
    return system, plain.name_of(named.get("instance")) or fallback


def kind_fields(body: Body, *, is_readable: bool) -> Fields:
    """Return the kind of the closed vocabulary, and the word that was sent.

    What was set aside states nothing, whatever word it has: it must not be counted as done.
    """
    word = plain.name_of(body.get("kind"))
    is_known = is_readable and word in words.KIND_WORDS
    return {"kind": word if is_known else "other", "word": word}


def work_fields(body: Body, system: str, instance: str) -> Fields:
    """Return the job, what it is of, and the business objects that the work was about."""
    job = plain.object_of(body.get("job"))
    number = plain.name_of(job.get("id")) or plain.name_of(body.get("job"))
    return {
        "job": JobName(system, instance, number) if number else None,
        "task": plain.name_of(job.get("task")),
        "queue": plain.name_of(job.get("queue")),
        "attempt": plain.integer_of(job.get("attempt")),
        "delivery": plain.name_of(job.get("delivery")),
        "job_state": plain.name_of(job.get("state")),
        "subjects": _subjects(body.get("subjects")),
    }


def _subjects(value: object) -> tuple[tuple[str, str], ...]:
    found: dict[tuple[str, str], None] = {}
    for item in plain.list_of(value)[:SUBJECT_LIMIT]:
        named = plain.object_of(item)
        kind, name = plain.name_of(named.get("type")), plain.name_of(named.get("id"))
        if name and SUBJECT_TYPE.fullmatch(kind):
            found[kind, name] = None
    return tuple(found)


def invoke_fields(body: Body) -> Fields:
    """Return the owning run, the name of the call in it, and which incarnation it is."""
    if "invoke" not in body:
        return {}
    invoke = plain.object_of(body["invoke"])
    element = [plain.name_of(part) for part in plain.list_of(invoke.get("element"))[:8]]
    return {
        "scope": plain.name_of(invoke.get("scope")),
        "invoke_id": plain.name_of(invoke.get("id")),
        "generation": plain.name_of(invoke.get("generation")),
        "element": ", ".join(element),
    }


def key_fields(body: Body, system: str, instance: str) -> Fields:
    """Return the key that a dedup decision compared, and what it ignored."""
    if "key" not in body and not (system == "oban" and _IMPLYING & body.keys()):
        return {}
    key = plain.object_of(body["key"] if "key" in body else implied_key(body))
    recipe = plain.name_of(key.get("recipe"))
    raw = sorted(plain.object_of(key.get("fields")).items(), key=lambda item: str(item[0]))
    whole = tuple((str(name), plain.json_text(value)) for name, value in raw)
    return {
        "recipe": recipe,
        "recipe_version": plain.name_of(key.get("version")),
        "key_fields": _shown_fields(whole),
        "key_ignored": _ignored(key.get("ignored")),
        "key_digest": key_digest(system, instance, recipe, whole),
        "window_s": plain.seconds_of(key.get("window_s")),
    }


def implied_key(body: Body) -> Mapping[str, object]:
    """Return the key that a Statifier worker of Oban is unique by, from what it names.

    Source: reference/statifier-oban.md section 2; empty where a part of the key is not told.
    """
    timer, invoke = plain.object_of(body.get("timer")), plain.object_of(body.get("invoke"))
    if timer:
        picked = {"scope": timer.get("scope"), "ordinal": _numeral(timer.get("ordinal"))}
        return _implied("statifier.timer", "1", picked)
    picked = {
        "scope": invoke.get("scope"),
        "invoke_id": invoke.get("id"),
        "macrostep": _numeral(invoke.get("generation")),
    }
    if invoke.get("index") is None:
        return _implied("statifier.invoke", "2", picked)
    return _implied("statifier.child", "1", {**picked, "index": _numeral(invoke.get("index"))})


def _implied(recipe: str, version: str, picked: Mapping[str, object]) -> Mapping[str, object]:
    if any(value is None for value in picked.values()):
        return {}
    return {"recipe": recipe, "version": version, "fields": picked}


def _numeral(value: object) -> object:
    """Return a whole number sent as text as the number that the job's arguments hold."""
    number = plain.integer_of(value)
    return value if number is None else number


def _shown_fields(fields: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    return tuple(
        (plain.name_of(name), plain.prose_of(text)) for name, text in fields[:KEY_FIELD_LIMIT]
    )


def _ignored(value: object) -> tuple[tuple[str, str], ...]:
    members = sorted(plain.object_of(value).items(), key=lambda item: str(item[0]))
    return tuple(
        (plain.name_of(str(name)), plain.prose_of(plain.text_of_json(plain.json_text(item))))
        for name, item in members[:KEY_FIELD_LIMIT]
    )


def why_fields(body: Body, system: str, instance: str) -> Fields:
    """Return the reason, the original, and the rule, switch and condition behind it."""
    state = body.get("original_state")
    return {
        "reason": plain.name_of(body.get("reason")) or None,
        "pointer": _pointer(body, system, instance) if "original" in body else None,
        "original_state": plain.name_of(state),
        "rule": _rule(body.get("rule")),
        "switch": _switch(body.get("switch")),
        "condition": _object_or_none(body.get("condition")),
    }


def _pointer(body: Body, system: str, instance: str) -> Pointer:
    original = body.get("original")
    if original is None:
        return Pointer(stated_none=True)
    named = plain.object_of(original)
    job = plain.object_of(named.get("job"))
    number = plain.name_of(job.get("id")) or plain.name_of(named.get("job"))
    source = named.get("source") or job.get("source")
    where = _named_source(plain.object_of(source), (system, instance))
    receipt = plain.name_of(named.get("receipt"))
    return Pointer(receipt or None, JobName(*where, number) if number else None)


def _rule(value: object) -> RuleNamed | None:
    if value is None:
        return None
    named = {"name": value} if isinstance(value, str) else plain.object_of(value)
    rule = RuleNamed(
        name=plain.name_of(named.get("name")),
        version=plain.name_of(named.get("version")),
        text=plain.prose_of(named.get("text")),
        decision=plain.name_of(named.get("decision")),
        repo=plain.name_of(named.get("repo")),
        path=plain.name_of(named.get("path")),
        line=plain.integer_of(named.get("line")),
        symbol=plain.name_of(named.get("symbol")),
        commit=plain.name_of(named.get("commit")),
    )
    is_named = rule.name or rule.text or rule.decision or rule.path or rule.symbol
    return rule if is_named else None


def _switch(value: object) -> SwitchNamed | None:
    named = {"name": value} if isinstance(value, str) else plain.object_of(value)
    name = plain.name_of(named.get("name"))
    if not name:
        return None
    actor = plain.object_of(named.get("actor"))
    who = plain.name_of(actor.get("label")) or plain.name_of(actor.get("id"))
    return SwitchNamed(name, plain.time_of(named.get("set_at")), who)


def _object_or_none(value: object) -> Mapping[str, object] | None:
    copy = None if value is None else plain.plain(value)
    return copy if isinstance(copy, dict) else None


def people_fields(body: Body) -> Fields:
    """Return who acted by the producer's claim, and the trace to link to."""
    if "actor" not in body and "trace" not in body:
        return {}
    actor = plain.object_of(body.get("actor"))
    trace = plain.object_of(body.get("trace"))
    trace_id = plain.name_of(trace.get("trace_id")).lower()
    span_id = plain.name_of(trace.get("span_id")).lower()
    return {
        "actor_label": plain.name_of(actor.get("label")),
        "actor_type": plain.name_of(actor.get("type")),
        "actor_id": plain.name_of(actor.get("id")),
        "trace_id": trace_id if TRACE_ID.fullmatch(trace_id) else "",
        "span_id": span_id if SPAN_ID.fullmatch(span_id) else "",
    }


def doing_fields(body: Body) -> Fields:
    """Return what an act did, what was observed, and how many jobs were swept."""
    if not _DOINGS & body.keys():
        return {}
    act = plain.object_of(body.get("act"))
    return {
        "act_verb": plain.name_of(act.get("verb")),
        "act_target": plain.name_of(act.get("target")),
        "act": _object_or_none(act) or {},
        "what": plain.name_of(body.get("what")),
        "loop": plain.name_of(body.get("loop")),
        "swept": _swept(body.get("jobs")),
    }


def _swept(jobs: object) -> int | None:
    """Count the jobs of a cancel, given as a count or as a list of ids; None without either."""
    named = plain.object_of(jobs)
    count = plain.integer_of(named.get("count"))
    listed = jobs if isinstance(jobs, list | tuple) else named.get("ids")
    return len(listed) if count is None and isinstance(listed, list | tuple) else count
