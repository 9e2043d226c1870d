"""What lies in a spool directory, for people."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

from counterfoil import directory as folder
from counterfoil import feed, names, regular, room, state
from counterfoil.composer import Composer


@dataclass(frozen=True)
class SpoolStatus:
    """One spool: counts of its lines, age of the oldest without an answer, whether it is open.

    With a `problem` a file of it cannot be read, so how many lines wait is not known.
    """

    spool: str
    waiting: int | None
    sent: int
    dropped: int
    oldest_unsent_s: float | None
    is_open: bool
    problem: str = ""


@dataclass(frozen=True)
class Status:
    """A spool directory.

    `unreadable` are files whose spools wait for that; `strangers` end as a spool file does and bear
    no spool's name, so nobody sends them.
    """

    directory: str
    size: int
    waiting: int
    oldest_unsent_s: float | None
    spools: list[SpoolStatus]
    outcomes_waiting: int = 0
    outcomes_lost: int = 0
    unreadable: list[str] = field(default_factory=list)
    strangers: list[str] = field(default_factory=list)

    @property
    def dropped(self) -> int:
        """Lines and outcomes that were lost for want of room, of the spools that are still here."""
        return sum(spool.dropped for spool in self.spools)

    def as_json(self) -> dict[str, object]:
        """Give the status as JSON values."""
        return asdict(self)


def of(directory: Path) -> Status:
    """Read the directory; one that is not there is empty."""
    if not directory.is_dir():
        return Status(str(directory), 0, 0, None, [])
    unreadable: list[str] = []
    found = folder.spools(directory).items()
    spools = [_of_spool(directory, stem, files, unreadable) for stem, files in found]
    outcomes = _outcomes_of(directory, unreadable)
    ages = [s.oldest_unsent_s for s in spools if s.oldest_unsent_s is not None]
    if outcomes.oldest_s is not None:
        ages.append(outcomes.oldest_s)
    return Status(
        str(directory),
        room.used_bytes(directory),
        sum(s.waiting or 0 for s in spools),
        max(ages, default=None),
        spools,
        outcomes.waiting,
        outcomes.lost,
        sorted(unreadable),
        folder.strangers(directory),
    )


def _of_spool(
    directory: Path, stem: str, files: list[names.SpoolFile], unreadable: list[str]
) -> SpoolStatus:
    known = state.SpoolState(stem)
    is_open = any(folder.is_written(directory, file) for file in files)
    try:
        known = state.load(directory / f"{stem}.state", stem)
        found = feed.standing_of(directory, files, known, time.time())
    except regular.Unreadable as problem:
        unreadable.append(problem.name)
        told = f"waits for {problem.name!a} ({problem.problem})"
        return SpoolStatus(known.spool, None, known.sent, known.dropped, None, is_open, told)
    return SpoolStatus(
        known.spool, found.unsent, known.sent, found.dropped, found.oldest_unsent_s, is_open
    )


def _outcomes_of(directory: Path, unreadable: list[str]) -> feed.Outcomes:
    composer = Composer(directory)
    try:
        found = composer.standing()
    except regular.Unreadable as problem:
        unreadable.append(problem.name)
        return feed.Outcomes(0, None, 0)
    unreadable += [problem.name for problem in composer.problems]
    return found
