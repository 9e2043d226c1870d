"""The closed vocabularies of receipts and verdicts, with the words a person reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

KIND_WORDS: dict[str, str] = {
    "enqueue": "enqueue",
    "start": "start",
    "done": "done",
    "fail": "fail",
    "skip": "skip",
    "cancel": "cancel",
    "discard": "discard",
    "deliver": "delivery",
    "retry": "retry",
    "prune": "prune",
    "rescue": "rescue",
    "revoke": "revoke",
    "heartbeat": "heartbeat",
    "observe": "observation",
    "tally": "tally",
    "decide": "decision",
    "act": "act",
    "other": "other",
}
"""Every kind of contract section 2 and the noun for it."""

NEEDS_ORIGINAL: frozenset[str] = frozenset(
    {
        "already_done",
        "in_flight",
        "holder_lost",
        "superseded",
        "upstream_failed",
        "redelivery",
        "lock_contended",
    }
)
"""The reasons that only an original explains; all others need a named rule or switch."""

NEEDS_RULE: frozenset[str] = frozenset(
    {
        "paused",
        "draining",
        "backlog_full",
        "rate_limited",
        "branch_not_taken",
        "condition_false",
        "expired",
    }
)
"""The reasons that only a named rule or switch explains; an original says nothing about them."""

REASON_WORDS: dict[str, str] = {
    "already_done": "already done",
    "in_flight": "in flight",
    "holder_lost": "holder lost",
    "superseded": "superseded by a newer call",
    "wrong_generation": "for a generation that is closed",
    "paused": "paused",
    "draining": "draining",
    "backlog_full": "backlog full",
    "rate_limited": "rate limited",
    "upstream_failed": "what it depends on failed",
    "branch_not_taken": "branch not taken",
    "condition_false": "its condition was false",
    "expired": "expired",
    "redelivery": "the same message came again",
    "lock_contended": "another held the lock",
}
"""The closed reasons for a skip; any other text is a producer's own words."""

LEVELS: tuple[str, ...] = ("recorded", "reconstructed", "asserted", "unknown")
"""Evidence levels, highest first."""

LEVEL_WORDS: dict[str, str] = {
    "recorded": "recorded when it happened",
    "reconstructed": "reconstructed later",
    "asserted": "asserted by a person",
    "unknown": "level unknown",
}

FOUND: frozenset[str] = frozenset(
    {"resolved", "resolved-chain", "resolved-late", "resolved-by-key", "unrecorded"}
)
"""The states in which the walk came to what it looked for."""

UNRESOLVED: frozenset[str] = frozenset(
    {"dangling", "ambiguous", "cycle", "wrong-kind", "missing-pointer"}
)
"""The shown pointer states that need someone; a pointer that is pending is not among them."""

POINTER_STATES: tuple[str, ...] = (
    "resolved",
    "resolved-chain",
    "resolved-late",
    "resolved-by-key",
    "not-needed",
    "unrecorded",
    "pending",
    "dangling",
    "ambiguous",
    "cycle",
    "wrong-kind",
    "missing-pointer",
    "target-quarantined",
    "target-redacted",
)
"""Every state that a pointer is shown in; "waiting" is stored for pending and dangling."""

POINTER_WORDS: dict[str, str] = {
    "resolved-by-key": "found by key",
    "not-needed": "explained by a rule",
    "unrecorded": "not recorded by policy",
    "waiting": "not found so far",
    "pending": "not here yet",
    "dangling": "not found",
    "missing-pointer": "names no original",
    "cycle": "points in a circle",
    "ambiguous": "several candidates",
    "wrong-kind": "points to the wrong kind",
    "target-quarantined": "original set aside",
    "target-redacted": "original erased",
}
"""The words of every shown state but the found ones, which say what became of the original."""

OUTCOME_WORDS: dict[str, str] = {
    "done": "found, done",
    "failed": "found, failed",
    "cancelled": "found, cancelled",
    "running": "found, still running",
    "skipped": "found, a skip",
}
"""What became of an original that was found."""


OUTCOME_SHORT: dict[str, str] = {
    "done": "done",
    "failed": "failed",
    "cancelled": "cancelled",
    "running": "still running",
    "skipped": "a skip",
}

POINTER_TONES: dict[str, str] = {
    "resolved-by-key": "done",
    "not-needed": "done",
    "unrecorded": "plain",
    "pending": "plain",
    "dangling": "bad",
    "missing-pointer": "bad",
    "cycle": "bad",
    "ambiguous": "bad",
    "wrong-kind": "bad",
    "target-quarantined": "gap",
    "target-redacted": "plain",
}
OUTCOME_TONES: dict[str, str] = {
    "done": "done",
    "failed": "bad",
    "cancelled": "plain",
    "running": "plain",
    "skipped": "skip",
}

