"""How sentences begin: one closed table for skips, and one for all that is no skip."""

from __future__ import annotations

from ledger.domain import links, words
from ledger.domain.rule_words import rule_name
from ledger.domain.statement import Statement

PLAIN: dict[str, str] = {
    "done": "Done: {account}.",
    "fail": "Failed: {account}.",
    "fresh": "New work: {account}.",
    "cancel.swept": "Cancelled: {swept}.",
    "cancel.noop": "A cancel that found nothing to cancel.",
    "discard.run_dead": "Discarded: {account}.",
    "discard.rejected": "Rejected by its own code: {account}.",
    "discard.unknown_task": "Dropped, because no worker knew its task: {account}.",
    "discard.undecodable": "Dropped, because its message could not be read: {account}.",
    "delivery.first": "Handed to a worker: {account}.",
    "delivery.again": "Handed out again: {account}.",
    "fail.worker_lost": "Failed, because its worker was lost: {account}.",
    "fail.time_limit": "Failed, because it took longer than it may: {account}.",
    "fail.rejected": "Failed, because it was rejected: {account}.",
    "retry": "To run again: {account}.",
    "retry.swallowed": "Asked to run again, and nothing was published: {account}.",
    "retry.requeued": "Put back on its queue: {account}.",
    "revoke.asked": "A revoke was asked for: {account}.",
    "revoke.effected": "Revoked: {account}.",
    "unknown": "{account}.",
    "not_derived": "Stored and kept, but not read yet: the verdict follows.",
}
"""The whole sentence of every code that is not a skip's."""


CLAUSES: dict[str, str] = {
    "dedup.redelivery": "Skipped because the same message was delivered again",
    "dedup.lock_contended": "Skipped because another held the lock",
    "dedup.lock_contended_lost": "Skipped because another held the lock, but nobody can be found "
    "who held it",
    "skip.already_done": "Skipped because it was already done",
    "skip.in_flight": "Skipped because it was in flight",
    "skip.superseded": "Skipped because a newer call took over",
    "skip.wrong_generation": "Skipped because its generation was closed",
    "skip.paused": "Skipped because the work was paused",
    "skip.draining": "Skipped because the work was draining",
    "skip.backlog_full": "Skipped because the backlog was full",
    "skip.rate_limited": "Skipped because of a rate limit",
    "skip.upstream_failed": "Skipped because what it depends on failed",
    "skip.branch_not_taken": "Skipped because its branch was not taken",
    "skip.condition": "Skipped because of a condition",
    "skip.expired": "Skipped because it had expired",
    "skip.original_failed": "Skipped, but its original did not succeed",
    "skip.original_missing": "Skipped, but its original is not recorded",
    "skip.holder_lost": "Skipped because another held the key, and that one was lost",
    "skip.unexplained": "Skipped, and nothing explains it",
}
"""How the sentence of every skip begins; what its rule or pointer came to follows."""


ASKED_TWICE = "Skipped because it was asked for twice"


SAID: dict[str, str] = {
    "dedup.redelivery": "Skipped, said to be the same message again",
    "dedup.lock_contended": "Skipped, said to have met a lock that another held",
    "skip.already_done": "Skipped, said to be already done",
    "skip.in_flight": "Skipped, said to be in flight",
    "skip.superseded": "Skipped, said to be superseded by a newer call",
    "skip.wrong_generation": "Skipped, said to be for a generation that is closed",
    "skip.upstream_failed": "Skipped, said to depend on what failed",
    "skip.holder_lost": "Skipped, said to have met a key whose holder was lost",
}
"""How the sentence of a skip begins while nothing on record bears it out."""


SET_ASIDE = "No verdict: it was set aside, because it could not be taken as it came."


def clause(code: str, statement: Statement, shown: str) -> str:
    """Begin the sentence; of a condition it speaks only where the reason sent does."""
    if shown in ("pending", "unrecorded") and not links.is_explained(statement):
        return SAID.get(code, CLAUSES[code])
    if code != "skip.condition" or statement.reason == "condition_false":
        return CLAUSES[code]
    if statement.switch is not None:
        return f"Skipped because of the switch {statement.switch.name}"
    if statement.rule is None:
        return "Skipped"
    return f"Skipped because of {rule_name(statement.rule) or 'a rule'}"


def own_words(code: str, statement: Statement) -> str:
    if code == "skip.already_done" and statement.reason == "in_flight":
        return ", though it was said to be in flight"
    is_own = statement.reason is not None and statement.reason not in words.REASON_WORDS
    return f" (“{statement.reason}”)" if is_own and code != "skip.unexplained" else ""
