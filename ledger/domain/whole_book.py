"""A book of statements that are all at hand, for a history that no database holds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ledger.domain.book import answers
from ledger.domain.policies import Policy, policy_of
from ledger.domain.statement import JobName, Statement
from ledger.domain.tallies import Tallied


class WholeBook:
    """Statements by id, job, key and masked id, each list in the order of the leaves."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        """Keep the statements of one project."""
        self._found: dict[tuple[str, str], list[Statement]] = defaultdict(list)
        self._by_leaf: dict[int, Statement] = {}
        for one in sorted(statements, key=lambda each: each.leaf):
            self._by_leaf[one.leaf] = one
            for question in answers(one):
                self._found[question].append(one)

    def find(self, leaf: int | None) -> Statement | None:
        """Return the statement of a leaf."""
        return None if leaf is None else self._by_leaf.get(leaf)

    def by_id(self, id_key: str) -> Sequence[Statement]:
        """Return all receipts that claim an id."""
        return self._found.get(("id", id_key), [])

    def by_job(self, job: JobName) -> Sequence[Statement]:
        """Return all receipts of a job."""
        return self._found.get(("job", job.text()), [])

    def by_key(self, key_digest: str, near: int) -> Sequence[Statement]:
        """Return all receipts with a key, however far from a leaf."""
        return self._found.get(("key", key_digest), [])

    def by_masked_id(self, masked: str) -> Sequence[Statement]:
        """Return all receipts whose id is the same but for version and variant."""
        return self._found.get(("masked", masked), [])

    def is_redacted(self, leaf: int) -> bool:
        """Say that nothing was erased."""
        return False

    def tallied(self, job: JobName) -> Sequence[Tallied]:
        """Return nothing: statements are made of stubs, and a stub lists no tallied jobs."""
        return ()

    def policies(self, system: str, instance: str) -> Sequence[Policy]:
        """Return the recording policies that a source announced."""
        told = self._by_leaf.values()
        of_source = (one for one in told if (one.system, one.instance) == (system, instance))
        return [policy for one in of_source if (policy := policy_of(one)) is not None]

    def lists_all(self, system: str, instance: str, voice: str) -> bool:
        """Say that no tally is known to leave its jobs out."""
        return True
