"""How the sentence of a skip goes on while its pointer has come to nothing that tells its end."""

from __future__ import annotations

from ledger.domain import policies, words
from ledger.domain.naming import pointer_words
from ledger.domain.pointers import Finding
from ledger.domain.rule_words import only_condition
from ledger.domain.statement import Statement

OPEN_TAILS: dict[str, str] = {
    "pending": "; {awaited}",
    "dangling": ": {missing}",
    "ambiguous": "; {count} receipts could be the original, and nothing tells which",
    "cycle": ": its pointer leads in a circle",
    "wrong-kind": ": {misfit}",
    "target-quarantined": "; {named} was set aside, because it could not be taken as it came",
    "target-redacted": "; {named} was erased, and only its place in the log is left",
    "unrecorded": "; {named} is not on record: {why}",
}


def open_tail(statement: Statement, finding: Finding, shown: str) -> str:
    return OPEN_TAILS[shown].format(
        named=f"the original of {_last(finding)}" if finding.skips else pointer_words(statement),
        awaited=_awaited(statement, finding),
        missing=_missing(statement, finding),
        count=len(finding.candidates),
        misfit=_misfit(statement, finding),
        why="" if finding.left_out is None else policies.why(finding.left_out),
    )


def names_none(statement: Statement) -> str:
    stated = statement.pointer is not None and statement.pointer.stated_none
    original = "it states that there is no original" if stated else "it names no original"
    if statement.reason is None:
        return f"it gives no reason and {original.removeprefix('it ')}"
    if statement.reason in words.NEEDS_ORIGINAL:
        return f"the reason given is “{words.REASON_WORDS[statement.reason]}”, but {original}"
    reason = words.reason_words(statement.reason)
    reason = reason if reason.startswith("“") else f"“{reason}”"
    only = only_condition(statement)
    return f"the reason given is {reason}, but it names no rule, no switch and no original{only}"


def _last(finding: Finding) -> str:
    return f"№{finding.hops[-1].leaf:,}"


def _awaited(statement: Statement, finding: Finding) -> str:
    if finding.skips:
        return f"the skips lead on to {_last(finding)}, whose original has not arrived"
    if finding.rule == "key-none":
        return "it names no original, and none with its key has arrived"
    return "the original it names has not arrived"


def _misfit(statement: Statement, finding: Finding) -> str:
    if finding.skips:
        return f"the skips lead on to {_last(finding)}, whose pointer leads to no possible original"
    reason = _with_reason(statement.reason)
    return f"its pointer leads to a receipt that cannot be the original of a skip with {reason}"


def _with_reason(reason: str | None) -> str:
    return f"the reason “{words.REASON_WORDS.get(reason, reason)}”" if reason else "no reason"


def _missing(statement: Statement, finding: Finding) -> str:
    if finding.rule == "hop-cap":
        return f"the walk stopped after {finding.skips} skips, and the chain goes on"
    if finding.skips:
        return f"the skips lead on to {_last(finding)}, whose original is not recorded"
    if finding.rule == "key-none":
        later = " or in the ten minutes after it" if statement.reason == "lock_contended" else ""
        return f"it names none, and no enqueue, start or done with its key came before it{later}"
    return f"{pointer_words(statement)} never arrived"
