"""Whether anything will still run, and what the ledger cannot know."""

from __future__ import annotations

from ledger.domain import act_accounts, sentences, words
from ledger.domain.kin import Kin
from ledger.domain.pointers import Finding
from ledger.domain.statement import LEVEL_BY_VIA, Statement

BY_OUTCOME: dict[str, tuple[str, str]] = {
    "done": ("no", "{original} is done, and this attempt did not run"),
    "failed": ("unknown", "{original} failed; whether it is tried again is not recorded"),
    "cancelled": ("no", "{original} was cancelled, and this attempt did not run"),
    "running": ("unknown", "{original} has no done, fail, cancel or discard receipt so far"),
    "skipped": ("unknown", "its original is a skip itself, and this attempt did not run"),
}
BY_REASON: dict[str, tuple[str, str]] = {
    "paused": ("unknown", "this attempt did not run; whoever asked may ask again after the pause"),
    "draining": ("unknown", "this attempt did not run; it may be asked for again elsewhere"),
    "backlog_full": ("unknown", "this attempt did not run; it may be asked for again later"),
    "rate_limited": ("unknown", "this attempt did not run; it may be asked for again later"),
    "condition_false": ("no", "its condition was false, and this attempt did not run"),
    "branch_not_taken": ("no", "its branch was not taken, and this attempt did not run"),
    "expired": ("no", "it came too late, and this attempt did not run"),
    "wrong_generation": ("no", "its generation was closed, and this attempt did not run"),
}
BY_KIND: dict[str, tuple[str, str]] = {
    "done": ("no", "the work is done"),
    "deliver": ("no", "the work is done"),
    "cancel": ("no", "the work was cancelled"),
    "discard": ("no", "the work was discarded"),
    "fail": ("unknown", "whether it is tried again is not recorded here"),
    "enqueue": ("unknown", "it was put on a queue, and no end of it is on record"),
    "start": ("unknown", "it was started, and no end of it is on record"),
    "retry": ("unknown", "it is tried again, and no end of it is on record"),
    "rescue": ("unknown", "it was rescued, and no end of it is on record"),
}
BY_END: dict[str, tuple[str, str]] = {
    "done": ("no", "№{leaf:,} says that the work is done"),
    "failed": ("unknown", "№{leaf:,} says that it failed; whether it is tried again is not known"),
    "cancelled": ("no", "№{leaf:,} says that it was cancelled"),
}
"""What another receipt of the same work says of its end."""

OF_KIND: dict[str, tuple[str, ...]] = {
    "done": ("Whether the work was good: that it was carried out is all that a done says.",),
    "act": ("Whether it was that person: who acted is the producer's claim.",),
    "heartbeat": ("Whether the loop was alive before and after it: a beat speaks for its moment.",),
    "tally": ("What each single outcome was like: a tally gives sums.",),
    "decide": ("Whether it was that person: who moved is the producer's claim.",),
}
OF_OURS = (
    "Whether it was that person: the ledger knows which account, token or command acted.",
    "When it happened by another clock: this server's own says so, and no witness has seen it.",
)
NO_KIN = Kin()
NOT_ASKED = ("unknown", "a receipt of this kind asks for no work")
LEFT_OUT = ("unknown", "its original was left out by policy, so what became of it is not recorded")
NOT_FOUND = ("unknown", "its original is not known, so nobody can say what became of the work")


def will_run(
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    shown: str,
    kin: Kin = NO_KIN,
) -> dict[str, str]:
    """Return whether anything will still run, as no, yes or unknown, and because of what."""
    if kin.end is not None and kin.outcome in BY_END:
        answer, because = BY_END[kin.outcome]
        return {"answer": answer, "because": because.format(leaf=kin.end.leaf)}
    answer, because = _chance(statement, finding, shown)
    name = sentences.name_of(original, statement)
    return {"answer": answer, "because": because.format(original=name)}


def _chance(statement: Statement, finding: Finding | None, shown: str) -> tuple[str, str]:
    if statement.kind != "skip":
        return BY_KIND.get(statement.kind, NOT_ASKED)
    if finding is not None and finding.outcome and shown not in words.UNRESOLVED:
        return BY_OUTCOME[finding.outcome]
    if shown == "unrecorded":
        return LEFT_OUT
    if shown == "not-needed" and statement.reason in BY_REASON:
        return BY_REASON[statement.reason]
    if shown == "not-needed":
        return "unknown", "this attempt did not run; it may be asked for again"
    return NOT_FOUND


def cannot_know(
    statement: Statement, finding: Finding | None, *, payload_erased: bool = False
) -> list[str]:
    """Return in sentences what the ledger cannot know of this receipt."""
    if act_accounts.is_ours(statement):
        return list(OF_OURS)
    found = [
        "Whether the producer told the truth: the ledger keeps what was said, not that it is so."
    ]
    found.append(_when(statement))
    found.extend(OF_KIND.get(statement.kind, ()))
    ceiling = LEVEL_BY_VIA.get(statement.via, "unknown")
    claimed = statement.evidence or ceiling
    if statement.level != claimed:
        found.append(
            f"Whether it was seen as it happened: the producer claims “{claimed}”, "
            f"the ledger grants “{statement.level}”."
        )
    if finding is not None and finding.state == "resolved-by-key":
        found.append(
            "Whether this is the original that was meant: it has the same key and comes "
            "before it, but the producer did not name it."
        )
    if finding is not None and finding.left_out is not None:
        found.append(
            "Whether the original was done: its source sends no receipts of it, by its policy."
        )
    if finding is not None and any(hop.kind == "tally" for hop in finding.hops):
        found.append("When exactly its original ended: a tally tells of some seconds at once.")
    if payload_erased:
        found.append("What its data was: the payload was erased, the rest was kept.")
    return found


def _when(statement: Statement) -> str:
    if statement.occurred_at is None:
        return "When it happened: the producer did not say; it was here by the time received."
    return "When it happened: only the producer's clock says so; it was here by the time received."
