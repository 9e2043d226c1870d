"""The answer to "why was this skipped, and is that true?" as one JSON document.

The shape is that of contract.md section 5, with more fields beside it: the chip's words, how
each row of the ticket compares, candidates, and what the producer stated. Every number of 64
bits is text, every time RFC 3339 in UTC with microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ledger.domain import chances, decisive, plain, pointers, ticket, verdicts, words
from ledger.domain.pointers import Finding
from ledger.domain.statement import JobName, Statement

NOT_CHECKED = {
    "content_intact": "not_checked",
    "position_intact": "not_checked",
    "witnessed": "not_checked",
}
NEAR_LIMIT = 20

Document = dict[str, Any]


def explain(
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
    near_matches: Sequence[Mapping[str, Any]] = (),
    *,
    now: datetime,
    as_of: tuple[int, datetime],
    candidates: Sequence[Statement] = (),
    feed: Mapping[str, Any] | None = None,
    payload_erased: bool = False,
) -> Document:
    """Explain one receipt as the ledger saw it at a leaf and a clock.

    `as_of` is the (leaf index, time) that the answer holds for, `now` the clock that decides
    between pending and dangling; `original` and `terminal` are the receipts at the finding's
    target and terminal, `candidates` those at its candidates.
    """
    shown = pointers.shown_state(finding.state, finding.due_at, now) if finding else ""
    verdict = verdicts.judge(statement, finding, original, terminal, shown=shown)
    return {
        "ref": statement.ref,
        "leaf_index": str(statement.leaf),
        "as_of": {"leaf_index": str(as_of[0]), "time": moment(as_of[1])},
        "verdict": _verdict(statement, verdict),
        "attempt": attempt_of(statement, original),
        "pointer": _pointer(statement, finding, terminal, candidates, shown),
        "original": _original(statement, finding, original, terminal),
        "rows": [row.as_json() for row in ticket.rows(statement, original)],
        "near_matches": [dict(match) for match in near_matches],
        "will_run": chances.will_run(statement, finding, original, shown),
        "rule": _rule(statement),
        "times": _times(statement),
        "evidence": dict(NOT_CHECKED),
        "contradictions": [],
        "feed": dict(feed or {}),
        "cannot_know": chances.cannot_know(statement, finding, payload_erased=payload_erased),
    }


def not_derived(
    ref: str, *, leaf_index: int | None, lag: int, as_of: tuple[int, datetime]
) -> Document:
    """Explain a receipt whose leaf is not derived yet; `lag` counts the leaves before it."""
    sentence = "Stored and kept, but not read yet: the verdict follows."
    return {
        "ref": ref,
        "leaf_index": None if leaf_index is None else str(leaf_index),
        "as_of": {"leaf_index": str(as_of[0]), "time": moment(as_of[1])},
        "verdict": {
            "code": "not_derived",
            "sentence": sentence,
            "decisive": "",
            "rule": "not-derived",
            "level": "unknown",
        },
        "lag": str(lag),
        "evidence": dict(NOT_CHECKED),
    }


def near_matches(
    statement: Statement, candidates: Sequence[Statement], *, limit: int = NEAR_LIMIT
) -> list[Document]:
    """Return the receipts whose key is almost this one's: same recipe and source, other fields.

    They do not block: only an equal key does. The nearest come first.
    """
    found = []
    for other in candidates:
        differing = _differing(statement, other)
        if differing:
            found.append((len(differing), other.leaf, other, differing))
    return [_near(other, differing) for _, _, other, differing in sorted(found)[:limit]]


def moment(at: datetime | None) -> str | None:
    """Write a time as RFC 3339 in UTC with microseconds."""
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _differing(statement: Statement, other: Statement) -> list[str]:
    same_rule = (statement.system, statement.instance, statement.recipe) == (
        other.system,
        other.instance,
        other.recipe,
    )
    is_kin = same_rule and statement.key_fields and other.key_fields
    if not is_kin or other.leaf == statement.leaf or not other.is_readable:
        return []
    aligned = decisive.pairs(statement, other)
    unequal = [pair.field for pair in aligned if not pair.is_equal]
    return unequal if len(unequal) < len(aligned) else []


def _near(other: Statement, differing: list[str]) -> Document:
    return {
        "ref": other.ref,
        "leaf_index": str(other.leaf),
        "kind": other.kind,
        "at": moment(other.happened_at),
        "job": job_of(other.job),
        "differs_in": differing,
        "values": {
            name: plain.text_of_json(text) for name, text in other.key_fields if name in differing
        },
        "blocking": False,
    }


def _verdict(statement: Statement, verdict: verdicts.Verdict) -> Document:
    badge = words.badge(verdict.code)
    return {
        "code": verdict.code,
        "sentence": verdict.sentence,
        "decisive": verdict.decisive,
        "rule": verdict.rule,
        "level": verdict.level,
        "level_words": words.level_words(verdict.level, statement.kind),
        "words": badge.word,
        "badge": badge.style,
        "icon": badge.icon,
    }


def job_of(job: JobName | None) -> Document | None:
    """Return a job's name as JSON: its text, and its source and number apart."""
    if job is None:
        return None
    return {"name": job.text(), "system": job.system, "instance": job.instance, "id": job.number}


