"""What lies in a spool directory, for people."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from pathlib import Path

from counterfoil import directory as folder
from counterfoil import feed, names, room, state
from counterfoil.composer import Composer


@dataclass(frozen=True)
class SpoolStatus:
    """One spool: counts of its lines, age of the oldest without an answer, whether it is open."""

    spool: str
    waiting: int
    sent: int
    dropped: int
    oldest_unsent_s: float | None
    is_open: bool


@dataclass(frozen=True)
class Status:
    """A spool directory."""

    directory: str
    size: int
    waiting: int
    oldest_unsent_s: float | None
    spools: list[SpoolStatus]
    outcomes_waiting: int = 0
    outcomes_lost: int = 0

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
    spools = [_of_spool(directory, s, f) for s, f in folder.spools(directory).items()]
    outcomes = Composer(directory).standing()
    ages = [s.oldest_unsent_s for s in spools if s.oldest_unsent_s is not None]
    if outcomes.oldest_s is not None:
        ages.append(outcomes.oldest_s)
    return Status(
        str(directory),
        room.used_bytes(directory),
        sum(s.waiting for s in spools),
        max(ages, default=None),
        spools,
        outcomes.waiting,
        outcomes.lost,
    )


def _of_spool(directory: Path, stem: str, files: list[names.SpoolFile]) -> SpoolStatus:
    known = state.load(directory / f"{stem}.state", stem)
    found = feed.standing_of(directory, files, known, time.time())
    is_open = any(folder.is_written(directory, file) for file in files)
    return SpoolStatus(
        known.spool, found.unsent, known.sent, found.dropped, found.oldest_unsent_s, is_open
    )
