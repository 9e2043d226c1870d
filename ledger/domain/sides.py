"""The parts of an explanation that tell of the attempt, its pointer and its original."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from ledger.domain import decisive, plain, pointers, sentences, ticket, words
from ledger.domain.pointers import Finding, Hop
from ledger.domain.policies import LeftOut
from ledger.domain.statement import Statement

Document = dict[str, Any]
VIA_WORDS = {"receipt": "by its id", "job": "by its job", "key": "by the key", "": ""}


def moment(at: datetime | None) -> str | None:
    """Write a time as RFC 3339 in UTC with microseconds."""
    if at is None:
        return None
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def attempt_of(statement: Statement, original: Statement | None) -> Document:
    """Return what was attempted; a member that the source does not have is absent."""
    job: Document = {
        "id": statement.job.number if statement.job else None,
        "name": statement.job.text() if statement.job else None,
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
        "source": statement.source or None,
        "job": _given(job),
        "subjects": [{"type": kind, "id": name} for kind, name in statement.subjects],
        "invoke": _given(invoke),
        "key": _key(statement, original),
        "trace": _given({"trace_id": statement.trace_id, "span_id": statement.span_id}) or None,
        "reason": statement.reason,
        "reason_words": words.reason_words(statement.reason) if statement.kind == "skip" else None,
    }


def _given(members: Document) -> Document:
    return {name: value for name, value in members.items() if value not in ("", None)}


def _key(statement: Statement, original: Statement | None) -> Document:
    """Lay the fields of both sides beside each other: compared, not of the key, not compared."""
    aligned = ticket.rows(statement, original)
    return {
        "recipe": statement.recipe,
        "version": statement.recipe_version,
        "used": [
            {
                "field": pair.field,
                "attempted": _value(pair.attempted),
                "original": _value(pair.original),
                "equal": None if original is None else pair.is_equal,
            }
            for pair in decisive.pairs(statement, original)
        ],
        "context": [_context(row) for row in aligned if row.role == "fact" and row.field != "at"],
        "ignored": [
            {"field": row.field, "attempted": row.attempted, "original": row.original}
            for row in aligned
            if row.role == "ignored"
        ],
    }


def _context(row: ticket.Row) -> Document:
    return {
        "field": row.field,
        "attempted": row.attempted,
        "original": row.original,
        "equal": {"equal": True, "differs": False}.get(row.mark),
    }


def _value(text: str | None) -> str | None:
    return None if text is None else plain.text_of_json(text)


def pointer_of(
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
    candidates: Sequence[Statement],
    shown: str,
) -> Document | None:
    """Return the pointer: its state and its words, the hops walked, and what else it could be."""
    if finding is None:
        return None
    return {
        "state": shown,
        "chip": pointers.chip(shown, finding.outcome),
        "tone": pointers.tone(shown, finding.outcome),
        "unresolved": pointers.is_unresolved(shown),
        "outcome": finding.outcome or None,
        "hops": [_hop(hop, statement, original) for hop in finding.hops],
        "terminal": None if terminal is None else terminal.ref,
        "hint": finding.hint,
        "due_at": moment(finding.due_at),
        "rule": finding.rule,
        "level": finding.level,
        "named": _named(statement),
        "sought": _sought(statement, finding, shown),
        "stated": _stated(statement),
        "said": _said(statement),
        "candidates": [_candidate(each, statement) for each in candidates],
        "policy": None if finding.left_out is None else _policy(finding.left_out),
    }


def _policy(left: LeftOut) -> Document:
    """Return the policy that left an original out, by which token it came, and the pattern."""
    policy = left.policy
    return {
        "source": policy.source or None,
        "version": policy.version or None,
        "since": moment(policy.at),
        "ref": policy.ref,
        "leaf_index": str(policy.leaf),
        "token": policy.token,
        "choice": left.choice,
        "pattern": left.pattern or None,
        "task": left.task or None,
        "rule": left.rule,
    }


def _hop(hop: Hop, statement: Statement, original: Statement | None) -> Document:
    text = ""
    if hop.leaf == statement.leaf:
        text = f"names {sentences.pointer_words(statement)}" if _named(statement) else ""
    elif original is not None and hop.leaf == original.leaf and original.job is not None:
        text = f"stored as {sentences.job_words(original.job, statement)}"
    said = {"tallied, done": "done", "tallied, tried again": "running"}.get(hop.state, "")
    outcome = said or next((c for c, w in words.OUTCOME_WORDS.items() if w == hop.state), "")
    return {
        "ref": hop.ref,
        "leaf_index": str(hop.leaf),
        "kind": hop.kind,
        "at": moment(hop.at),
        "state": hop.state,
        "via": hop.via or None,
        "text": text,
        "note": VIA_WORDS[hop.via],
        "tone": words.OUTCOME_TONES.get(outcome, "plain"),
    }


def _named(statement: Statement) -> str | None:
    pointer = statement.pointer
    if pointer is None or not pointer.names_something:
        return None
    job = None if pointer.job is None else pointer.job.text()
    return " and ".join(name for name in (pointer.receipt, job) if name)


def _sought(statement: Statement, finding: Finding, shown: str) -> Document | None:
    """Return what the receipt itself names and nothing on record is; of a chain, its end knows."""
    pointer = statement.pointer
    if _named(statement) is None or pointer is None or finding.skips:
        return None
    if shown not in ("pending", "dangling"):
        return None
    return {"receipt": pointer.receipt, "job": None if pointer.job is None else pointer.job.text()}


def _stated(statement: Statement) -> str | None:
    """Say which it was when no original is named: a null is a statement, silence is not."""
    if _named(statement) is not None:
        return None
    is_stated = statement.pointer is not None and statement.pointer.stated_none
    return "stated that there is none" if is_stated else "did not say"


def _said(statement: Statement) -> str | None:
    stated = _stated(statement)
    if stated is None:
        return None
    said = {"did not say": "did not say what the original is"}.get(stated, stated)
    return f"The producer {said}."


def _candidate(other: Statement, near: Statement) -> Document:
    return {
        "ref": other.ref,
        "leaf_index": str(other.leaf),
        "kind": other.kind,
        "at": moment(other.happened_at),
        "job": other.job.number if other.job else None,
        "source": other.source or None,
        "foreign": other.source != near.source,
    }


def original_of(
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
) -> Document | None:
    """Return the original: what it is, its state as the skip saw it, and its state now."""
    if finding is None or original is None:
        return None
    now = (terminal.job_state if terminal is not None else "") or finding.outcome
    return {
        "ref": original.ref,
        "leaf_index": str(original.leaf),
        "kind": original.kind,
        "at": moment(original.happened_at),
        "job": original.job.number if original.job else None,
        "source": original.source or None,
        "task": original.task or None,
        "level": original.level,
        "level_words": words.level_words(original.level, original.kind),
        "state_then": statement.original_state or None,
        "state_now": now or None,
        "word": words.OUTCOME_SHORT.get(finding.outcome),
        "tone": words.OUTCOME_TONES.get(finding.outcome, "plain"),
        "ended_at": None if terminal is None else moment(terminal.happened_at),
    }