RULE_WORDS: dict[str, str] = {
    "original-missing": "an original that is not on record wins over the reason sent",
    "original-failed": "an original that did not succeed wins over the reason sent",
    "original-state-sent": "how the original had ended, as the skip says and no receipt tells",
    "nothing-explains": "neither an original nor a rule nor a switch explains it",
    "reason-sent": "the reason that was sent, and nothing on record speaks against it",
    "rule-named": "the rule or the switch that the producer named",
    "original-outcome": "what became of the original, for want of a reason",
    "kind": "the kind of the receipt",
    "kind-and-reason": "the kind of the receipt, and the reason that it gives",
    "broker-says": "the broker marked the message as handed out before",
    "done-before": "the original had ended before the skip, by more than clocks may differ",
    "count": "how many jobs it counts",
    "no-count": "it neither names a job nor counts any",
    "set-aside": "what was set aside is not judged",
    "not-derived": "its leaf has not been derived",
    "child-start": "whether the start of an item has completed",
    "row-discarded": "the job has spent its attempts",
    "row-completed": "the job's state",
    "row-cancelled": "the job's state, and no error that says more",
    "run-dead": "the last error says that the run was no longer there",
    "snoozed": "attempted, without an error, and waiting again",
    "timer-waits": "the timer has not fired",
    "guard-gone": "an older job of the same key was deleted before this one was stored",
    "operator-retry": "attempted and cancelled before, and waiting again",
    "stale-answer": "an older generation completed after this one was stored",
    "newer-stored": "a newer generation was stored before this one answered",
    "cancel-came-late": "a cancel of its call came at or after its end",
    "child-starts": "jobs that start its items are on record",
    "deferred": "a receipt says that the answer will come from outside",
    "scope-unpacks": "a scope that carries the generation",
    "older-generation": "an earlier generation of the same call is stored",
    "first-of-key": "no earlier job of its key, nor an earlier generation of its call, is stored",
    "key-had-before": "another job had the same key before it",
    "no-end-told": "it has no key, and no receipt, row or tally on record tells of its end",
    "revoke-asked": "somebody asked that it be revoked, and no receipt tells that it was",
    "not-first": "an earlier one of the same attempt of the same job",
    "ended-so": "what the job's last word says of why it ended",
    "was-executing": "a job of the call was executing then, which a cancel does not reach",
    "macrostep-differs": "the generation that was asked for is not the stored one",
    "element-differs": "the element that asked is not the stored one's",
    "work-differs": "what was to be done is not what the stored job does",
    "same-key": "the same generation and the same element",
    "same-key-element-unknown": "the same generation; the receipt does not tell its element",
    "not-checked": "it was stored by a call that checks no uniqueness",
    "same-ordinal": "the same scope and the same ordinal",
    "observed": "what telemetry observed",
    "pruned": "the job table's cleaning",
}
"""The rules that speak in verdicts, and what each says."""


@dataclass(frozen=True, slots=True)
class Badge:
    """How a verdict looks beside its word: the tone of the badge and the icon's name."""

    word: str
    tone: str
    icon: str


_SKIPPED = ("skip", "skip")
_OPEN = ("bad", "triangle-alert")
_PLAIN = ("plain", "circle")

