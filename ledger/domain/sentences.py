"""The sentences of verdicts, put together from a closed table and the facts of a case."""

from __future__ import annotations

from ledger.domain import links, targets, words
from ledger.domain.pointers import Finding
from ledger.domain.statement import JobName, RuleNamed, Statement, SwitchNamed

PLAIN: dict[str, str] = {
    "done": "Done: the producer says that the work was carried out.",
    "fail": "Failed: the producer says that the work was tried and did not succeed.",
    "fresh": "New work: nothing was skipped here.",
    "cancel.swept": "Cancelled: {swept}.",
    "cancel.noop": "A cancel that found nothing to cancel.",
    "discard.run_dead": "Discarded: the run that it belonged to was dead.",
    "unknown": "No verdict: a receipt of kind {kind} is kept as it is and not judged.",
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
"""How the sentence of a skip begins while the original that would bear it out is awaited."""

BECAME: dict[str, str] = {
    "done": "is done",
    "failed": "failed",
    "cancelled": "was cancelled",
    "running": "is still running by all that is recorded",
    "skipped": "was skipped itself",
}
"""What is said of an original that was found, by its outcome."""

SET_ASIDE = "No verdict: it was set aside, because it could not be taken as it came."


def name_of(statement: Statement | None, near: Statement | None = None) -> str:
    """Return the work behind a receipt: its job by number, else by the receipt's leaf."""
    if statement is None:
        return "the original"
    if statement.job is None:
        return f"the work of №{statement.leaf:,}"
    return job_words(statement.job, near)


def job_words(job: JobName, near: Statement | None = None) -> str:
    """Return "job 101", with its source when that is not the source of the receipt at hand."""
    is_foreign = near is not None and (near.system, near.instance) != (job.system, job.instance)
    source = "/".join(part for part in (job.system, job.instance) if part)
    return f"job {job.number} of {source}" if is_foreign and source else f"job {job.number}"


def pointer_words(statement: Statement) -> str:
    """Return what a receipt says its original is, in words."""
    pointer = statement.pointer
    if pointer is None or not pointer.names_something:
        return "the original"
    if pointer.job is not None:
        return job_words(pointer.job, statement)
    return f"the receipt with id {pointer.receipt}"


def plain_sentence(code: str, statement: Statement) -> str:
    """Return the sentence of a receipt that is no skip."""
    if code == "unknown" and not statement.is_readable:
        return SET_ASIDE
    if statement.job is not None and statement.swept is None:
        swept = job_words(statement.job)
    else:
        swept = "1 job" if statement.swept == 1 else f"{statement.swept or 0} jobs"
    kind = statement.word or words.KIND_WORDS.get(statement.kind, statement.kind)
    return PLAIN[code].format(swept=swept, kind=kind)


def skip_sentence(
    code: str,
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
    shown: str,
) -> str:
    """Return the sentence of a skip: its clause, then what its rule or pointer comes to."""
    clause = f"{_clause(code, statement, shown)}{_own_words(code, statement)}"
    if finding is not None and code == "skip.condition" and _is_by_rule(code, statement, shown):
        return f"{clause}{_condition_tail(statement)}."
    if finding is None or _is_by_rule(code, statement, shown):
        return f"{clause}{rule_words(statement)}."
    if shown == "missing-pointer":
        return f"{clause}: {_names_none(statement)}."
    if code == "skip.unexplained" and statement.reason in words.NEEDS_RULE:
        given, only = words.REASON_WORDS[statement.reason], _only_condition(statement)
        return f"{clause}: the reason given is “{given}”, but it names no rule and no switch{only}."
    if shown in _OPEN_TAILS:
        return f"{clause}{_open_tail(statement, finding, shown)}."
    if code == "skip.already_done" and _is_same_start(statement, original, finding):
        same = f"the same start was stored as {name_of(original, statement)}"
        return f"{ASKED_TWICE}: {same}, and {name_of(original, statement)} is done."
    return f"{clause}{_found_tail(code, statement, finding, original, terminal)}."


def _clause(code: str, statement: Statement, shown: str) -> str:
    """Begin the sentence; of a condition it speaks only where the reason sent does."""
    if shown == "pending" and not links.is_explained(statement):
        return SAID.get(code, CLAUSES[code])
    if code != "skip.condition" or statement.reason == "condition_false":
        return CLAUSES[code]
    if statement.switch is not None:
        return f"Skipped because of the switch {statement.switch.name}"
    if statement.rule is None:
        return "Skipped"
    return f"Skipped because of {_rule_name(statement.rule) or 'a rule'}"


def _condition_tail(statement: Statement) -> str:
    """Go on after a clause that names the rule or the switch already."""
    if statement.reason == "condition_false":
        return rule_words(statement)
    if statement.switch is not None:
        set_words = _set_words(statement.switch)
        return f", set{set_words}" if set_words else ""
    text = _rule_text(statement.rule) if statement.rule is not None else ""
    return f": {text}" if text else ""


def _own_words(code: str, statement: Statement) -> str:
    is_own = statement.reason is not None and statement.reason not in words.REASON_WORDS
    return f" (“{statement.reason}”)" if is_own and code != "skip.unexplained" else ""


def _is_by_rule(code: str, statement: Statement, shown: str) -> bool:
    """Tell whether the sentence goes on with the rule and not with the original."""
    if shown == "not-needed":
        return True
    if not links.is_explained(statement):
        return False
    return statement.reason is not None or (code == "skip.condition" and shown not in words.FOUND)


def _is_same_start(statement: Statement, original: Statement | None, finding: Finding) -> bool:
    """Tell whether both are the same start: by an equal key, or by the name of the invoke."""
    if original is None or original.kind not in ("enqueue", "start"):
        return False
    same_key = statement.key_digest is not None and statement.key_digest == original.key_digest
    invoke = _invoke(statement)
    if not same_key and (not all(invoke) or invoke != _invoke(original)):
        return False
    return original.job is not None and finding.outcome == "done"


def _only_condition(statement: Statement) -> str:
    return ", only a condition" if statement.condition else ""


def _invoke(statement: Statement) -> tuple[str, str, str]:
    return statement.scope, statement.invoke_id, statement.generation


def _names_none(statement: Statement) -> str:
    stated = statement.pointer is not None and statement.pointer.stated_none
    original = "it states that there is no original" if stated else "it names no original"
    if statement.reason is None:
        return f"it gives no reason and {original.removeprefix('it ')}"
    if statement.reason in words.NEEDS_ORIGINAL:
        return f"the reason given is “{words.REASON_WORDS[statement.reason]}”, but {original}"
    reason = words.reason_words(statement.reason)
    reason = reason if reason.startswith("“") else f"“{reason}”"
    only = _only_condition(statement)
    return f"the reason given is {reason}, but it names no rule, no switch and no original{only}"


_OPEN_TAILS: dict[str, str] = {
    "pending": "; {awaited}",
    "dangling": ": {missing}",
    "ambiguous": "; {count} receipts could be the original, and nothing tells which",
    "cycle": ": its pointer leads in a circle",
    "wrong-kind": ": {misfit}",
    "target-quarantined": "; {named} was set aside, because it could not be taken as it came",
    "target-redacted": "; {named} was erased, and only its place in the log is left",
}


def _open_tail(statement: Statement, finding: Finding, shown: str) -> str:
    return _OPEN_TAILS[shown].format(
        named=f"the original of {_last(finding)}" if finding.skips else pointer_words(statement),
        awaited=_awaited(statement, finding),
        missing=_missing(statement, finding),
        count=len(finding.candidates),
        misfit=_misfit(statement, finding),
    )


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
        return "it names none, and no start or done with the same key came before it"
    return f"{pointer_words(statement)} never arrived"


def _found_tail(
    code: str,
    statement: Statement,
    finding: Finding,
    original: Statement | None,
    terminal: Statement | None,
) -> str:
    name, became = name_of(original, statement), BECAME.get(finding.outcome, "was found")
    if original is not None and original.kind == "skip":
        return _chain_tail(finding, terminal, statement)
    by_key = ", found by its key," if finding.state == "resolved-by-key" else ""
    if by_key and _says(original):
        return f"; found by its key: {_says(original)} {became}"
    if (code, finding.outcome) in _AT_ODDS:
        return f"; {name}{by_key} {_AT_ODDS[code, finding.outcome]}"
    return f": {_says(original) or name}{by_key} {became}"


_AT_ODDS: dict[tuple[str, str], str] = {
    ("skip.already_done", "running"): "has not ended, though, by all that is recorded",
    ("skip.in_flight", "done"): "is done by now",
    ("skip.upstream_failed", "done"): "is done by now",
    ("skip.upstream_failed", "running"): "has not ended, though, by all that is recorded",
    ("skip.holder_lost", "done"): "is done by now",
    ("skip.holder_lost", "running"): "has left no end on record",
}


def _chain_tail(finding: Finding, terminal: Statement | None, statement: Statement) -> str:
    skips = finding.skips
    through = "another skip" if skips == 1 else f"{skips} other skips"
    if finding.rule == "explained":
        which = "which" if skips == 1 else "the last of which"
        return f": its pointer leads to {through}, {which} a rule explains"
    end = name_of(terminal, statement) if terminal is not None else "a job"
    became = BECAME.get(finding.outcome, "was found")
    return f": its pointer leads through {through} to {end}, which {became}"


def _says(original: Statement | None) -> str:
    """Let a receipt that is itself the end of the work speak: it has no job to be named by."""
    if original is None or original.job is not None or original.kind not in targets.ENDS:
        return ""
    return f"№{original.leaf:,} says that it"


def rule_words(statement: Statement) -> str:
    """Return what the named rule or switch adds to the sentence, else nothing."""
    switch, rule = statement.switch, statement.rule
    if switch is not None:
        set_words = _set_words(switch)
        return f": the switch {switch.name}{' was set' if set_words else ''}{set_words}"
    if rule is None:
        return ""
    said = [part for part in (_rule_name(rule).removeprefix("the "), _rule_text(rule)) if part]
    return f": {', '.join(said)}" if said else ""


def _set_words(switch: SwitchNamed) -> str:
    by = f" by {switch.actor}" if switch.actor else ""
    at = f" on {switch.set_at:%Y-%m-%d at %H:%M:%S} UTC" if switch.set_at is not None else ""
    return f"{at}{by}"


def _rule_name(rule: RuleNamed) -> str:
    name = rule.name or rule.symbol or rule.path
    version = f", version {rule.version}" if rule.version else ""
    if name:
        return f"the rule {name}{version}"
    return f"decision {rule.decision}" if rule.decision else ""


def _rule_text(rule: RuleNamed) -> str:
    return f"“{rule.text}”" if rule.text and len(rule.text) <= 200 else ""
