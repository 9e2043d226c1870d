"""Recording policies: what a source keeps singly, tallies or never sends, and what that hides.

A policy is announced by an `observe` receipt of `what: "policy"` and is in force until the source
announces another. It speaks for those who hand in by the token that announced it, and by others
made for the same source: a token that anybody may post by never explains what another's left out.
Its patterns are those of a shell over the name of a task. The most specific
pattern wins: a plain name before any pattern, then the pattern with more literal characters, then
the list that keeps more; a task that no pattern matches is tallied (client, `policy.py`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from functools import lru_cache

from ledger.domain import plain
from ledger.domain.statement import LATE_AFTER, JobName, Statement

EACH, TALLY, NEVER = "each", "tally", "never"
CHOICES = (EACH, TALLY, NEVER)
LOCK_RECIPES = frozenset({"celery.once", "celery.singleton"})
"""Locks that one job holds at a time; their enqueues are kept singly whatever the policy says."""
SKEW = timedelta(seconds=30)
REACH = timedelta(hours=24)
"""How long before a skip its original may have come under an earlier policy."""
_WILD = re.compile(r"\*|\?|\[!?\]?[^\]]*\]")


@dataclass(frozen=True, slots=True)
class Policy:
    """A policy as one receipt announced it.

    `at` is from when it is in force: from when it was made, and no longer than a day before it was
    received. `voice` is for whom it speaks (`Statement.voice`), `token` what announced it.
    """

    leaf: int
    ref: str
    source: str
    at: datetime
    version: str
    each: tuple[str, ...] = ()
    tally: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    voice: str = ""
    token: int | None = None

    @property
    def digest(self) -> str:
        """Return what two announcements of the same policy share."""
        content = [self.version, *(list(getattr(self, name)) for name in CHOICES)]
        return plain.digest_of(plain.json_text(content))


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why a pointer's target has no receipt: the policy, the pattern of it, and the rule.

    `task` is the work that was judged by; empty where nothing tells whose work the target was,
    and then it is only possible that the policy left it out.
    """

    policy: Policy
    rule: str
    choice: str
    pattern: str
    task: str


def policy_of(statement: Statement) -> Policy | None:
    """Read an announced policy; None for any other receipt."""
    if statement.kind != "observe" or statement.what != "policy" or not statement.is_readable:
        return None
    lists = {name: _patterns(statement.body.get(name)) for name in CHOICES}
    return Policy(
        statement.leaf,
        statement.ref,
        statement.source,
        max(statement.happened_at, statement.received_at - LATE_AFTER),
        plain.name_of(statement.body.get("version")),
        voice=statement.voice,
        token=statement.token_id,
        **lists,
    )


def _patterns(value: object) -> tuple[str, ...]:
    return tuple(name for each in plain.list_of(value) if (name := plain.name_of(each)))


def choice_of(policy: Policy, task: str) -> tuple[str, str]:
    """Return what a policy says of a task, and by which pattern, empty where none matches."""
    return _choose((policy.each, policy.tally, policy.never), task)


@lru_cache(maxsize=4_096)
def _choose(lists: tuple[tuple[str, ...], ...], task: str) -> tuple[str, str]:
    matching = [
        (_specificity(pattern), -rank, CHOICES[rank], pattern)
        for rank, patterns in enumerate(lists)
        for pattern in patterns
        if fnmatchcase(task, pattern)
    ]
    _, _, choice, pattern = max(matching, default=((False, 0), 0, TALLY, ""))
    return choice, pattern


def _specificity(pattern: str) -> tuple[bool, int]:
    literal = _WILD.sub("", pattern)
    return literal == pattern, len(literal)


def voice_for(pointing: Statement, job: JobName) -> str:
    """Return whose policies may have left out a job that a receipt misses.

    Of a source that is not the receipt's own nothing tells by which token the job would have come,
    so only tokens that were made for that source count.
    """
    if (job.system, job.instance) == (pointing.system, pointing.instance):
        return pointing.voice
    return "/".join(part for part in (job.system, job.instance) if part)


def speaking_for(voice: str, policies: Sequence[Policy]) -> list[Policy]:
    """Return the policies that speak for what is handed in by a voice."""
    return [each for each in policies if each.voice == voice]


def in_force(policies: Sequence[Policy], at: datetime) -> list[Policy]:
    """Return the policies that were in force in the day before a moment, the newest first."""
    ordered = sorted(policies, key=lambda each: (each.at, each.leaf), reverse=True)
    found: list[Policy] = []
    for each in (each for each in ordered if each.at <= at + SKEW):
        found.append(each)
        if each.at <= at - REACH:
            break
    return found


def left_out_by_job(
    pointing: Statement, policies: Sequence[Policy], *, same_source: bool, lists_all: bool
) -> LeftOut | None:
    """Tell whether a job that is named and not on record was left out by its source's policy.

    `lists_all` says that every tally of the source lists the jobs that it counts.
    """
    task = pointing.task if same_source else ""
    found = (_of_job(each, task, lists_all) for each in in_force(policies, pointing.happened_at))
    return next(filter(None, found), None)


def _of_job(policy: Policy, task: str, lists_all: bool) -> LeftOut | None:
    if not task:
        pattern = next(iter(policy.never), "")
        return LeftOut(policy, "policy-may", NEVER, pattern, "") if pattern else None
    choice, pattern = choice_of(policy, task)
    if choice == NEVER:
        return LeftOut(policy, "policy-never", choice, pattern, task)
    if choice == TALLY and not lists_all:
        return LeftOut(policy, "tally-without-jobs", choice, pattern, task)
    return None


def left_out_by_key(pointing: Statement, policies: Sequence[Policy]) -> LeftOut | None:
    """Tell whether what had a key was left out: outcomes that are tallied carry no keys."""
    if pointing.recipe in LOCK_RECIPES or not pointing.task:
        return None
    for policy in in_force(policies, pointing.happened_at):
        choice, pattern = choice_of(policy, pointing.task)
        if choice != EACH:
            rule = "policy-never" if choice == NEVER else "policy-keyless"
            return LeftOut(policy, rule, choice, pattern, pointing.task)
    return None


WHY: dict[str, str] = {
    "policy-never": "{policy} keeps no ordinary outcomes of {task}",
    "policy-keyless": "{policy} has {task} tallied, and a tally holds no keys",
    "tally-without-jobs": "{policy} has {task} tallied, and not every tally lists its jobs",
    "policy-may": "{policy} keeps nothing of some tasks, and whose work this was is not told",
}
"""What each rule says of a target that is not on record."""


def why(left: LeftOut) -> str:
    """Say why the target of a pointer has no receipt, without a full stop."""
    policy = left.policy
    version = f"policy {policy.version}" if policy.version else "the policy"
    source = f" of {policy.source}" if policy.source else ""
    named = f"{version}{source} (№{policy.leaf:,})"
    return WHY[left.rule].format(policy=named, task=left.task)
