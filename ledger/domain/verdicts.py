"""What the ledger concludes of one receipt, by which rule, and how well it is supported.

Precedence for a skip, first match wins: an original that is missing, an original that failed,
the reason that was sent, and without one what became of the original. Whatever is left is
`skip.unexplained`; a skip never gets `unknown`. Sources: contract.md section 5.
"""

from __future__ import annotations

from dataclasses import dataclass

from ledger.domain import accounts, decisive, links, sentences, targets, words
from ledger.domain.pointers import Finding
from ledger.domain.statement import Statement

BY_KIND: dict[str, str] = {
    "done": "done",
    "deliver": "done",
    "fail": "fail",
    "enqueue": "fresh",
    "start": "fresh",
    "discard": "discard.run_dead",
    "retry": "retry",
}

BY_KIND_AND_REASON: dict[tuple[str, str], str] = {
    ("fail", "worker_lost"): "fail.worker_lost",
    ("fail", "time_limit"): "fail.time_limit",
    ("fail", "rejected"): "fail.rejected",
    ("discard", "rejected"): "discard.rejected",
    ("discard", "unknown_task"): "discard.unknown_task",
    ("discard", "undecodable"): "discard.undecodable",
    ("retry", "swallowed"): "retry.swallowed",
    ("retry", "requeued"): "retry.requeued",
    ("revoke", "asked"): "revoke.asked",
    ("revoke", "effected"): "revoke.effected",
}
"""What a receipt that is no skip comes to by its reason, where that says more than its kind."""

BY_REASON: dict[str, str] = {
    "already_done": "skip.already_done",
    "in_flight": "skip.in_flight",
    "holder_lost": "skip.holder_lost",
    "superseded": "skip.superseded",
    "wrong_generation": "skip.wrong_generation",
    "paused": "skip.paused",
    "draining": "skip.draining",
    "backlog_full": "skip.backlog_full",
    "rate_limited": "skip.rate_limited",
    "upstream_failed": "skip.upstream_failed",
    "branch_not_taken": "skip.branch_not_taken",
    "condition_false": "skip.condition",
    "expired": "skip.expired",
    "redelivery": "dedup.redelivery",
    "lock_contended": "dedup.lock_contended",
}

BY_OUTCOME: dict[str, str] = {
    "done": "skip.already_done",
    "running": "skip.in_flight",
    "skipped": "skip.condition",
}
"""What a skip without a reason comes to, by what became of its original."""

BY_STATED_STATE: dict[str, str] = {
    "discarded": "failed",
    "failed": "failed",
    "failure": "failed",
    "cancelled": "cancelled",
    "revoked": "cancelled",
}
"""What became of an original by the state that the skip says it was in, where nothing else does."""

