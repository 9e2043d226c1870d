"""Where the other receipts of a project are looked up, and what was asked on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ledger.domain.policies import Policy
from ledger.domain.statement import JobName, Statement
from ledger.domain.tallies import Tallied

Question = tuple[str, str]
"""What was looked up: ("id", key), ("job", text), ("key", digest), ("masked", masked id), or
("policy", source), a source being written as `celery/shop`."""


class Book(Protocol):
    """Every statement of one project, each list in the order of the leaves."""

    def by_id(self, id_key: str, /) -> Sequence[Statement]:
        """Return all receipts that claim an id, those in conflict and those set aside too."""

    def by_job(self, job: JobName, /) -> Sequence[Statement]:
        """Return all receipts of a job."""

    def by_key(self, key_digest: str, near: int, /) -> Sequence[Statement]:
        """Return the receipts with a key; of a hot key, those around the leaf `near`."""

    def by_masked_id(self, masked: str, /) -> Sequence[Statement]:
        """Return all receipts whose id is the same but for version and variant."""

    def is_redacted(self, leaf: int, /) -> bool:
        """Tell whether a receipt was erased whole."""

    def tallied(self, job: JobName, /) -> Sequence[Tallied]:
        """Return what tallies list of a job."""

    def policies(self, system: str, instance: str, /) -> Sequence[Policy]:
        """Return the recording policies that a source announced."""

    def lists_all(self, system: str, instance: str, voice: str, /) -> bool:
        """Tell whether every tally of a source by a voice lists the jobs that it counts."""


@dataclass(slots=True)
class Inquiry:
    """A look into the book that remembers every question, so that an answer can be awaited."""

    book: Book
    asked: set[Question] = field(default_factory=set)

    def by_id(self, id_key: str) -> list[Statement]:
        """Return all receipts that claim an id, whatever their state."""
        self.asked.add(("id", id_key))
        return list(self.book.by_id(id_key))

    def by_job(self, job: JobName) -> list[Statement]:
        """Return the readable receipts of a job, without skips that are not its own end."""
        self.asked.add(("job", job.text()))
        return [each for each in self.book.by_job(job) if each.is_readable and is_of_job(each)]

    def tallied(self, job: JobName) -> list[Tallied]:
        """Return what readable tallies list of a job."""
        self.asked.add(("job", job.text()))
        return [each for each in self.book.tallied(job) if not self.is_redacted(each.tally)]

    def policies(self, system: str, instance: str) -> list[Policy]:
        """Return the recording policies of a source."""
        self.asked.add(("policy", f"{system}/{instance}"))
        return list(self.book.policies(system, instance))

    def by_key(self, key_digest: str, near: int) -> list[Statement]:
        """Return the readable receipts with a key that still have their content."""
        self.asked.add(("key", key_digest))
        found = [each for each in self.book.by_key(key_digest, near) if each.is_readable]
        return [each for each in found if not self.is_redacted(each)]

    def by_masked_id(self, masked: str) -> list[Statement]:
        """Return the readable receipts whose id is the same but for version and variant."""
        self.asked.add(("masked", masked))
        return [each for each in self.book.by_masked_id(masked) if each.is_readable]

    def is_redacted(self, statement: Statement) -> bool:
        """Tell whether a receipt was erased whole."""
        return self.book.is_redacted(statement.leaf)


def is_of_job(statement: Statement) -> bool:
    """Tell whether a receipt is about the work of its job: a skip mostly is about another's."""
    return statement.kind != "skip" or statement.is_end_of_job


def answers(statement: Statement) -> frozenset[Question]:
    """Return the questions that a statement answers: who asked one is to be looked at again."""
    found = {("id", statement.id_key)} if statement.id_key else set()
    if statement.job is not None:
        found.add(("job", statement.job.text()))
    if statement.key_digest is not None:
        found.add(("key", statement.key_digest))
    if statement.masked_id is not None:
        found.add(("masked", statement.masked_id))
    return frozenset(found)
