"""Jobs and calls folded from the log, and the receipts about them judged as they arrive."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from jobs.domain import judging, verdicts
from jobs.domain.facts import Fact, tallied_fact
from jobs.domain.state import WATCHED, Job, Known, Told, is_ranked
from jobs.projectors import shelf
from ledger.domain.statement import Statement
from ledger.domain.verdicts import Verdict
from ledger.statements import Item


class CallsJudging:
    """One batch."""

    def __init__(self, project_id: int, first: int, facts: dict[int, Fact], known: Known) -> None:
        """Start from what is stored; `facts` are those of the leaves from `first` on."""
        self._first = first
        self._project_id = project_id
        self._facts = facts
        self._known = known
        self._touched: dict[str, Job] = {}
        self._told: list[Told] = []

    def take(self, item: Item) -> Iterable[int]:
        """Fold a receipt in; the verdicts on its call's earlier receipts may differ then."""
        if item.listed:
            self._take_tally(item)
            return ()
        fact = self._facts.get(item.leaf)
        if fact is None:
            return ()
        changed = self._known.take(fact)
        self._touched.update((job.name, job) for job in changed)
        self._told.extend(self._known.tellings_of(fact))
        overtaken, self._known.overtaken = self._known.overtaken, set()
        return overtaken | {
            told.leaf
            for job in changed
            if job.is_invoke
            for told in self._known.touched_by(job)
            if told.leaf < item.leaf
        }

    def _take_tally(self, item: Item) -> None:
        """Fold a tally into the jobs that are known; its other jobs stay in the tally."""
        for name in item.listed.keys() & self._known.jobs.keys():
            job = self._known.take_tallied(tallied_fact(item.listed[name], name))
            self._touched.update([] if job is None else [(name, job)])

    def watches(self, leaf: int) -> bool:
        """Tell whether a receipt is one about a call, or is ranked among those of its attempt."""
        fact = self._facts.get(leaf)
        if fact is None:
            return False
        return is_ranked(fact) or (fact.kind in WATCHED and fact.timer is None)

    def judge(self, statement: Statement, original: Statement | None) -> Verdict | None:
        """Judge a receipt by the jobs and calls as they are at this leaf."""
        if statement.leaf < self._first:
            return verdicts.judge(statement, self._known, original)
        fact = self._facts.get(statement.leaf)
        if fact is None:
            return None
        return verdicts.judge_fact(statement, fact, self._known, original)

    def write(self) -> None:
        """Write the jobs that changed, those whose verdict did, and the receipts about calls."""
        shelf.write_jobs(self._project_id, self._judged())
        shelf.write_told(self._project_id, self._told)

    def _judged(self) -> list[Job]:
        """Judge the jobs of every call and key that was touched; give those that are otherwise."""
        calls = self._known.left | {job.call for job in self._touched.values() if job.call}
        calls.update(told.call for told in self._told)
        following = {after for name in self._touched for after in self._known.following[name]}
        near = chain(
            self._touched.values(),
            *(self._known.calls[call].values() for call in sorted(calls)),
            (self._known.jobs[name] for name in sorted(following)),
        )
        found: dict[str, Job] = {}
        for job in near:
            ruling = judging.judge_job(job, self._known)
            if job.name in self._touched or (job.verdict, job.rule) != (ruling.code, ruling.rule):
                job.verdict, job.rule = ruling.code, ruling.rule
                found[job.name] = job
        return list(found.values())
