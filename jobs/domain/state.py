"""What is known of jobs and calls after some receipts; the same receipts give the same state.

Jobs are folded, so an older statement that comes late changes nothing that a newer one said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from jobs.domain import folding
from jobs.domain.facts import PACKED, Call, Fact, group_of
from jobs.domain.job import Job

__all__ = ["WATCHED", "Job", "Known", "Told", "groups_of", "iter_generations"]

WATCHED = frozenset({"enqueue", "deliver", "cancel"})
"""The kinds of receipts whose verdict depends on other jobs of the same call."""

SWEEPS = frozenset({"prune", "cancel", "unstarted_cancelled"})
"""The kinds that name several jobs, to which the same happened."""


@dataclass(slots=True)
class Told:
    """One receipt about a call, whose verdict depends on the call's jobs."""

    leaf: int
    call: str
    kind: str
    at: datetime
    scope: str
    number: int | None
    job: str
    count: int | None


@dataclass(slots=True)
class Known:
    """Jobs by name, call and key, and the receipts about calls."""

    jobs: dict[str, Job] = field(default_factory=dict)
    calls: dict[str, dict[str, Job]] = field(default_factory=lambda: defaultdict(dict))
    keys: dict[str, dict[str, Job]] = field(default_factory=lambda: defaultdict(dict))
    told: dict[str, dict[int, Told]] = field(default_factory=lambda: defaultdict(dict))
    left: set[str] = field(default_factory=set)
    """Calls and keys that a job was taken for until a better statement came."""
    _placed: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add_job(self, job: Job) -> None:
        """Let a job be found by its name, its call and its key."""
        self._leave(job)
        self.jobs[job.name] = job
        self._placed[job.name] = (job.call, job.key_digest)
        if job.call:
            self.calls[job.call][job.name] = job
        if job.key_digest:
            self.keys[job.key_digest][job.name] = job

    def _leave(self, job: Job) -> None:
        call, key = self._placed.get(job.name, ("", ""))
        for before, now, found in ((call, job.call, self.calls), (key, job.key_digest, self.keys)):
            if before and before != now:
                del found[before][job.name]
                self.left.add(before)

    def add_told(self, told: Told) -> None:
        """Let a receipt about a call be found by the call."""
        self.told[told.call][told.leaf] = told

    def take(self, fact: Fact) -> list[Job]:
        """Fold one receipt in, and give the jobs that it changed."""
        changed = [self._fold(fact)] if fact.job and fact.kind != "skip" else []
        if fact.kind in SWEEPS:
            changed += [self._sweep(fact, number) for number in fact.listed]
        for told in self.tellings_of(fact):
            self.add_told(told)
        return changed

    def _fold(self, fact: Fact) -> Job:
        job = self._get(fact, fact.job, fact.number)
        folding.identify(job, fact)
        folding.move(job, fact)
        job.last_leaf = max(job.last_leaf, fact.leaf)
        self.add_job(job)
        return job

    def _sweep(self, fact: Fact, number: str) -> Job:
        """Take what a receipt about many jobs did to one, though that one is not known yet."""
        job = self._get(fact, fact.name_of(number), number)
        if fact.kind != "prune":
            folding.end(job, "cancelled", fact)
            job.last_leaf = max(job.last_leaf, fact.leaf)
        elif job.deleted_leaf is None:
            job.deleted_leaf, job.deleted_at, job.deleted_level = fact.leaf, fact.at, fact.level
        self.add_job(job)
        return job

    def _get(self, fact: Fact, name: str, number: str) -> Job:
        known, leaf = self.jobs.get(name), fact.leaf
        return known or Job(
            name, fact.system, fact.instance, number, first_leaf=leaf, last_leaf=leaf
        )

    def tellings_of(self, fact: Fact) -> Iterator[Told]:
        """Give what a receipt tells of calls: mostly of one, a cancel perhaps of two."""
        if fact.kind not in WATCHED or (fact.kind == "cancel" and fact.timer is not None):
            return
        job = self.jobs.get(fact.job)
        call = fact.call
        groups = groups_of(call) if call is not None else ([job.call] if job and job.call else [])
        scope = call.scope if call is not None else (job.scope if job else "")
        number = call.number if call is not None else None
        if number is None and job is not None:
            number = job.generation_number
        for group in groups:
            yield Told(fact.leaf, group, fact.kind, fact.at, scope, number, fact.job, fact.count)


def groups_of(call: Call) -> list[str]:
    """Return the calls that a receipt is about: a cancel of `X#2` may mean a packed scope."""
    found = PACKED.fullmatch(call.scope)
    groups = [call.group]
    if found is not None and not call.is_packed and not call.generation:
        groups.append(group_of(call.system, call.instance, found[1], call.invoke))
    return groups


def iter_generations(jobs: Iterable[Job]) -> list[int]:
    """Return the distinct generation numbers of a call, in order; a rank is a place among them."""
    return sorted({one.generation_number for one in jobs if one.generation_number is not None})