def attempt_of(statement: Statement, original: Statement | None) -> Document:
    """Return what was attempted; a member that the source does not have is absent."""
    job: Document = {
        "id": statement.job.number if statement.job else None,
        "task": statement.task,
        "queue": statement.queue,
        "attempt": statement.attempt,
        "delivery": statement.delivery,
        "state": statement.job_state,
    }
    invoke: Document = {
        "scope": statement.scope,
        "id": statement.invoke_id,
        "generation": statement.generation,
        "element": statement.element,
    }
    return {
        "kind": statement.kind,
        "source": _given({"system": statement.system, "instance": statement.instance}),
        "job": _given(job),
        "subjects": [{"type": kind, "id": name} for kind, name in statement.subjects],
        "invoke": _given(invoke),
        "key": _key(statement, original),
        "reason": statement.reason,
        "reason_words": words.reason_words(statement.reason) if statement.kind == "skip" else None,
    }


def _given(members: Document) -> Document:
    return {name: value for name, value in members.items() if value not in ("", None)}


def _key(statement: Statement, original: Statement | None) -> Document | None:
    if not statement.key_fields and not statement.recipe:
        return None
    theirs = dict(original.key_ignored) if original is not None else {}
    return {
        "recipe": statement.recipe,
        "version": statement.recipe_version,
        "used": [
            {
                "field": pair.field,
                "attempted": _value(pair.attempted),
                "original": _value(pair.original),
                "equal": pair.is_equal if original is not None else None,
            }
            for pair in decisive.pairs(statement, original)
        ],
        "ignored": [
            {"field": name, "attempted": text, "original": theirs.get(name)}
            for name, text in statement.key_ignored
        ],
    }


def _value(text: str | None) -> str | None:
    return None if text is None else plain.text_of_json(text)


def _pointer(
    statement: Statement,
    finding: Finding | None,
    terminal: Statement | None,
    candidates: Sequence[Statement],
    shown: str,
) -> Document | None:
    if finding is None:
        return None
    return {
        "state": shown,
        "chip": pointers.chip(shown, finding.outcome),
        "unresolved": pointers.is_unresolved(shown),
        "outcome": finding.outcome,
        "hops": [_hop(hop) for hop in finding.hops],
        "terminal": None if terminal is None else terminal.ref,
        "hint": finding.hint,
        "due_at": moment(finding.due_at),
        "rule": finding.rule,
        "level": finding.level,
        "stated": _stated(statement),
        "names": _names(statement),
        "candidates": [_candidate(each) for each in candidates],
    }


def _hop(hop: pointers.Hop) -> Document:
    return {
        "ref": hop.ref,
        "leaf_index": str(hop.leaf),
        "kind": hop.kind,
        "at": moment(hop.at),
        "state": hop.state,
        "via": hop.via,
    }


def _candidate(other: Statement) -> Document:
    return {
        "ref": other.ref,
        "leaf_index": str(other.leaf),
        "kind": other.kind,
        "at": moment(other.happened_at),
        "job": job_of(other.job),
    }


def _stated(statement: Statement) -> str | None:
    """Say which it was when no original is named: a null is a statement, silence is not."""
    pointer = statement.pointer
    if pointer is not None and pointer.names_something:
        return None
    is_stated = pointer is not None and pointer.stated_none
    return "stated that there is none" if is_stated else "did not say"


def _names(statement: Statement) -> Document | None:
    pointer = statement.pointer
    if pointer is None or not pointer.names_something:
        return None
    return {"receipt": pointer.receipt, "job": job_of(pointer.job)}


def _original(
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
) -> Document | None:
    if finding is None or original is None:
        return None
    now = (terminal.job_state if terminal is not None else "") or finding.outcome
    return {
        "ref": original.ref,
        "leaf_index": str(original.leaf),
        "kind": original.kind,
        "at": moment(original.happened_at),
        "job": job_of(original.job),
        "level": original.level,
        "level_words": words.level_words(original.level, original.kind),
        "state_then": statement.original_state or None,
        "state_now": now or None,
    }


def _rule(statement: Statement) -> Document:
    rule, switch = statement.rule, statement.switch
    code: Document | None = None
    if rule is not None and (rule.path or rule.symbol):
        code = {"repo": rule.repo, "path": rule.path, "line": rule.line, "url": None}
        code |= {"symbol": rule.symbol, "commit": rule.commit}
    return {
        "recipe": " ".join(part for part in (statement.recipe, statement.recipe_version) if part),
        "name": rule.name if rule else None,
        "version": rule.version if rule else None,
        "text": rule.text if rule else None,
        "code": code,
        "decision_then": {"id": rule.decision} if rule and rule.decision else None,
        "decision_now": None,
        "condition": dict(statement.condition) if statement.condition is not None else None,
        "switch": {"name": switch.name, "set_at": moment(switch.set_at), "actor": switch.actor}
        if switch
        else None,
    }


def _times(statement: Statement) -> Document:
    return {
        "occurred": {"at": moment(statement.occurred_at), "by": "producer"},
        "received": {"at": moment(statement.received_at), "by": "ledger"},
        "recorded_by": None,
    }
