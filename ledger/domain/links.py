"""Where one receipt's own pointer leads: one step of the walk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import pairwise

from ledger.domain import policies, targets, words
from ledger.domain.book import Inquiry
from ledger.domain.policies import LeftOut
from ledger.domain.statement import JobName, Statement, done_id, masked_id, normal_id

DEADLINE = timedelta(hours=24)
LOCK_GRACE = timedelta(minutes=10)
_ORDER = {"enqueue": 0, "start": 1, "done": 2}
OF_KEY = tuple(_ORDER)
"""The kinds that a key finds, beside a job's row."""


@dataclass(frozen=True, slots=True)
class Link:
    """One step: to a target by receipt, job or key, or to a state in which the walk ends.

    `run` holds what is known of the same run of the work, for a target found by job or key. `job`
    is the one that a tally was found for, `left_out` says why a target has no receipt.
    """

    rule: str
    state: str = ""
    target: Statement | None = None
    via: str = ""
    candidates: tuple[int, ...] = ()
    hint: str | None = None
    due_at: datetime | None = None
    run: tuple[Statement, ...] = ()
    job: JobName | None = None
    left_out: LeftOut | None = None


def follow(pointing: Statement, inquiry: Inquiry, deadline: timedelta) -> Link:
    """Take one step from a receipt along the pointer that it names, else along its key."""
    due_at = pointing.received_at + deadline
    if pointing.pointer is not None and pointing.pointer.names_something:
        return _follow_named(pointing, inquiry, due_at)
    if may_look_by_key(pointing):
        return _follow_key(pointing, inquiry, due_at)
    if is_explained(pointing):
        return Link("explained", "not-needed")
    return Link("names-none", "missing-pointer")


def needs_original(reason: str | None) -> bool:
    """Tell whether only an original explains a skip: for its reason, or for want of any."""
    return reason is None or reason in words.NEEDS_ORIGINAL


def is_explained(pointing: Statement) -> bool:
    """Tell whether a rule or a switch that the receipt names explains it."""
    if not pointing.is_explained_by_rule:
        return False
    return pointing.reason is None or pointing.reason not in words.NEEDS_ORIGINAL


def may_look_by_key(pointing: Statement) -> bool:
    """Tell whether a skip that names no original is looked up by its key."""
    return needs_original(pointing.reason) and pointing.key_digest is not None


def _follow_named(pointing: Statement, inquiry: Inquiry, due_at: datetime) -> Link:
    pointer = pointing.pointer
    receipt = pointer.receipt if pointer is not None else None
    job = pointer.job if pointer is not None else None
    by_receipt = _by_receipt(pointing, receipt, inquiry, due_at) if receipt is not None else None
    if job is None or (by_receipt is not None and by_receipt.state not in ("", "waiting")):
        return by_receipt or _by_job(pointing, job, inquiry, due_at)
    if by_receipt is None or by_receipt.target is None:
        by_job = _by_job(pointing, job, inquiry, due_at)
        return by_job if by_job.target is not None or by_receipt is None else by_receipt
    return _agreed(by_receipt, job, inquiry)


def _agreed(by_receipt: Link, job: JobName, inquiry: Inquiry) -> Link:
    target = by_receipt.target
    if target is None or target.job is None or target.job == job:
        return by_receipt
    others = inquiry.by_job(job)
    rest = (targets.first_of_job(others).leaf,) if others else ()
    return Link("disagree", "ambiguous", candidates=(target.leaf, *rest))


def _by_receipt(pointing: Statement, receipt: str, inquiry: Inquiry, due_at: datetime) -> Link:
    key = normal_id(receipt)
    if key == pointing.id_key:
        return Link("self", "cycle")
    claims = inquiry.by_id(key)
    readable = [each for each in claims if each.is_readable]
    if len(readable) > 1:
        return Link("id-conflict", "ambiguous", candidates=_leaves(readable))
    if readable:
        return _to(pointing, readable[0], "receipt", inquiry)
    if claims:
        return Link("set-aside", "target-quarantined", candidates=_leaves(claims))
    return Link("not-here", "waiting", due_at=due_at, hint=_masked_hint(pointing, receipt, inquiry))


def _masked_hint(pointing: Statement, receipt: str, inquiry: Inquiry) -> str | None:
    masked = masked_id(receipt)
    alike = inquiry.by_masked_id(masked) if masked is not None else []
    found = [each for each in alike if each.leaf != pointing.leaf]
    if not found:
        return None
    if len(found) == 1:
        return f"one receipt matches except for the version digit: №{found[0].leaf:,}"
    listed = ", ".join(f"№{each.leaf:,}" for each in found[:5])
    return f"{len(found)} receipts match except for the version digit: {listed}"


def _by_job(pointing: Statement, job: JobName | None, inquiry: Inquiry, due_at: datetime) -> Link:
    found = inquiry.by_job(job) if job is not None else []
    others = [each for each in found if each.leaf != pointing.leaf]
    alive = [each for each in others if not inquiry.is_redacted(each)]
    about = [each for each in alive if targets.is_job_like(each)]
    if not others:
        return _not_single(pointing, job, inquiry, due_at)
    first = targets.first_of_job(about or alive or others)
    return replace(_to(pointing, first, "job", inquiry), run=tuple(about))