VERDICT_BADGES: dict[str, Badge] = {
    code: Badge(word, *look)
    for code, word, look in (
        ("fresh", "new", ("plain", "play")),
        ("done", "done", ("done", "check")),
        ("fail", "failed", ("bad", "x")),
        ("cancel.swept", "cancelled", ("plain", "ban")),
        ("cancel.noop", "nothing to cancel", _PLAIN),
        ("discard.run_dead", "discarded", ("plain", "ban")),
        ("discard.rejected", "rejected", ("plain", "ban")),
        ("discard.unknown_task", "dropped, unknown task", _OPEN),
        ("discard.undecodable", "dropped, unreadable", _OPEN),
        ("delivery.first", "handed to a worker", ("plain", "play")),
        ("delivery.again", "handed out again", ("plain", "rotate-ccw")),
        ("start.again", "started again", ("plain", "rotate-ccw")),
        ("fail.worker_lost", "failed, worker lost", ("bad", "x")),
        ("fail.time_limit", "failed, time limit", ("bad", "x")),
        ("fail.rejected", "failed, rejected", ("bad", "x")),
        ("retry", "to run again", ("plain", "rotate-ccw")),
        ("retry.swallowed", "retry swallowed", _OPEN),
        ("retry.requeued", "put back", ("plain", "rotate-ccw")),
        ("revoke.asked", "revoke asked for", _PLAIN),
        ("revoke.effected", "revoked", ("plain", "ban")),
        ("reentry.fresh", "new generation", ("plain", "play")),
        ("scope.packed", "new, scope packed", ("plain", "play")),
        ("rerun.same_row", "retried by hand", ("plain", "rotate-ccw")),
        ("failed.exhausted", "failed, attempts spent", ("bad", "x")),
        ("timer.pending", "timer waits", ("plain", "hourglass")),
        ("timer.snoozed", "timer snoozed", ("plain", "hourglass")),
        ("fanout.child_started", "item started", ("done", "check")),
        ("fanout.child_pending", "item waits", ("plain", "hourglass")),
        ("open.fan_out", "answer open, fanned out", ("plain", "hourglass")),
        ("open.deferred", "answer open, deferred", ("plain", "hourglass")),
        ("delivery.stale_suspect", "answer of an old generation", _OPEN),
        ("cancel.lost_to_terminal", "done before the cancel", ("done", "check")),
        ("cancel.noop_executing", "cancel did not reach it", _PLAIN),
        ("cancel.missed_packed", "cancel missed a packed scope", _OPEN),
        ("cancel.swept_after_stale", "cancelled after an old answer", _OPEN),
        ("guard.pruned", "guard deleted", ("gap", "diamond")),
        ("replay.duplicated_after_prune", "ran again, guard was gone", _OPEN),
        ("dedup.replay", "skip, same call again", _SKIPPED),
        ("dedup.lost_reentry", "skip, re-entry lost", _OPEN),
        ("dedup.residual_collision", "skip, two elements of one id", _OPEN),
        ("dedup.scope_reuse_suspect", "skip, scope used again?", _OPEN),
        ("dedup.redelivery", "skip, same message again", _SKIPPED),
        ("dedup.lock_contended", "skip, lock was held", _SKIPPED),
        ("dedup.lock_contended_lost", "skip, lock holder not found", _OPEN),
        ("skip.already_done", "skip, already done", _SKIPPED),
        ("skip.in_flight", "skip, in flight", _SKIPPED),
        ("skip.superseded", "skip, superseded", _SKIPPED),
        ("skip.wrong_generation", "skip, generation closed", _SKIPPED),
        ("skip.paused", "skip, paused", _SKIPPED),
        ("skip.draining", "skip, draining", _SKIPPED),
        ("skip.backlog_full", "skip, backlog full", _SKIPPED),
        ("skip.rate_limited", "skip, rate limited", _SKIPPED),
        ("skip.upstream_failed", "skip, upstream failed", _SKIPPED),
        ("skip.branch_not_taken", "skip, branch not taken", _SKIPPED),
        ("skip.condition", "skip, by a condition", _SKIPPED),
        ("skip.expired", "skip, expired", _SKIPPED),
        ("skip.original_failed", "skip, original failed", _OPEN),
        ("skip.original_missing", "skip, original missing", ("bad", "unlink")),
        ("skip.holder_lost", "skip, holder lost", _OPEN),
        ("skip.unexplained", "skip, unexplained", ("bad", "unlink")),
        ("unknown", "no verdict", _PLAIN),
        ("not_derived", "not read yet", ("plain", "hourglass")),
    )
}
"""Every verdict code of this release; docs/reference/verdicts.md has an entry for each."""

VERDICT_CODES: tuple[str, ...] = tuple(VERDICT_BADGES)


def reason_words(reason: str | None) -> str:
    """Return a reason as a person reads it; a producer's own words stand in quotes."""
    if not reason:
        return "no reason given"
    return REASON_WORDS.get(reason, f"“{reason}”")


def level_words(level: str, kind: str = "") -> str:
    """Return an evidence level in words: a skip was "recorded when it was skipped"."""
    if level == "recorded" and kind == "skip":
        return "recorded when it was skipped"
    return LEVEL_WORDS.get(level, LEVEL_WORDS["unknown"])


def badge(code: str) -> Badge:
    """Return the badge of a verdict code; a code of a later release shows as itself."""
    return VERDICT_BADGES.get(code, Badge(code, *_PLAIN))


def badge_of(code: str, kind: str, state: str = "accepted") -> Badge:
    """Return the badge of a receipt: one that is not judged says what it is."""
    if state in ("quarantined", "oversize"):
        return Badge("set aside", "gap", "inbox")
    found = badge(code)
    word = _WORDS_OF_KIND.get((code, kind), found.word)
    return Badge(KIND_WORDS.get(kind, word) if code == "unknown" else word, found.tone, found.icon)


_WORDS_OF_KIND = {("fresh", "start"): "started", ("done", "deliver"): "delivered"}


def lowest_level(levels: Iterable[str]) -> str:
    """Return the lowest of some evidence levels; of none, "unknown"."""
    ranks = [LEVELS.index(level) if level in LEVELS else len(LEVELS) - 1 for level in levels]
    return LEVELS[max(ranks, default=len(LEVELS) - 1)]
