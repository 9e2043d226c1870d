"""What one receipt says of jobs: which job or call it is about, and what happened to it.

The forms are those of contract.md section 2a; the rules for packed scopes and generations are
those of reference/statifier-oban.md sections 2 and 5.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ledger.domain import plain
from ledger.domain.names import column
from ledger.domain.statement import Statement
from ledger.domain.tallies import Tallied

PACKED = re.compile(r"(.+)#([0-9]{1,18})", re.DOTALL)
LISTED_LIMIT = 100_000
STATES_LIMIT = 16
ENDINGS = {
    "done": "completed",
    "fail": "failed",
    "cancel": "cancelled",
    "revoke": "cancelled",
    "discard": "cancelled",
}
"""What a receipt about one job leaves it in, in the words of Oban's states and of `failed`."""
BY_REASON: dict[tuple[str, str], str] = {
    ("fail", "worker_lost"): "failed",
    ("fail", "time_limit"): "failed",
    ("fail", "rejected"): "failed",
    ("discard", "rejected"): "discarded",
    ("discard", "unknown_task"): "discarded",
    ("discard", "undecodable"): "discarded",
    ("retry", "swallowed"): "failed",
    ("revoke", "effected"): "cancelled",
    ("revoke", "asked"): "",
}
"""What a kind with a reason leaves it in, where that says more; empty where it changes nothing."""
OWN_ENDS = frozenset({"expired", "ignored"})


@dataclass(frozen=True, slots=True)
class Call:
    """One named call of a run, in one generation.

    `number` is the generation as a whole number, None where the producer's text is none. A host
    may pack the generation into the scope, as `exec_c7#2`; `logical_scope` is without it.
    """

    system: str
    instance: str
    scope: str
    logical_scope: str
    invoke: str
    generation: str = ""
    number: int | None = None
    element: str = ""
    index: str = ""
    work: tuple[str, str, str] = ("", "", "")

    @property
    def group(self) -> str:
        """Return what all generations of the call share."""
        return group_of(self.system, self.instance, self.logical_scope, self.invoke)

    @property
    def is_packed(self) -> bool:
        """Tell whether the scope carries the generation."""
        return self.scope != self.logical_scope


@dataclass(frozen=True, slots=True)
class Timer:
    """A durable timer: known by its scope and ordinal, cancelled by its send id."""

    scope: str
    ordinal: str
    send_id: str


@dataclass(frozen=True, slots=True)
class Row:
    """A job's row as a reader saw it; `last_error` is "cancel_discarded", "cancel" or "other"."""

    state: str
    attempt: int
    max_attempts: int
    inserted_at: datetime | None
    scheduled_at: datetime | None
    attempted_at: datetime | None
    finished_at: datetime | None
    errors: int
    last_error: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One receipt as jobs see it.

    `kind` is that of the receipt, but "row" for a job's row, "handover" for a message that was
    handed to a worker, "expired" or "ignored" for a skip by which a job ended, "tallied" for a row
    of a tally, and "deferred", "fan_out", "child_started" or "unstarted_cancelled" for what
    telemetry observed. `count` is how many jobs
    a cancel reached, None where it did not say; `listed` are the numbers of the jobs it names.
    """

    leaf: int
    kind: str
    at: datetime
    level: str
    system: str
    instance: str
    reason: str = ""
    attempt: int | None = None
    job: str = ""
    number: str = ""
    task: str = ""
    queue: str = ""
    call: Call | None = None
    timer: Timer | None = None
    row: Row | None = None
    key_digest: str = ""
    window_s: float | None = None
    guards: str = ""
    is_unchecked: bool = False
    count: int | None = None
    listed: tuple[str, ...] = ()

    def name_of(self, number: str) -> str:
        """Return the name of another job of the same source."""
        return column(f"{self.system}/{self.instance}/{number}")


def tallied_fact(told: Tallied, name: str) -> Fact:
    """Make a fact of what a tally lists of a job."""
    tally = told.tally
    return Fact(
        leaf=tally.leaf,
        kind="tallied",
        at=tally.happened_at,
        level=tally.level,
        system=tally.system,
        instance=tally.instance,
        reason="done" if told.is_done else "retried",
        job=name,
        number=name.removeprefix(f"{tally.system}/{tally.instance}/"),
        task=told.task,
    )


OBSERVED = frozenset({"deferred", "fan_out", "child_started", "unstarted_cancelled"})


def fact_of(statement: Statement) -> Fact | None:
    """Read what a receipt says of jobs; None where it is about no job, call or timer."""
    if not statement.is_readable:
        return None
    call, timer = _call(statement), _timer(statement.body)
    listed = _listed(statement.body.get("jobs"))
    is_of_one = statement.job is not None or call is not None or timer is not None
    if not (is_of_one or listed or statement.kind == "prune"):
        return None
    return Fact(
        leaf=statement.leaf,
        kind=_kind(statement),
        at=statement.happened_at,
        level=statement.level,
        system=statement.system,
        instance=statement.instance,
        reason=statement.reason or "",
        attempt=statement.attempt,
        job=column(statement.job.text()) if statement.job else "",
        number=statement.job.number if statement.job else "",
        task=statement.task,
        queue=statement.queue,
        call=call,
        timer=timer,
        row=_row(statement) if statement.is_row else None,
        key_digest=statement.key_digest or "",
        window_s=statement.window_s,
        guards=_guards(statement),
        is_unchecked=plain.object_of(statement.body.get("key")).get("checked") is False,
        count=statement.swept,
        listed=listed,
    )


def group_of(system: str, instance: str, logical_scope: str, invoke: str) -> str:
    """Return 32 hex digits for a call across its generations."""
    return plain.digest_of(plain.json_text([system, instance, logical_scope, invoke]))[:32]


def generation_number(text: str) -> int | None:
    """Return a generation as a whole number, None for any other text."""
    is_number = text.isascii() and text.isdecimal() and len(text) <= 18
    return int(text) if is_number else None


def unpacked(scope: str, generation: str) -> str:
    """Return the scope without a generation packed into it; only the job's own is taken off."""
    found = PACKED.fullmatch(scope)
    if found is None or generation_number(generation) != int(found[2]):
        return scope
    return found[1]


