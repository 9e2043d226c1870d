"""Jobs as documents: what lists, scopes, calls and the page of one job say of each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jobs.domain import sentences
from jobs.domain.judging import judge_job
from jobs.domain.state import Job, Known
from ledger.domain import words

Document = dict[str, Any]


def job_facts(job: Job) -> Document:
    """Give what is known of a job; what its source does not say is null."""
    return {
        "name": job.name,
        "system": job.system or None,
        "instance": job.instance or None,
        "id": job.number,
        "task": job.task or None,
        "queue": job.queue or None,
        "state": job.state or None,
        "attempt": job.attempt,
        "max_attempts": job.max_attempts or None,
        "inserted_at": job.inserted_at,
        "scheduled_at": job.scheduled_at,
        "attempted_at": job.attempted_at,
        "finished_at": job.finished_at,
        "deleted_at": job.deleted_at,
        "scope": job.scope or None,
        "invoke": job.invoke or None,
        "element": job.element or None,
        "index": job.call_index or None,
        "timer": {"ordinal": job.ordinal, "send_id": job.send_id} if job.is_timer else None,
        "key": job.key_digest or None,
    }


def summary(job: Job, known: Known) -> Document:
    """Give one job as a row of a list."""
    badge = words.badge(job.verdict)
    return {
        "job": job_facts(job),
        "verdict": {
            "code": job.verdict,
            "word": badge.word,
            "tone": badge.tone,
            "icon": badge.icon,
            "rule": job.rule,
        },
        "generation": generation(job, known),
        "logical_scope": job.logical_scope or None,
        "leaf_index": str(job.last_leaf),
    }


def verdict(job: Job, known: Known) -> Document:
    """Give the verdict on a job with its sentence."""
    ruling = judge_job(job, known)
    badge = words.badge(ruling.code)
    return {
        "code": ruling.code,
        "sentence": sentences.of_job(ruling, job),
        "rule": ruling.rule,
        "rule_words": words.RULE_WORDS.get(ruling.rule, ""),
        "level": job.level,
        "word": badge.word,
        "tone": badge.tone,
        "icon": badge.icon,
        "other": None if ruling.other is None else ruling.other.name,
    }


def generation(job: Job, known: Known) -> Document | None:
    """Give a job's generation as the producer gave it, and its rank as far as one is known."""
    if not job.generation:
        return None
    rank = known.line(job.call).rank(job.generation_number) if job.call else None
    return {"value": job.generation, "rank": rank}


def deliveries(job: Job) -> int | None:
    """Give how often a job was handed to a worker, None where a tally is all that tells of it."""
    return None if not job.deliveries and job.tallied_leaf is not None else job.deliveries


def executions(job: Job) -> int:
    """Give how often a job began, by its starts, by what its row counts, or at least once.

    What a tally says was done or is to run again has begun.
    """
    return max(job.starts, job.attempt, 0 if job.tallied_leaf is None else 1)


def in_order(jobs: Iterable[Job]) -> list[Job]:
    """Sort jobs of a call by generation, then by when they were asked for."""
    return sorted(jobs, key=_order)


def _order(job: Job) -> tuple[bool, int, str, int]:
    number = job.generation_number
    return number is None, number or 0, job.generation, job.first_leaf
