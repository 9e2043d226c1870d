"""What the ledger understood of one receipt.

A statement is made from the receipt's stub (the body without `data` and `sent`) and from what
the ledger itself knows: the leaf, the ref, the time of arrival, the token's source. It holds
names and facts and no judgement but one, the evidence level, which is ours to give.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from ledger.domain import plain, receipt_ids, words

TRACE_ID = re.compile(r"[0-9a-f]{32}", re.ASCII)
SPAN_ID = re.compile(r"[0-9a-f]{16}", re.ASCII)
SUBJECT_TYPE = re.compile(r"[a-z0-9_]{1,32}", re.ASCII)

SUBJECT_LIMIT = 16
KEY_FIELD_LIMIT = 64
LATE_AFTER = timedelta(hours=24)

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


@dataclass(frozen=True, slots=True)
class Statement:
    """One receipt as the ledger reads it; texts are empty where the receipt has nothing."""

    leaf: int
    ref: str
    state: str
    kind: str
    received_at: datetime
    word: str = ""
    id_text: str = ""
    id_key: str = ""
    masked_id: str | None = None
    occurred_at: datetime | None = None
    system: str = ""
    instance: str = ""
    via: str = "client"
    job: JobName | None = None
    task: str = ""
    queue: str = ""
    attempt: int | None = None
    delivery: str = ""
    job_state: str = ""
    scope: str = ""
    invoke_id: str = ""
    generation: str = ""
    element: str = ""
    recipe: str = ""
    recipe_version: str = ""
    key_fields: tuple[tuple[str, str], ...] = ()
    key_ignored: tuple[tuple[str, str], ...] = ()
    key_digest: str | None = None
    window_s: float | None = None
    reason: str | None = None
    pointer: Pointer | None = None
    original_state: str = ""
    rule: RuleNamed | None = None
    switch: SwitchNamed | None = None
    condition: Mapping[str, object] | None = field(default=None, hash=False)
    actor_label: str = ""
    actor_type: str = ""
    actor_id: str = ""
    trace_id: str = ""
    span_id: str = ""
    evidence: str = ""
    level: str = "recorded"
    subjects: tuple[tuple[str, str], ...] = ()
    act_verb: str = ""
    act_target: str = ""
    act: Mapping[str, object] = field(default_factory=dict, hash=False)
    what: str = ""
    loop: str = ""
    swept: int | None = None
    derived_from: str | None = None
    token_id: int | None = None
    minted: bool = False

    @property
    def happened_at(self) -> datetime:
        """When it happened by the producer's clock, else when it arrived by ours."""
        return self.occurred_at or self.received_at

    @property
    def source(self) -> str:
        """The source as `oban/prod-1`, or the empty text."""
        return "/".join(part for part in (self.system, self.instance) if part)

    @property
    def is_explained_by_rule(self) -> bool:
        """Tell whether the producer named the rule or the switch behind it."""
        return self.rule is not None or self.switch is not None

    @property
    def is_readable(self) -> bool:
        """Tell whether the receipt was well formed, be its id in conflict or not."""
        return self.state in ("accepted", "conflict")

    @property
    def is_row(self) -> bool:
        """Tell whether it is a job's row as a reader of the job table saw it."""
        return self.kind == "observe" and self.via == "row" and self.job is not None


def read_statement(
    stub: Mapping[str, object],
    *,
    leaf: int,
    ref: str,
    state: str,
    received_at: datetime,
    source_default: tuple[str, str] = ("", ""),
    token_id: int | None = None,
    minted: bool = False,
    id_default: str = "",
    derived_from: str | None = None,
    arrival_in_order: bool = False,
) -> Statement:
    """Read one receipt; what cannot be read is left empty, and nothing here ever fails.

    `source_default` is the (system, instance) of the token, `id_default` the id that the server
    gave when the body has none (minted, or from the feed's number), `arrival_in_order` whether
    an `arrived` receipt puts it in order within its spool, so that lateness takes no level.
    """
    body = plain.object_of(stub)
    system, instance = _source(body, source_default)
    id_text = plain.name_of(body.get("id")) or id_default
    identity = receipt_ids.read_id(id_text)
    occurred_at = plain.time_of(body.get("occurred_at"))
    via = plain.name_of(plain.object_of(body.get("source")).get("via")) or "client"
    evidence = plain.name_of(body.get("evidence"))
    is_late = occurred_at is not None and received_at - occurred_at > LATE_AFTER
    return Statement(
        leaf=leaf,
        ref=ref,
        state=state,
        received_at=received_at,
        id_text=id_text,
        id_key=identity.key,
        masked_id=identity.masked,
        occurred_at=occurred_at,
        system=system,
        instance=instance,
        via=via,
        evidence=evidence,
        level=level_of(via, evidence, is_late=is_late and not arrival_in_order),
        derived_from=derived_from,
        token_id=token_id,
        minted=minted,
        **_kind(body),
        **_work(body, system, instance),
        **_invoke(body),
        **_key(body, system, instance),
        **_why(body, system, instance),
        **_people(body),
        **_doings(body),
    )


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


