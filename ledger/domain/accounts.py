"""What a receipt that is no skip states: in one sentence, by its decisive term, and in parts."""

from __future__ import annotations

from ledger.domain import act_accounts, watch_accounts, work_accounts
from ledger.domain.statement import Statement


def account(statement: Statement) -> str:
    """Say what a receipt states, without a full stop; it claims no more than was sent."""
    if statement.kind == "act":
        return act_accounts.account(statement)
    told = work_accounts.ACCOUNTS.get(statement.kind) or watch_accounts.ACCOUNTS[statement.kind]
    return told(statement)


def term(statement: Statement) -> str:
    """Return the decisive term of a receipt that is no skip."""
    if not statement.is_readable:
        return ""
    if statement.kind == "act":
        return act_accounts.term(statement)
    if statement.kind in work_accounts.ACCOUNTS:
        return work_accounts.term(statement)
    return watch_accounts.NOT_JUDGED


def fields(statement: Statement) -> list[tuple[str, str]]:
    """Return the parts that a receipt which is no skip states, beside its key and its times."""
    if statement.kind == "skip" or not statement.is_readable:
        return []
    if statement.kind == "act":
        return act_accounts.fields(statement)
    found = watch_accounts.fields(statement) if statement.kind in watch_accounts.ACCOUNTS else []
    if statement.kind in work_accounts.ACCOUNTS or statement.job is not None:
        found = [*work_accounts.fields(statement), *found]
    return found