def _not_single(
    pointing: Statement, job: JobName | None, inquiry: Inquiry, due_at: datetime
) -> Link:
    """Look for a job that has no receipt of its own: in tallies, else in what is left out."""
    waiting = Link("not-here", "waiting", due_at=due_at)
    if job is None:
        return waiting
    tallied = inquiry.tallied(job)
    if tallied:
        first = targets.earliest(each.tally for each in tallied)
        return Link("tally", target=first, via="job", job=job)
    voice = policies.voice_for(pointing, job)
    left = policies.left_out_by_job(
        pointing,
        policies.speaking_for(voice, inquiry.policies(job.system, job.instance)),
        same_source=(job.system, job.instance) == (pointing.system, pointing.instance),
        lists_all=inquiry.book.lists_all(job.system, job.instance, voice),
    )
    return waiting if left is None else Link(left.rule, "unrecorded", left_out=left)


def _to(pointing: Statement, target: Statement, via: str, inquiry: Inquiry) -> Link:
    if inquiry.is_redacted(target):
        return Link("erased", "target-redacted", candidates=(target.leaf,))
    # A job found by its number stands for the running thing, however late its first receipt is.
    if via == "job" and pointing.reason in ("already_done", "in_flight"):
        broken = "" if targets.is_job_like(target) else "kind"
    else:
        broken = targets.misfit(pointing, target, inquiry)
    if broken:
        return Link(broken, "wrong-kind", candidates=(target.leaf,))
    return Link(via, target=target, via=via)


def _follow_key(pointing: Statement, inquiry: Inquiry, due_at: datetime) -> Link:
    found = inquiry.by_key(pointing.key_digest or "", pointing.leaf)
    groups = _runs([each for each in found if _may_be_original(pointing, each)])
    if pointing.recipe in policies.LOCK_RECIPES:
        groups = _holder(groups)
    if len(groups) == 1:
        run = tuple(groups[0])
        return Link("key", target=targets.first_of_job(run), via="key", run=run)
    if groups:
        return Link(
            "key-several", "ambiguous", candidates=_leaves(map(targets.first_of_job, groups))
        )
    if is_explained(pointing):
        return Link("explained", "not-needed")
    announced = inquiry.policies(pointing.system, pointing.instance)
    speaking = policies.speaking_for(pointing.voice, announced)
    left = policies.left_out_by_key(pointing, speaking)
    if left is not None:
        return Link(left.rule, "unrecorded", left_out=left)
    is_lock = pointing.reason == "lock_contended"
    return Link("key-none", "waiting", due_at=_lock_grace(pointing) if is_lock else due_at)


def _holder(groups: list[list[Statement]]) -> list[list[Statement]]:
    """Choose the run that took a lock last: it is held by one at a time, and each is noted."""
    return sorted(groups, key=lambda run: (targets.first_of_job(run).begun_at, run[0].leaf))[-1:]


def _lock_grace(pointing: Statement) -> datetime:
    """Return until when the holder of a lock may still appear: ten minutes after the skip.

    Of a receipt that itself came later than that nothing more is awaited, and a clock that is
    ahead does not make us wait longer.
    """
    underway = max(pointing.received_at - pointing.happened_at, timedelta())
    return pointing.received_at + max(LOCK_GRACE - underway, timedelta())


def _may_be_original(pointing: Statement, other: Statement) -> bool:
    """Hold a receipt of the same key against the time before the skip, or just after a lock."""
    if other.kind not in _ORDER and not other.is_row:
        return False
    before_s = (pointing.happened_at - other.begun_at).total_seconds()
    after_s = LOCK_GRACE.total_seconds() if pointing.reason == "lock_contended" else 0.0
    window_s = pointing.window_s
    if pointing.reason == "superseded" and before_s > targets.SKEW.total_seconds():
        return False
    return before_s >= -after_s and (window_s is None or before_s <= window_s)


def _runs(found: Sequence[Statement]) -> list[list[Statement]]:
    """Group receipts of one key into runs of the work.

    Receipts of one job are a run, and so are a start and its done when one names the other.
    What no number and no name links is still one run when it is at most one enqueue, one start
    and one done, in this order.
    """
    by_id = {each.id_key: each for each in found}
    runs: dict[tuple[str, str], list[Statement]] = {}
    for each in found:
        runs.setdefault(_run(each, by_id), []).append(each)
    loose = [each for (kind, _), run in runs.items() if kind == "id" for each in run]
    numbered = [run for (kind, _), run in runs.items() if kind == "job"]
    if loose and _is_one_run(loose):
        return [*numbered, loose]
    return list(runs.values())


def _run(statement: Statement, by_id: Mapping[str, Statement]) -> tuple[str, str]:
    if statement.job is not None:
        return "job", statement.job.text()
    pointer = statement.pointer
    if statement.kind == "done" and pointer is not None:
        if pointer.job is not None:
            return "job", pointer.job.text()
        start = by_id.get(normal_id(pointer.receipt or ""))
        if start is not None and start.kind != "done":
            return _run(start, by_id)
    token = done_id(statement.id_key) if statement.kind == "start" else None
    return "id", token or statement.id_key


def _is_one_run(loose: Sequence[Statement]) -> bool:
    ordered = sorted(loose, key=lambda each: (each.happened_at, _ORDER[each.kind]))
    ranks = [_ORDER[each.kind] for each in ordered]
    return all(before < after for before, after in pairwise(ranks))


def _leaves(statements: Iterable[Statement]) -> tuple[int, ...]:
    return tuple(each.leaf for each in statements)
