"""The feed lines that are due: one a minute for each spool, and one when it closes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterfoil import directory as folder
from counterfoil import feed, names, regular, state
from counterfoil.composer import Composer

Files = Mapping[str, Sequence[names.SpoolFile]]


@dataclass(frozen=True)
class Report:
    """A spool's feed line; `is_last` when nothing can come of that spool any more."""

    stem: str
    line: bytes
    is_last: bool


class Reports:
    """Knows when each spool of a directory was last reported."""

    def __init__(
        self,
        directory: Path,
        composer: Composer,
        load: Callable[[str], state.SpoolState],
        now: Callable[[], float] = time.time,
    ) -> None:
        self._directory, self._composer, self._load, self._now = directory, composer, load, now
        self._reported: dict[str, float] = {}

    def due(self, *, is_ending: bool = False) -> list[Report]:
        """Give the reports that are due; `is_ending` when this forwarder makes its last pass."""
        # Read anew: a writer makes its next file before it closes the last, so a spool that is
        # gone from this listing is closed.
        files = folder.spools(self._directory)
        stems = folder.stems_with_state(self._directory)
        found = [self._report_unless_unreadable(s, files.get(s, []), is_ending) for s in stems]
        return [report for report in found if report is not None]

    def forget(self, stem: str) -> None:
        """Forget a spool that is closed."""
        self._reported.pop(stem, None)

    def _report_unless_unreadable(
        self, stem: str, files: Sequence[names.SpoolFile], is_ending: bool
    ) -> Report | None:
        try:
            return self._report(stem, files, is_ending)
        except regular.Unreadable:
            # What lies there is unknown: silence says so, and a count would not.
            return None

    def _report(
        self, stem: str, files: Sequence[names.SpoolFile], is_ending: bool
    ) -> Report | None:
        now = self._now()
        is_last = not files and not self._composer.is_open(stem, is_ending=is_ending)
        if is_last and folder.may_return(stem):
            return None
        if not is_last:
            if now - self._reported.setdefault(stem, now) < feed.EVERY_S:
                return None
            self._reported[stem] = now
        known = self._load(stem)
        standing = feed.standing_of(self._directory, files, known, now)
        if self._composer.is_own(stem):
            standing = feed.with_outcomes(standing, self._composer.standing())
        return Report(stem, feed.line_of(known, standing, is_closed=is_last), is_last)
