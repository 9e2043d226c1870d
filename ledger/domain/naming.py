"""How receipts, jobs and originals are called in sentences."""

from __future__ import annotations

from ledger.domain.statement import JobName, Statement


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
