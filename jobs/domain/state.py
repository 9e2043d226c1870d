"""What is known of jobs and calls after some receipts; the same receipts give the same state.

Jobs are folded, so an older statement that comes late changes nothing that a newer one said.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime

from jobs.domain import beginnings, folding
from jobs.domain.facts import PACKED, Call, Fact, group_of
from jobs.domain.job import Job
from jobs.domain.line import Line

__all__ = ["RANKED", "WATCHED", "Job", "Known", "Told", "groups_of", "is_ranked"]

WATCHED = frozenset({"enqueue", "deliver", "cancel"})
"""The kinds of receipts whose verdict depends on other jobs of the same call."""

RANKED = {"handover": beginnings.DELIVERY, "start": beginnings.EXECUTION}
"""The kinds that are ranked among those of the same attempt of their job."""

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
    """Jobs by name, call and key, and the receipts about calls.

    `latest` is the job that had a key last, of keys that are no call's; `following` leads from
    such a job to those that had the key next.
    """

    jobs: dict[str, Job] = field(default_factory=dict)
    calls: dict[str, dict[str, Job]] = field(default_factory=lambda: defaultdict(dict))
    latest: dict[str, Job] = field(default_factory=dict)
    following: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    told: dict[str, dict[int, Told]] = field(default_factory=lambda: defaultdict(dict))
    answers: dict[str, list[Told]] = field(default_factory=lambda: defaultdict(list))
    cancels: dict[str, list[Told]] = field(default_factory=lambda: defaultdict(list))
    left: set[str] = field(default_factory=set)
    """Calls that a job was taken for until a better statement came."""
    tallied: dict[str, list[Fact]] = field(default_factory=dict)
    """What tallies tell of jobs that had no receipt of their own yet."""
    overtaken: set[int] = field(default_factory=set)
    """Deliveries and starts that were the first of their attempt until an earlier one came."""
    _placed: dict[str, str] = field(default_factory=dict)
    _lines: dict[str, Line] = field(default_factory=dict)

    def add_job(self, job: Job) -> None:
        """Let a job be found by its name, its call and its key."""
        before = self._placed.get(job.name, "")
        if before and before != job.call:
            del self.calls[before][job.name]
            self._lines.pop(before, None)
            self.left.add(before)
        self.jobs[job.name] = job
        self._placed[job.name] = job.call
        if job.call:
            self.calls[job.call][job.name] = job
            self._lines.pop(job.call, None)
        if job.prev:
            self.following[job.prev].add(job.name)
        latest = self.latest.get(job.key_digest)
        if job.key_leaf is not None and (latest is None or (latest.key_leaf or 0) < job.key_leaf):
            self.latest[job.key_digest] = job

    def line(self, call: str) -> Line:
        """Give the generations of a call in their order."""
        if call not in self._lines:
            self._lines[call] = Line(self.calls[call].values())
        return self._lines[call]

    def add_told(self, told: Told) -> None:
        """Let a receipt about a call be found by the call."""
        self.told[told.call][told.leaf] = told
        if told.kind == "deliver":
            insort(self.answers[told.call], told, key=_told_at)
        elif told.kind == "cancel":
            self.cancels[told.call].append(told)

    def touched_by(self, job: Job) -> Iterator[Told]:
        """Give the receipts about a job's call whose verdict the job may change.

        Of thousands of generations that is nearly none: the starts above the first, the answers
        that came after it was stored, and the cancels that reached nothing.
        """
        number = job.generation_number
        yield from (told for told in self.cancels[job.call] if not told.count)
        if number is None:
            return
        if self.line(job.call).before(number) is None:
            yield from (
                told
                for told in self.told[job.call].values()
                if told.kind == "enqueue" and told.number is not None and told.number > number
            )
        if job.inserted_at is not None:
            answers = self.answers[job.call]
            later = answers[bisect_right(answers, job.inserted_at, key=_told_at) :]
            yield from (told for told in later if told.number is None or told.number < number)

    def take(self, fact: Fact) -> list[Job]:
        """Fold one receipt in, and give the jobs that it changed."""
        changed = [self._fold(fact)] if fact.job and fact.kind != "skip" else []
        if fact.kind in SWEEPS:
            changed += [self._sweep(fact, number) for number in fact.listed]
        for job in changed if self.tallied else ():
            for row in self.tallied.pop(job.name, ()):
                if row.leaf < fact.leaf:
                    self.take_tallied(row)
        for told in self.tellings_of(fact):
            self.add_told(told)
        return changed

    def take_tallied(self, told: Fact) -> Job | None:
        """Fold a row of a tally in; of a job that has no receipt of its own nothing is kept."""
        job = self.jobs.get(told.job)
        if job is None:
            return None
        folding.take_tallied(job, told)
        job.level = told.level if job.level == "unknown" else job.level
        job.last_leaf = max(job.last_leaf, told.leaf)
        return job

    def _fold(self, fact: Fact) -> Job:
        job = self._get(fact, fact.job, fact.number)
        folding.identify(job, fact)
        folding.move(job, fact)
        if is_ranked(fact):
            name = beginnings.name_of(RANKED[fact.kind], fact.attempt)
            job.beginnings, overtaken = beginnings.note(job.beginnings, name, fact.at, fact.leaf)
            self.overtaken.update([] if overtaken is None else [overtaken])
        self._follow_key(job, fact)
        job.level = fact.level if job.level == "unknown" else job.level
        job.last_leaf = max(job.last_leaf, fact.leaf)
        self.add_job(job)
        return job

    def _follow_key(self, job: Job, fact: Fact) -> None:
        """Note which job had a key before; a call's key is that of its generation, and needs none.

        What had it before at this leaf stays so, whatever comes to light later.
        """
        if not job.key_digest or job.call or job.is_timer or job.key_leaf is not None:
            return
        before = self.latest.get(job.key_digest)
        job.key_leaf, job.prev = fact.leaf, "" if before is None else before.name

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


def is_ranked(fact: Fact) -> bool:
    """Tell whether a receipt is ranked: a start that tells no attempt may be of any."""
    return fact.kind == "handover" or (fact.kind == "start" and fact.attempt is not None)


def _told_at(told: Told) -> datetime:
    return told.at


def groups_of(call: Call) -> list[str]:
    """Return the calls that a receipt is about: a cancel of `X#2` may mean a packed scope."""
    found = PACKED.fullmatch(call.scope)
    groups = [call.group]
    if found is not None and not call.is_packed and not call.generation:
        groups.append(group_of(call.system, call.instance, found[1], call.invoke))
    return groups