def _source(body: Mapping[str, object], default: tuple[str, str]) -> tuple[str, str]:
    named = plain.object_of(body.get("source"))
    return _named_source(named, default)


def _named_source(named: Mapping[str, object], default: tuple[str, str]) -> tuple[str, str]:
    system = plain.name_of(named.get("system")) or default[0]
    fallback = default[1] if system == default[0] else ""
    return system, plain.name_of(named.get("instance")) or fallback


def _kind(body: Mapping[str, object]) -> dict[str, Any]:
    word = plain.name_of(body.get("kind"))
    return {"kind": word if word in words.KIND_WORDS else "other", "word": word}


def _work(body: Mapping[str, object], system: str, instance: str) -> dict[str, Any]:
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


def _invoke(body: Mapping[str, object]) -> dict[str, Any]:
    invoke = plain.object_of(body.get("invoke"))
    element = [plain.name_of(part) for part in plain.list_of(invoke.get("element"))[:8]]
    return {
        "scope": plain.name_of(invoke.get("scope")),
        "invoke_id": plain.name_of(invoke.get("id")),
        "generation": plain.name_of(invoke.get("generation")),
        "element": ", ".join(element),
    }


def _key(body: Mapping[str, object], system: str, instance: str) -> dict[str, Any]:
    key = plain.object_of(body.get("key"))
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


def _why(body: Mapping[str, object], system: str, instance: str) -> dict[str, Any]:
    state = body.get("original_state")
    return {
        "reason": plain.name_of(body.get("reason")) or None,
        "pointer": _pointer(body, system, instance) if "original" in body else None,
        "original_state": plain.name_of(state),
        "rule": _rule(body.get("rule")),
        "switch": _switch(body.get("switch")),
        "condition": _object_or_none(body.get("condition")),
    }


def _pointer(body: Mapping[str, object], system: str, instance: str) -> Pointer:
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
    copy = plain.plain(value)
    return copy if isinstance(copy, dict) else None


def _people(body: Mapping[str, object]) -> dict[str, Any]:
    actor = plain.object_of(body.get("actor"))
    trace = plain.object_of(body.get("trace"))
    trace_id, span_id = plain.name_of(trace.get("trace_id")), plain.name_of(trace.get("span_id"))
    return {
        "actor_label": plain.name_of(actor.get("label")),
        "actor_type": plain.name_of(actor.get("type")),
        "actor_id": plain.name_of(actor.get("id")),
        "trace_id": trace_id if TRACE_ID.fullmatch(trace_id) else "",
        "span_id": span_id if SPAN_ID.fullmatch(span_id) else "",
    }


def _doings(body: Mapping[str, object]) -> dict[str, Any]:
    act = plain.object_of(body.get("act"))
    jobs = plain.object_of(body.get("jobs"))
    count = plain.integer_of(jobs.get("count"))
    listed = plain.list_of(body.get("jobs")) or plain.list_of(jobs.get("ids"))
    return {
        "act_verb": plain.name_of(act.get("verb")),
        "act_target": plain.name_of(act.get("target")),
        "act": _object_or_none(act) or {},
        "what": plain.name_of(body.get("what")),
        "loop": plain.name_of(body.get("loop")),
        "swept": len(listed) if count is None and (listed or "jobs" in body) else count,
    }
