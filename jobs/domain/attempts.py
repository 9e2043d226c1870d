"""Attempts to have work done: what each receipt tells of one, as the key lab tries keys on them.

An attempt ran or was skipped. What ran is a *run* with a name: its job, or for a producer without
job numbers the id of its done receipt, which the start's id gives (`ledger.domain.terms.done_id`).
Many receipts tell of one run; the first makes the attempt, and later ones add to it.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

from jobs.domain import fields
from jobs.domain.fields import Shape
from ledger.domain import links, plain, tallies, terms, words
from ledger.domain.endings import ending_of
from ledger.domain.statement import Statement
from ledger.domain.tallies import Outcome

RAN, SKIPPED, RULED, RACED, UNTOLD = "r", "s", "w", "l", ""
"""What became of an attempt: it ran, a key skipped it, a rule or a lost lock did; or not told."""

IN_FLIGHT, COMPLETED, FAILED, CANCELLED = "i", "c", "f", "x"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SECOND = 1_000_000
LONGEST_LIMIT_S = 1e9
USUAL_LIMIT_S = 86_400.0
"""How long a run may be silent where nobody said how long: a day."""

_BY_KEY = frozenset({None, "", "already_done", "in_flight", "holder_lost", "unknown", "duplicate"})
_ENDS = frozenset({"done", "deliver", "fail", "discard", "cancel"})
_STATES = {"done": COMPLETED, "failed": FAILED, "cancelled": CANCELLED, "skipped": CANCELLED}
_OPENS = frozenset({"enqueue", "start", "retry", "rescue"})
_ROW_ENDS = {"completed": COMPLETED, "discarded": FAILED, "cancelled": CANCELLED}
_SWEEPS = {"cancel": CANCELLED, "rescue": IN_FLIGHT, "retry": IN_FLIGHT}
_TELLS_OF_JOB = frozenset({"heartbeat", "revoke", "observe"})
_RANKS = {"enqueue": 3, "start": 2, "done": 2}
ROW_RANK = 1


@dataclass(frozen=True, slots=True)
class Note:
    """What one receipt tells of an attempt; times are microseconds since 1970.

    `rank` says how well it knows the attempt itself: 0 for a receipt that tells only what became
    of it. `state_at` is when the run came into `state`, `sign_at` its latest sign of life, and
    `limit_us` how long it said that it may be silent.
    """

    run: str
    alias: str
    outcome: str
    rank: int
    at: int
    shape: Shape
    values: tuple[str, ...]
    state: str
    state_at: int
    sign_at: int
    limit_us: int | None = None

    @property
    def packed(self) -> str:
        """Give the values as one text."""
        return fields.SEPARATOR.join(self.values)


@dataclass(frozen=True, slots=True)
class Sweep:
    """What a receipt tells of many jobs at once: their new state, or that their rows are gone."""

    runs: tuple[str, ...]
    state: str
    is_deleted: bool
    at: int


def micros(at: datetime) -> int:
    """Give a time as microseconds since 1970."""
    since = at - EPOCH
    return (since.days * 86_400 + since.seconds) * SECOND + since.microseconds


def moment(at: int) -> datetime:
    """Give the time of a number of microseconds since 1970."""
    return EPOCH + timedelta(microseconds=at)


def find_note(one: Statement) -> Note | None:
    """Read what a receipt tells of one attempt; None when it tells of none."""
    if one.state != "accepted":
        return None
    if one.kind == "skip" and not one.is_end_of_job:
        return _skipped(one)
    run, alias = names_of(one)
    if not run:
        return None
    rank = ROW_RANK if one.is_row else _RANKS.get(one.kind, 0)
    state, state_at = _state(one)
    picked = fields.picked(one)
    return Note(
        run=run,
        alias=alias,
        outcome=RAN if rank else UNTOLD,
        rank=rank,
        at=micros(one.begun_at),
        shape=fields.shape_of(one, picked),
        values=tuple(text for _, text in picked),
        state=state,
        state_at=state_at,
        sign_at=micros(one.happened_at),
        limit_us=_limit(one),
    )


def find_tallied(tally: Statement, outcomes: Sequence[Outcome]) -> Sweep | None:
    """Read which runs a tally tells to be done; None when it lists none."""
    done = {each.number for each in outcomes if each.outcome == tallies.DONE}
    runs = tuple(job_run(tally.system, tally.instance, number) for number in sorted(done))
    return Sweep(runs, COMPLETED, False, micros(tally.happened_at)) if runs else None


def find_sweep(one: Statement) -> Sweep | None:
    """Read what a receipt tells of jobs that it lists; None when it lists none."""
    is_deleted = one.kind == "prune" or (one.kind == "act" and one.act_verb == "delete")
    if one.state != "accepted" or not (is_deleted or one.kind in _SWEEPS):
        return None
    numbers = [plain.name_of(each) for each in _listed(one)]
    runs = tuple(job_run(one.system, one.instance, number) for number in numbers if number)
    state = "" if is_deleted else _SWEEPS[one.kind]
    return Sweep(runs, state, is_deleted, micros(one.happened_at)) if runs else None


def job_run(system: str, instance: str, number: str) -> str:
    """Name the run of a job."""
    return run_of_job(f"{system}/{instance}/{number}")


def run_of_job(job: str) -> str:
    """Name the run of a job that is named as `oban/prod-1/101`."""
    return _named("job", job)


def merge(old: Note, new: Note) -> Note:
    """Add to an attempt what a later receipt tells of it."""
    better = new.rank > old.rank
    told, other = (new, old) if better else (old, new)
    shape, values = fields.union((told.shape, told.values), (other.shape, other.values))
    moved = new.state != "" and new.state_at >= old.state_at
    return replace(
        old,
        alias=old.alias or new.alias,
        outcome=old.outcome or new.outcome,
        rank=max(old.rank, new.rank),
        at=told.at if told.rank else min(old.at, new.at),
        shape=shape,
        values=values,
        state=new.state if moved else old.state,
        state_at=new.state_at if moved else old.state_at,
        sign_at=max(old.sign_at, new.sign_at),
        limit_us=old.limit_us if new.limit_us is None else new.limit_us,
    )


def renamed(note: Note, run: str, alias: str) -> Note:
    """Give a note the names that its start tells, where its fail had come before."""
    return replace(note, run=run, alias=alias)


def moved(note: Note, state: str, at: int) -> Note:
    """Put a run in the state that a receipt about many jobs tells."""
    if at < note.state_at:
        return note
    return replace(note, state=state, state_at=at, sign_at=max(note.sign_at, at))


def gone_from(note: Note, gone_at: int | None) -> int | None:
    """Give from when a run without an end counts as lost; None for one that has ended."""
    if note.state != IN_FLIGHT or note.outcome != RAN:
        return None
    limit = int(USUAL_LIMIT_S * SECOND) if note.limit_us is None else note.limit_us
    silent_from = note.sign_at + limit
    return silent_from if gone_at is None else min(gone_at, silent_from)


def _skipped(one: Statement) -> Note:
    picked = fields.picked(one)
    at = micros(one.happened_at)
    return Note(
        run="",
        alias="",
        outcome=_why(one),
        rank=0,
        at=at,
        shape=fields.shape_of(one, picked),
        values=tuple(text for _, text in picked),
        state="",
        state_at=at,
        sign_at=at,
    )


def _why(one: Statement) -> str:
    """Tell a skip that a key decided from one by a rule, a lost lock, or another verdict."""
    if one.reason == "lock_contended":
        return RACED
    if one.reason in _BY_KEY:
        return RULED if links.is_explained(one) and one.key_digest is None else SKIPPED
    is_own_word = one.reason not in words.REASON_WORDS
    return SKIPPED if is_own_word and one.key_digest is not None else RULED


def names_of(one: Statement) -> tuple[str, str]:
    """Name the run that a receipt tells of, and the name under which its fail would come.

    Both are empty for a receipt that tells of none.
    """
    is_about_work = one.is_row or one.kind in _ENDS or one.kind in _OPENS
    if one.job is not None:
        is_told = is_about_work or one.is_end_of_job or one.kind in _TELLS_OF_JOB
        return (_named("job", one.job.text()) if is_told else "", "")
    if not is_about_work or one.swept is not None:
        return "", ""
    if one.kind == "start" and one.masked_id is not None:
        done = terms.done_id(one.id_key) or one.id_key
        return _named("id", done), _named("id", _fail_id(one.id_key))
    if one.pointer is not None and one.pointer.job is not None:
        return _named("job", one.pointer.job.text()), ""
    if one.pointer is not None and one.pointer.receipt:
        return _named("id", terms.done_id(one.pointer.receipt) or one.pointer.receipt), ""
    return _named("id", one.id_key), ""


def _fail_id(token: str) -> str:
    return str(uuid.uuid5(uuid.UUID(token), "fail"))


def _state(one: Statement) -> tuple[str, int]:
    """Give the state that a receipt puts its run in, and since when."""
    if one.is_row:
        return _row_state(one, plain.object_of(one.body.get("job")))
    at = micros(one.happened_at)
    ended = _STATES.get(ending_of(one), "")
    is_begun = one.kind in _OPENS or one.is_handover
    return ended or (IN_FLIGHT if is_begun else ""), at


def _row_state(one: Statement, job: Mapping[str, object]) -> tuple[str, int]:
    ended = plain.time_of(job.get(f"{one.job_state}_at"))
    state = _ROW_ENDS.get(one.job_state, IN_FLIGHT)
    return state, micros(ended if state != IN_FLIGHT and ended else one.happened_at)


def _limit(one: Statement) -> int | None:
    """Give how long a heartbeat says that its job may be silent."""
    period = plain.seconds_of(one.body.get("period_s")) if one.kind == "heartbeat" else None
    if period is None:
        return None
    grace = plain.seconds_of(one.body.get("grace_s")) or 0.0
    return int(min(period + grace, LONGEST_LIMIT_S) * SECOND)


def _listed(one: Statement) -> Iterator[object]:
    if one.kind == "act":
        kind, _, number = one.act_target.partition(":")
        yield from [number] if kind == "job" else []
        return
    jobs = one.body.get("jobs")
    yield from plain.list_of(jobs) or plain.list_of(plain.object_of(jobs).get("ids"))


def _named(kind: str, text: str) -> str:
    return plain.digest_of(f"{kind}:{text}")[:32]