COMPARES_OUTCOME = frozenset({"skip.already_done", "skip.original_failed"})
EXPLAINS_NOTHING = frozenset({"cycle", "wrong-kind", "missing-pointer"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """A conclusion: its code, its sentence, the decisive term, the rule that spoke, its level."""

    code: str
    sentence: str
    decisive: str
    rule: str
    level: str


def judge(
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
    *,
    shown: str,
) -> Verdict:
    """Judge one receipt; `shown` is its pointer's state at the moment, empty without a pointer.

    `original` is the receipt at the finding's target, `terminal` the one at its terminal.
    """
    code, rule = _code(statement, finding, shown, terminal)
    if statement.kind != "skip":
        sentence, term = sentences.plain_sentence(code, statement), accounts.term(statement)
    else:
        sentence = sentences.skip_sentence(code, statement, finding, original, terminal, shown)
        term = decisive.term(code, statement, finding, original, terminal, shown)
    level = _level(code, statement, finding, original, terminal, shown)
    return Verdict(code, sentence, term, rule, level)


def stored_verdict(
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
) -> Verdict:
    """Judge one receipt without a clock: a pointer that waits counts as before its deadline."""
    state = "" if finding is None else finding.state
    shown = "pending" if state == "waiting" else state
    return judge(statement, finding, original, terminal, shown=shown)


def code_when_due(statement: Statement, finding: Finding | None) -> str:
    """Return the verdict's code from the pointer's deadline on; mostly the stored one."""
    state = "" if finding is None else finding.state
    return _code(statement, finding, "dangling" if state == "waiting" else state)[0]


def _code(
    statement: Statement, finding: Finding | None, shown: str, terminal: Statement | None = None
) -> tuple[str, str]:
    if statement.kind == "skip":
        return _skip_code(statement, finding, shown, terminal)
    if not statement.is_readable:
        return "unknown", "set-aside"
    if statement.kind == "cancel":
        return _cancel_code(statement)
    if statement.is_handover:
        return _delivery_code(statement)
    by_reason = BY_KIND_AND_REASON.get((statement.kind, statement.reason or ""))
    if by_reason is not None:
        return by_reason, "kind-and-reason"
    return BY_KIND.get(statement.kind, "unknown"), "kind"


def _delivery_code(statement: Statement) -> tuple[str, str]:
    if statement.is_redelivered:
        return "delivery.again", "broker-says"
    return "delivery.first", "kind"


def _cancel_code(statement: Statement) -> tuple[str, str]:
    if statement.swept is None:
        return ("cancel.swept", "kind") if statement.job is not None else ("unknown", "no-count")
    return ("cancel.swept" if statement.swept > 0 else "cancel.noop"), "count"


def _skip_code(
    statement: Statement, finding: Finding | None, shown: str, terminal: Statement | None
) -> tuple[str, str]:
    reason = statement.reason
    outcome = finding.outcome if finding is not None and shown in words.FOUND else ""
    if shown == "dangling" and _rests_on_original(statement):
        is_lock = reason == "lock_contended" and not _names_original(statement)
        lost = "dedup.lock_contended_lost" if is_lock else "skip.original_missing"
        return lost, "original-missing"
    if _is_failed(outcome, statement):
        return "skip.original_failed", "original-failed"
    if outcome == "running" and _is_failed(_stated_outcome(statement), statement):
        return "skip.original_failed", "original-state-sent"
    if shown in EXPLAINS_NOTHING and not links.is_explained(statement):
        return "skip.unexplained", "nothing-explains"
    if reason in words.NEEDS_RULE and not links.is_explained(statement):
        return "skip.unexplained", "nothing-explains"
    if reason in BY_REASON:
        return _reason_code(statement, outcome, terminal)
    if links.is_explained(statement) and (reason is not None or not outcome):
        return "skip.condition", "rule-named"
    return BY_OUTCOME.get(outcome, "skip.unexplained"), "original-outcome"


def _reason_code(statement: Statement, outcome: str, terminal: Statement | None) -> tuple[str, str]:
    if statement.reason == "in_flight" and outcome == "done" and _was_over(statement, terminal):
        return "skip.already_done", "done-before"
    return BY_REASON[statement.reason or ""], "reason-sent"


def _was_over(statement: Statement, terminal: Statement | None) -> bool:
    """Tell whether the original had ended before the skip, by more than clocks may differ."""
    return terminal is not None and statement.happened_at - terminal.happened_at > targets.SKEW


def _is_failed(outcome: str, statement: Statement) -> bool:
    """Tell whether the original's end speaks against a skip that rests on it.

    A skip for `upstream_failed` says so itself, and a newer call that was cancelled still took
    over.
    """
    if statement.reason == "upstream_failed" or not _rests_on_original(statement):
        return False
    return outcome == "failed" or (outcome == "cancelled" and statement.reason != "superseded")


def _stated_outcome(statement: Statement) -> str:
    return BY_STATED_STATE.get(statement.original_state.lower(), "")


def _rests_on_original(statement: Statement) -> bool:
    return not links.is_explained(statement) or links.needs_original(statement.reason)


def _names_original(statement: Statement) -> bool:
    return statement.pointer is not None and statement.pointer.names_something


def _level(
    code: str,
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
    shown: str,
) -> str:
    """Keep the lowest level among the receipts that the decisive term compares."""
    if statement.kind != "skip" or finding is None or shown not in words.FOUND:
        return statement.level
    if links.is_explained(statement) and statement.reason is not None:
        return statement.level
    if finding.state == "resolved-chain":
        return finding.level
    compared = [statement, original, terminal if code in COMPARES_OUTCOME else None]
    levels = [each.level for each in compared if each is not None]
    if finding.state == "resolved-by-key":
        levels.append("reconstructed")
    return words.lowest_level(levels)
