"""What is known of jobs and calls after some receipts; the same receipts give the same state.

Jobs are folded, so an older statement that comes late changes nothing that a newer one said.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime

from jobs.domain.facts import ENDINGS, PACKED, Call, Fact, Row, group_of

WATCHED = frozenset({"enqueue", "deliver", "cancel"})
"""The kinds of receipts whose verdict depends on other jobs of the same call."""


@dataclass(slots=True)
class Job:
    """One job, folded from all receipts about it.

    Times are aware; `state_at` is when the newest statement about its state was true. `state` is
    Oban's word, `failed` for a failed job of another system, empty while only asked for.
    """

    name: str
    system: str
    instance: str
    number: str
    task: str = ""
    queue: str = ""
    state: str = ""
    state_at: datetime | None = None
    level: str = "unknown"
    attempt: int = 0
    max_attempts: int = 0
    errors: int = 0
    last_error: str = ""
    inserted_at: datetime | None = None
    scheduled_at: datetime | None = None
    attempted_at: datetime | None = None
    finished_at: datetime | None = None
    scope: str = ""
    logical_scope: str = ""
    invoke: str = ""
    generation: str = ""
    generation_number: int | None = None
    element: str = ""
    call_index: str = ""
    handler: str = ""
    type: str = ""
    src: str = ""
    ordinal: str = ""
    send_id: str = ""
    call: str = ""
    key_digest: str = ""
    insert_leaf: int | None = None
    row_leaf: int | None = None
    row_at: datetime | None = None
    first_leaf: int = 0
    last_leaf: int = 0
    deleted_leaf: int | None = None
    deleted_at: datetime | None = None
    deferred_leaf: int | None = None
    starts: int = 0
    deliveries: int = 0
    verdict: str = ""
    rule: str = ""

    @property
    def is_timer(self) -> bool:
        """Tell whether it is a durable timer."""
        return bool(self.ordinal)

    @property
    def is_child_start(self) -> bool:
        """Tell whether it starts one item of a fan-out."""
        return bool(self.call_index)

    @property
    def is_invoke(self) -> bool:
        """Tell whether it is one generation of a call."""
        return bool(self.call) and not self.is_child_start

    @property
    def is_packed(self) -> bool:
        """Tell whether its scope carries the generation."""
        return self.scope != self.logical_scope

    def was_executing(self, at: datetime) -> bool:
        """Tell whether it ran at a moment, as far as its last attempt tells."""
        if self.attempted_at is None or self.attempted_at > at:
            return False
        ended = self.finished_at
        return ended > at if ended is not None else self.state == "executing"


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
        if fact.kind == "prune":
            changed += self._prune(fact)
        for told in self.tellings_of(fact):
            self.add_told(told)
        return changed

    def _fold(self, fact: Fact) -> Job:
        job = self.jobs.get(fact.job)
        if job is None:
            job = Job(fact.job, fact.system, fact.instance, fact.number, first_leaf=fact.leaf)
        _identify(job, fact)
        _move(job, fact)
        job.last_leaf = max(job.last_leaf, fact.leaf)
        self.add_job(job)
        return job

    def _prune(self, fact: Fact) -> list[Job]:
        found = [self.jobs.get(fact.name_of(number)) for number in fact.listed]
        pruned = [job for job in found if job is not None and job.deleted_leaf is None]
        for job in pruned:
            job.deleted_leaf, job.deleted_at = fact.leaf, fact.at
        return pruned

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


def _identify(job: Job, fact: Fact) -> None:
    """Take what names the job; what a row says stands over what a receipt did not."""
    job.task = fact.task or job.task
    job.queue = fact.queue or job.queue
    call, timer = fact.call, fact.timer
    if call is not None and (call.generation or not job.generation):
        job.scope, job.logical_scope, job.invoke = call.scope, call.logical_scope, call.invoke
        job.generation, job.generation_number = call.generation, call.number
        job.element = call.element or job.element
        job.call_index = call.index or job.call_index
        handler, type_, src = call.work
        job.handler, job.type, job.src = handler or job.handler, type_ or job.type, src or job.src
        job.call = call.group
    if timer is not None:
        job.scope, job.logical_scope = timer.scope, timer.scope
        job.ordinal, job.send_id = timer.ordinal or job.ordinal, timer.send_id or job.send_id
    if fact.kind in ("enqueue", "row"):
        job.key_digest = fact.key_digest or job.key_digest


def _move(job: Job, fact: Fact) -> None:
    """Take what happened to the job."""
    if fact.row is not None:
        _read_row(job, fact.row, fact)
    elif fact.kind == "enqueue":
        job.insert_leaf = fact.leaf if job.insert_leaf is None else job.insert_leaf
        job.inserted_at = fact.at if job.inserted_at is None else min(job.inserted_at, fact.at)
    elif fact.kind == "start":
        job.starts += 1
        job.attempted_at = max(filter(None, (job.attempted_at, fact.at)))
        _set_state(job, "executing", fact)
    elif fact.kind == "deliver":
        job.deliveries += 1
        if _set_state(job, "completed", fact) and job.finished_at is None:
            job.finished_at = fact.at
    elif fact.kind == "deferred":
        job.deferred_leaf = fact.leaf if job.deferred_leaf is None else job.deferred_leaf
    elif fact.kind in ENDINGS and _set_state(job, ENDINGS[fact.kind], fact):
        job.finished_at = fact.at
        job.last_error = "cancel_discarded" if fact.kind == "discard" else job.last_error


def _read_row(job: Job, row: Row, fact: Fact) -> None:
    """Take a row as it stands: it was read from the job itself, so only a newer row is above it."""
    if row.inserted_at is not None:
        job.inserted_at = row.inserted_at
    if job.row_at is not None and fact.at < job.row_at:
        return
    job.row_leaf, job.row_at = fact.leaf, fact.at
    job.state, job.level = row.state, fact.level
    job.state_at = max(filter(None, (job.state_at, fact.at)))
    job.attempt, job.max_attempts = row.attempt, row.max_attempts
    job.errors, job.last_error = row.errors, row.last_error
    job.scheduled_at, job.attempted_at = row.scheduled_at, row.attempted_at
    job.finished_at = row.finished_at


def _set_state(job: Job, state: str, fact: Fact) -> bool:
    """Take a state unless a newer statement is known; the later leaf wins between equals."""
    if job.state_at is not None and fact.at < job.state_at:
        return False
    job.state, job.state_at, job.level = state, fact.at, fact.level
    return True


def iter_generations(jobs: Iterable[Job]) -> list[int]:
    """Return the distinct generation numbers of a call, in order; a rank is a place among them."""
    return sorted({one.generation_number for one in jobs if one.generation_number is not None})
