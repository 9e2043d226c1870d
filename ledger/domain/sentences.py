"""The sentences of verdicts, put together from a closed table and the facts of a case."""

from __future__ import annotations

from ledger.domain import accounts, links, words, work_accounts
from ledger.domain.clauses import ASKED_TWICE, CLAUSES, PLAIN, SET_ASIDE, clause, own_words
from ledger.domain.found_tails import found_tail
from ledger.domain.naming import job_words, name_of, pointer_words
from ledger.domain.open_tails import OPEN_TAILS, names_none, open_tail
from ledger.domain.pointers import Finding
from ledger.domain.rule_words import condition_tail, only_condition, rule_words
from ledger.domain.statement import Statement

__all__ = [
    "CLAUSES",
    "PLAIN",
    "job_words",
    "name_of",
    "plain_sentence",
    "pointer_words",
    "rule_words",
    "skip_sentence",
]


def plain_sentence(code: str, statement: Statement) -> str:
    """Return the sentence of a receipt that is no skip."""
    if code == "unknown" and not statement.is_readable:
        return SET_ASIDE
    swept = work_accounts.swept_words(statement)
    return PLAIN[code].format(swept=swept, account=accounts.account(statement))


def skip_sentence(
    code: str,
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
    shown: str,
) -> str:
    """Return the sentence of a skip: its clause, then what its rule or pointer comes to."""
    begun = f"{clause(code, statement, shown)}{own_words(code, statement)}"
    if finding is not None and code == "skip.condition" and _is_by_rule(code, statement, shown):
        return f"{begun}{condition_tail(statement)}."
    if finding is None or _is_by_rule(code, statement, shown):
        return f"{begun}{rule_words(statement)}."
    if shown == "missing-pointer":
        return f"{begun}: {names_none(statement)}."
    if code == "skip.unexplained" and statement.reason in words.NEEDS_RULE:
        given, only = words.REASON_WORDS[statement.reason], only_condition(statement)
        return f"{begun}: the reason given is “{given}”, but it names no rule and no switch{only}."
    if shown in OPEN_TAILS:
        return f"{begun}{open_tail(statement, finding, shown)}."
    if code == "skip.already_done" and _is_same_start(statement, original, finding):
        same = f"the same start was stored as {name_of(original, statement)}"
        return f"{ASKED_TWICE}: {same}, and {name_of(original, statement)} is done."
    return f"{begun}{found_tail(code, statement, finding, original, terminal)}."


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


def _invoke(statement: Statement) -> tuple[str, str, str]:
    return statement.scope, statement.invoke_id, statement.generation