def call_of(statement: Statement) -> Call | None:
    """Read which call a receipt is about, None where it names no scope and invoke."""
    return _call(statement)


def _call(statement: Statement) -> Call | None:
    if not (statement.scope and statement.invoke_id):
        return None
    invoke = plain.object_of(statement.body.get("invoke"))
    work = tuple(plain.name_of(invoke.get(name)) for name in ("handler", "type", "src"))
    return Call(
        statement.system,
        statement.instance,
        statement.scope,
        unpacked(statement.scope, statement.generation),
        statement.invoke_id,
        statement.generation,
        generation_number(statement.generation),
        statement.element,
        plain.name_of(invoke.get("index")),
        (work[0], work[1], work[2]),
    )


def _timer(body: Mapping[str, object]) -> Timer | None:
    timer = plain.object_of(body.get("timer"))
    scope, ordinal = plain.name_of(timer.get("scope")), plain.name_of(timer.get("ordinal"))
    return Timer(scope, ordinal, plain.name_of(timer.get("send_id"))) if scope else None


def _guards(statement: Statement) -> str:
    """Read the states in which a job guards its key, in one order; empty where none are told."""
    states = plain.list_of(plain.object_of(statement.body.get("key")).get("states"))[:STATES_LIMIT]
    return column(",".join(sorted({plain.name_of(one) for one in states})))


def _kind(statement: Statement) -> str:
    if statement.is_row:
        return "row"
    if statement.is_handover:
        return "handover"
    if statement.is_end_of_job:
        return statement.reason or "ignored"
    if statement.kind != "observe":
        return statement.kind
    event = plain.name_of(statement.body.get("event")).rpartition(".")[2]
    return next((word for word in (statement.what, event) if word in OBSERVED), "observe")


def _row(statement: Statement) -> Row:
    job = plain.object_of(statement.body.get("job"))
    times = {name: plain.time_of(job.get(name)) for name in _TIMES}
    ended = [times[name] for name in ("completed_at", "cancelled_at", "discarded_at")]
    return Row(
        state=statement.job_state,
        attempt=statement.attempt or 0,
        max_attempts=plain.integer_of(job.get("max_attempts")) or 0,
        inserted_at=times["inserted_at"],
        scheduled_at=times["scheduled_at"],
        attempted_at=times["attempted_at"],
        finished_at=max((at for at in ended if at is not None), default=None),
        errors=plain.integer_of(job.get("errors")) or 0,
        last_error=plain.name_of(job.get("last_error")),
    )


_TIMES = (
    "inserted_at", "scheduled_at", "attempted_at", "completed_at", "cancelled_at", "discarded_at",
)  # fmt: skip


def _listed(jobs: object) -> tuple[str, ...]:
    named = jobs if isinstance(jobs, list | tuple) else plain.object_of(jobs).get("ids")
    numbers = (plain.name_of(number) for number in plain.list_of(named)[:LISTED_LIMIT])
    return tuple(number for number in numbers if number)
