"""The generations of one call in their order, with what lies before and after each.

A call may have thousands of generations, and each is judged by the others: looking through all of
them for each would take the square of their number.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from jobs.domain.job import Job

Place = tuple[str, str]


class Line:
    """The jobs of one call as they are at the moment; made anew when one of them changes."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        """Put the jobs of a call in order."""
        jobs = list(jobs)
        self._distinct = sorted(
            {one.generation_number for one in jobs if one.generation_number is not None}
        )
        numbered = [one for one in jobs if one.is_invoke and one.generation_number is not None]
        self._jobs = sorted(numbered, key=lambda one: (one.generation_number or 0, one.name))
        self._numbers = [one.generation_number or 0 for one in self._jobs]
        self._ended = _running_latest(self._jobs)
        self._stored = _running_earliest(self._jobs)
        self._items: set[Place] = {place_of(one) for one in jobs if one.is_child_start}
        self._gone: dict[Place, list[Job]] = defaultdict(list)
        for one in jobs:
            if one.is_invoke and one.deleted_at is not None and one.generation:
                self._gone[place_of(one)].append(one)

    def rank(self, number: int | None) -> int | None:
        """Return the place of a generation among all that are on record, counted from 1."""
        if number is None:
            return None
        place = bisect_left(self._distinct, number)
        is_here = place < len(self._distinct) and self._distinct[place] == number
        return place + 1 if is_here else None

    def before(self, number: int | None) -> Job | None:
        """Return the newest generation below a number."""
        place = 0 if number is None else bisect_left(self._numbers, number)
        return self._jobs[place - 1] if place else None

    def completed_below(self, number: int | None, since: datetime) -> Job | None:
        """Return the newest generation below a number that completed after a moment."""
        place = 0 if number is None else bisect_left(self._numbers, number)
        while place:
            latest = self._ended[place - 1]
            if latest is None or latest <= since:
                return None
            place -= 1
            ended = _completed_at(self._jobs[place])
            if ended is not None and ended > since:
                return self._jobs[place]
        return None

    def stored_above(self, number: int | None, before: datetime | None) -> Job | None:
        """Return the next generation above a number that was stored before a moment."""
        if number is None or before is None:
            return None
        place = bisect_right(self._numbers, number)
        while place < len(self._jobs):
            earliest = self._stored[place]
            if earliest is None or earliest >= before:
                return None
            stored = self._jobs[place].inserted_at
            if stored is not None and stored < before:
                return self._jobs[place]
            place += 1
        return None

    def has_items(self, job: Job) -> bool:
        """Tell whether jobs that start the items of a fan-out are on record."""
        return bool(job.generation) and place_of(job) in self._items

    def gone(self, job: Job) -> list[Job]:
        """Return the deleted jobs of the same generation and scope."""
        return self._gone.get(place_of(job), []) if job.generation else []


def place_of(job: Job) -> Place:
    """Return what two jobs of one call share that are of one generation."""
    number = job.generation_number
    return job.scope, job.generation if number is None else str(number)


def _completed_at(job: Job) -> datetime | None:
    return job.finished_at if job.state == "completed" else None


def _running_latest(jobs: list[Job]) -> list[datetime | None]:
    """Return for each place the latest completion up to and with it."""
    found: list[datetime | None] = []
    latest: datetime | None = None
    for job in jobs:
        latest = max(filter(None, (latest, _completed_at(job))), default=None)
        found.append(latest)
    return found


def _running_earliest(jobs: list[Job]) -> list[datetime | None]:
    """Return for each place the earliest storing from it on."""
    found: list[datetime | None] = []
    earliest: datetime | None = None
    for job in reversed(jobs):
        earliest = min(filter(None, (earliest, job.inserted_at)), default=None)
        found.append(earliest)
    return found[::-1]
