"""Makes tallies of the journals of a spool directory, each outcome in exactly one of them.

One composer works at a time: whoever holds the directory's forward lock. What a round does is
decided by one rename, that of `tallies.json`, which says how far each journal has been read and
which number the next tally has:

1. the new tallies are written to `tallies-t-TOKEN+FIRST….made`, which nobody sends,
2. `tallies.json` is replaced,
3. `.made` is renamed to `.ready`, a file of the tallies' own spool, and is sent from there,
4. journal files that are done with are deleted.

After a crash before 2 the round has not happened, and `.made` goes; after it, the next round takes
up 3 and 4 with the same bytes. An outcome that was lost takes a number of the tallies' spool, so
that the feed line counts it as dropped.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from counterfoil import decided as decisions
from counterfoil import directory as folder
from counterfoil import feed, names, planning, regular
from counterfoil.decided import Decided
from counterfoil.tails import Position, Tail

log = logging.getLogger("counterfoil")

MAX_JOURNALS = 256
MAX_WAITING_FILES = 1
WORTH_A_LOOK_BYTES = 64 * 1024
IDLE_S = 60.0

Files = Mapping[str, Sequence[names.SpoolFile]]


class Composer:
    """Composes the tallies of one spool directory.

    `is_held` says that the last round was not made because tallies wait to be sent. `problems` are
    journals that could not be read at the last look; the others are tallied without them.
    """

    def __init__(self, directory: Path, now: Callable[[], float] = time.time) -> None:
        self._directory, self._now = directory, now
        self._look_at_ms = 0
        self.is_held = False
        self.problems: list[regular.Unreadable] = []
        self._idle_since: float | None = None

    def compose(self, *, everything: bool = False) -> int:
        """Make tallies of what is due and give their number.

        `everything` is due when asked, and when no writer is left that could add to it.

        Raises OSError when the disk refuses something, and Unreadable when what was decided cannot
        be read; nothing is lost by it.
        """
        self.is_held = False
        decided = decisions.load(self._directory, repairs=True)
        self._finish(decided)
        files = folder.journals(self._directory)
        if not files:
            self.problems = []
        everything = everything or (bool(files) and self._is_left_alone(files))
        if not (files or decided.journals) or not self._is_worth_it(files, decided, everything):
            return 0
        tails = self._tails(files, decided)
        planned = planning.plan(tails, int(self._now() * 1000), everything=everything)
        self._note_problems(tails)
        self._look_at_ms = planned.look_at_ms
        planned.journals.update(_vanished(self._directory, files, decided))
        if planned.lines or any(decided.position(s) != p for s, p in planned.journals.items()):
            decided = self._decide(decided, planned)
        self._clean_up(tails, files, decided)
        return len(planned.lines)

    def is_own(self, stem: str) -> bool:
        """Say whether this is the spool of the tallies that are made now."""
        # By its name first: where what was decided cannot be read, other spools are none of it.
        is_tallies = f"-{names.TALLIES}-" in stem
        return is_tallies and decisions.load(self._directory).stem == stem

    def is_open(self, stem: str, *, is_ending: bool = False) -> bool:
        """Say whether more may come in a spool of tallies; it may for a minute after all are gone.

        `is_ending`: nobody waits for that minute, because this forwarder ends.
        """
        if not self.is_own(stem):
            return False
        if folder.journals(self._directory) or _has_writer(self._directory):
            self._idle_since = None
            return True
        now = self._now()
        if self._idle_since is None:
            self._idle_since = now
        return not is_ending and abs(now - self._idle_since) < IDLE_S

    def forget(self, stem: str) -> None:
        """Forget a spool of tallies that is closed; the next outcome begins another."""
        if self.is_own(stem):
            (self._directory / decisions.NAME).unlink(missing_ok=True)

    def standing(self) -> feed.Outcomes:
        """Look through the journals from where they have been read."""
        decided = decisions.load(self._directory)
        tails = self._tails(folder.journals(self._directory), decided, limit=None)
        found = [tail.look_ahead() for tail in tails]
        self._note_problems(tails)
        ended = [one.first_ms for one in found if one.first_ms is not None]
        age = max(0.0, self._now() - min(ended) / 1000) if ended else None
        return feed.Outcomes(
            sum(one.waiting for one in found),
            None if age is None else round(age, 3),
            decided.lost + sum(one.lost for one in found),
        )

    def _is_worth_it(self, files: Files, decided: Decided, everything: bool) -> bool:
        # While tallies wait, outcomes stay in their journals: there, what has to go for want of
        # room is counted one by one.
        waiting = folder.spools(self._directory).get(decided.stem, [])
        self.is_held = len(waiting) > MAX_WAITING_FILES
        if self.is_held:
            return False
        if everything or int(self._now() * 1000) >= self._look_at_ms:
            return True
        return self._unread_bytes(files, decided) >= WORTH_A_LOOK_BYTES

    def _is_left_alone(self, files: Files) -> bool:
        # The spools too: a worker whose pool children end after every task still writes in its own,
        # and its children's outcomes belong together.
        return not (_has_any_writer(self._directory, files) or _has_writer(self._directory))

    def _unread_bytes(self, files: Files, decided: Decided) -> int:
        sizes = (self._stat(file)[0] for found in files.values() for file in found)
        return sum(sizes) - sum(decided.position(stem).offset for stem in files)

    def _note_problems(self, tails: Sequence[Tail]) -> None:
        self.problems = [tail.problem for tail in tails if tail.problem is not None]

    def _tails(
        self, files: Files, decided: Decided, limit: int | None = MAX_JOURNALS
    ) -> list[Tail]:
        chosen = list(files)
        if limit is not None and len(chosen) > limit:
            chosen = sorted(chosen, key=lambda stem: self._stat(files[stem][0])[1])[:limit]
        return [Tail(self._directory, s, files[s], decided.position(s)) for s in chosen]

    def _stat(self, file: names.SpoolFile) -> tuple[int, float]:
        with contextlib.suppress(FileNotFoundError):
            found = (self._directory / file.filename).lstat()
            return found.st_size, found.st_mtime
        return 0, 0.0

    def _decide(self, before: Decided, planned: planning.Round) -> Decided:
        decided = before.after(planned)
        # Only a loss leaves numbers that no line bears; they stand before the lines.
        first = decided.next_number - len(planned.lines)
        has_file = decided.next_number > before.next_number
        made = decided.path(self._directory, first, "made")
        if has_file:
            decisions.write_synced(made, b"".join(planned.lines))
        decisions.save(self._directory, decided)
        if has_file:
            made.rename(made.with_suffix(".ready"))
        return decided

    def _clean_up(self, tails: Sequence[Tail], files: Files, decided: Decided) -> None:
        for tail in tails:
            for file in tail.finished(decided.position(tail.stem)):
                (self._directory / file.filename).unlink(missing_ok=True)
        gone = [s for s, at in decided.journals.items() if s not in files and not at.current]
        if gone:
            decisions.save(self._directory, decided.without(gone))

    def _finish(self, decided: Decided) -> None:
        """Take up what a crash left of the last round."""
        for path in self._directory.glob("*.made"):
            file = names.parse(path.name)
            if file is None or file.level != names.TALLIES or path.is_dir():
                continue
            if file.stem == decided.stem and _is_decided(path, file.first or 0, decided):
                path.rename(path.with_suffix(".ready"))
            else:
                path.unlink(missing_ok=True)


def _is_decided(made: Path, first: int, decided: Decided) -> bool:
    # An empty one is there for losses alone, which took the numbers before it.
    return first < decided.next_number + (not made.stat().st_size)


def _vanished(directory: Path, files: Files, decided: Decided) -> dict[str, Position]:
    """Give what becomes of journals that somebody deleted before they were read to their end.

    How much was in one nobody knows; that something is missing must not be forgotten.
    """
    found: dict[str, Position] = {}
    for stem, at in decided.journals.items():
        if stem in files or not at.current or folder.has_journal(directory, stem, at.current):
            continue
        log.warning("the journal %s is gone; its last outcomes are lost", stem)
        found[stem] = Position(at.next_number + 1, at.lost + 1, at.current)
    return found


def _has_writer(directory: Path) -> bool:
    return _has_any_writer(directory, folder.spools(directory))


def _has_any_writer(directory: Path, found: Files) -> bool:
    files = itertools.chain.from_iterable(found.values())
    return any(folder.is_written(directory, file) for file in files)
