"""The answer to "why was this skipped, and is that true?" as one JSON document.

The shape is that of contract.md section 5, with more fields beside it: the chip's words, how
each row of the ticket compares, candidates, and what the producer stated. Every number of 64
bits is text, every time RFC 3339 in UTC with microseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ledger.domain import (
    act_accounts,
    chances,
    decisive,
    plain,
    pointers,
    sentences,
    sides,
    ticket,
    verdicts,
    words,
)
from ledger.domain.chances import NO_KIN
from ledger.domain.kin import Kin
from ledger.domain.pointers import Finding
from ledger.domain.sides import Document, moment
from ledger.domain.statement import RuleNamed, Statement
from ledger.domain.verdicts import Verdict

NOT_CHECKED = {
    "content_intact": "not_checked",
    "position_intact": "not_checked",
    "witnessed": "not_checked",
}
NEAR_LIMIT = 20
ERASED = "The payload was erased: what stands here comes from the stub, which was kept."


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
    judged: Verdict | None = None,
    kin: Kin = NO_KIN,
) -> Document:
    """Explain one receipt as the ledger saw it at a leaf and a clock.

    `as_of` is the (leaf index, time) that the answer holds for, `now` the clock that decides
    between pending and dangling; `original` and `terminal` are the receipts at the finding's
    target and terminal, `candidates` those at its candidates, `judged` the verdict of the app
    that knows more than the pointer does, `kin` what else is on record of the same work.
    """
    shown = pointers.shown_state(finding.state, finding.due_at, now) if finding else ""
    verdict = judged or verdicts.judge(statement, finding, original, terminal, shown=shown)
    return {
        "ref": statement.ref,
        "leaf_index": str(statement.leaf),
        "kind": statement.kind,
        "as_of": _as_of(as_of),
        "verdict": _verdict(statement, verdict),
        "attempt": sides.attempt_of(statement, original),
        "pointer": sides.pointer_of(statement, finding, original, terminal, candidates, shown),
        "original": sides.original_of(statement, finding, original, terminal),
        "apart": ticket.apart(statement, original) or None,
        "rows": [row.as_json() for row in ticket.rows(statement, original)],
        "near_matches": [dict(match) for match in near_matches],
        "will_run": chances.will_run(statement, finding, original, shown, kin),
        "act": act_accounts.document(statement),
        "known": kin.as_json(),
        "rule": _rule(statement),
        "switch": _switch(statement),
        "condition": None if statement.condition is None else dict(statement.condition),
        "times": _times(statement),
        "evidence": dict(NOT_CHECKED),
        "contradictions": [],
        "feed": dict(feed or {}),
        "erased": ERASED if payload_erased else None,
        "cannot_know": chances.cannot_know(statement, finding, payload_erased=payload_erased),
    }


def not_derived(
    ref: str, *, leaf_index: int | None, lag: int, as_of: tuple[int, datetime]
) -> Document:
    """Explain a receipt whose leaf is not derived yet; `lag` counts the leaves until it is."""
    badge = words.badge("not_derived")
    return {
        "ref": ref,
        "leaf_index": None if leaf_index is None else str(leaf_index),
        "as_of": _as_of(as_of),
        "verdict": {
            "code": "not_derived",
            "sentence": sentences.PLAIN["not_derived"],
            "decisive": "",
            "rule": "not-derived",
            "rule_words": words.RULE_WORDS["not-derived"],
            "level": "unknown",
            "word": badge.word,
            "tone": badge.tone,
            "icon": badge.icon,
        },
        "lag": {"leaves": str(lag)},
        "evidence": dict(NOT_CHECKED),
    }


def near_matches(
    statement: Statement, candidates: Sequence[Statement], *, limit: int = NEAR_LIMIT
) -> list[Document]:
    """Return the receipts whose key is almost this one's: same recipe and source, other fields.

    They do not block: only an equal key does. The nearest come first.
    """
    found = [(other, _differing(statement, other)) for other in candidates]
    near = [(other, differing) for other, differing in found if differing]
    near.sort(key=lambda pair: (len(pair[1]), pair[0].leaf))
    return [_near(other, differing) for other, differing in near[:limit]]


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
    # With more than half of them apart, two keys have little to do with one another.
    return unequal if 2 * len(unequal) <= len(aligned) else []


def _near(other: Statement, differing: list[str]) -> Document:
    values = {name: plain.text_of_json(text) for name, text in other.key_fields}
    return {
        "ref": other.ref,
        "leaf_index": str(other.leaf),
        "kind": other.kind,
        "at": moment(other.happened_at),
        "job": None if other.job is None else other.job.text(),
        "differs_in": differing,
        "text": ", ".join(f"{name} {values.get(name, 'absent')}" for name in differing),
        "blocking": False,
    }


def _as_of(as_of: tuple[int, datetime]) -> Document:
    return {"leaf_index": str(as_of[0]), "time": moment(as_of[1])}


def _verdict(statement: Statement, verdict: verdicts.Verdict) -> Document:
    badge = words.badge_of(verdict.code, statement.kind, statement.state)
    return {
        "code": verdict.code,
        "sentence": verdict.sentence,
        "decisive": verdict.decisive,
        "rule": verdict.rule,
        "rule_words": words.RULE_WORDS[verdict.rule],
        "level": verdict.level,
        "level_words": words.level_words(verdict.level, statement.kind),
        "word": badge.word,
        "tone": badge.tone,
        "icon": badge.icon,
    }


def _rule(statement: Statement) -> Document:
    rule = statement.rule or RuleNamed()
    code: Document | None = None
    if rule.path or rule.symbol:
        code = {"repo": rule.repo, "path": rule.path, "line": rule.line, "url": None}
        code |= {"symbol": rule.symbol, "commit": rule.commit}
    return {
        "recipe": statement.recipe,
        "recipe_version": statement.recipe_version or None,
        "name": rule.name or None,
        "version": rule.version or None,
        "text": rule.text or None,
        "code": code,
        "decision_then": {"id": rule.decision} if rule.decision else None,
        "decision_now": None,
    }


def _switch(statement: Statement) -> Document | None:
    switch = statement.switch
    if switch is None:
        return None
    return {
        "name": switch.name,
        "set_at": moment(switch.set_at),
        "actor": {"label": switch.actor or None},
    }


def _times(statement: Statement) -> Document:
    return {
        "occurred": {
            "at": moment(statement.occurred_at),
            "by": "ledger" if act_accounts.is_ours(statement) else "producer",
        },
        "received": {"at": moment(statement.received_at), "by": "ledger"},
        "recorded_by": None,
    }
