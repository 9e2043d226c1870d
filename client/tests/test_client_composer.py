"""The composer under crashes: at each step of a round, and told by hypothesis."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterfoil
from counterfoil import decided, names, planning, room
from counterfoil import directory as folder
from counterfoil.composer import Composer
from counterfoil.spool import Spool

HEAD = b'{"policy":"1","source":null}\n'


class Killed(BaseException):
    """The process is gone."""


class Life:
    """Counts what changes the disk, and ends the process before or after the one it is told to."""

    def __init__(self, ends_at: int, *, is_after: bool) -> None:
        self.left, self.is_after = ends_at, is_after

    def wrap(self, function: Any) -> Any:
        def wrapped(*given: Any, **named: Any) -> Any:
            self.left -= 1
            if self.left == 0 and not self.is_after:
                raise Killed
            result = function(*given, **named)
            if self.left == 0:
                raise Killed
            return result

        return wrapped

    @contextmanager
    def lived(self) -> Iterator[None]:
        patches = [mock.patch.object(Path, n, self.wrap(getattr(Path, n))) for n in DEEDS]
        patches.append(mock.patch.object(decided.os, "fsync", self.wrap(os.fsync)))
        for patch in patches:
            patch.start()
        try:
            yield
        except Killed:
            pass
        finally:
            for patch in patches:
                patch.stop()


DEEDS = ("rename", "replace", "unlink")


def line(job: int, at_ms: int = 0) -> bytes:
    return json.dumps(["t", "q", str(job), "done", 1, at_ms]).encode() + b"\n"


def write(spool: Spool, jobs: range) -> None:
    for job in jobs:
        assert spool.append_outcome(line(job), HEAD)


def sent(directory: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for path in sorted(directory.glob("tallies-*.ready")):
        file = names.parse(path.name)
        assert file is not None and file.first is not None
        for number, text in enumerate(path.read_bytes().splitlines(), file.first):
            yield number, json.loads(text)


def jobs_of(directory: Path) -> Counter[str]:
    return Counter(row[1] for _, tally in sent(directory) for row in tally["data"]["jobs"])


@pytest.fixture(autouse=True)
def _small_tallies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterfoil.tallies.MAX_OUTCOMES", 4)
    monkeypatch.setattr("counterfoil.composer.MAX_WAITING_FILES", 1000)


def crash_and_go_on(directory: Path, ends_at: int, *, is_after: bool) -> bool:
    life = Life(ends_at, is_after=is_after)
    with life.lived():
        while Composer(directory).compose(everything=True):
            pass
    while Composer(directory).compose(everything=True):
        pass
    Composer(directory).compose(everything=True)
    return life.left <= 0


@pytest.mark.parametrize("is_after", [False, True])
def test_an_end_at_any_step_neither_loses_nor_doubles_an_outcome(
    tmp_path: Path, is_after: bool
) -> None:
    ends_at, has_ended = 1, True
    while has_ended:
        directory = tmp_path / str(ends_at)
        one, other = Spool(directory, "one"), Spool(directory, "other")
        write(one, range(50))
        write(other, range(50, 60))
        one.close()

        has_ended = crash_and_go_on(directory, ends_at, is_after=is_after)

        assert jobs_of(directory) == Counter(map(str, range(60)))
        assert [number for number, _ in sent(directory)] == list(range(1, 16))
        other.close()
        ends_at += 1
    assert ends_at > 8


def test_what_was_not_decided_is_never_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(3))
    Composer(spool.directory).compose(everything=True)
    write(spool, range(3, 6))
    with Life(2, is_after=False).lived():
        Composer(spool.directory).compose(everything=True)
    assert len(list(spool.directory.glob("*.made"))) == 1
    monkeypatch.setattr("counterfoil.composer.MAX_WAITING_FILES", -1)

    Composer(spool.directory).compose(everything=True)

    assert jobs_of(spool.directory) == Counter("012")
    assert list(spool.directory.glob("*.made")) == []
    spool.close()


def test_what_a_crash_left_comes_out_as_the_same_bytes(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(3))
    with Life(4, is_after=False).lived():
        Composer(spool.directory).compose(everything=True)
    [made] = spool.directory.glob("*.made")
    before = made.read_bytes()

    Composer(spool.directory).compose(everything=True)

    assert made.with_suffix(".ready").read_bytes() == before
    spool.close()


def test_outcomes_that_had_to_go_for_want_of_room_take_numbers_of_their_own(
    tmp_path: Path,
) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(6))
    spool.close()
    write(spool, range(6, 10))
    Composer(spool.directory).compose(everything=True)
    write(spool, range(10, 13))
    spool.close()
    room.give_up_oldest(spool.directory, 1)
    write(spool, range(13, 14))

    Composer(spool.directory).compose(everything=True)

    assert jobs_of(spool.directory) == Counter(map(str, [*range(10), 13]))
    assert [number for number, _ in sent(spool.directory)] == [1, 2, 3, 7]
    assert Composer(spool.directory).standing().lost == 3
    spool.close()


def test_a_loss_after_which_nothing_comes_is_shown_too(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(6))
    spool.close()
    room.give_up_oldest(spool.directory, 1)

    Composer(spool.directory).compose(everything=True)

    [path] = spool.directory.glob("tallies-*.ready")
    assert path.read_bytes() == b""
    assert "+7." in path.name


def test_a_loss_is_shown_after_a_crash_too(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(6))
    spool.close()
    room.give_up_oldest(spool.directory, 1)
    with Life(4, is_after=False).lived():
        Composer(spool.directory).compose(everything=True)
    assert len(list(spool.directory.glob("*.made"))) == 1

    Composer(spool.directory).compose(everything=True)

    [path] = spool.directory.glob("tallies-*.ready")
    assert "+7." in path.name


def test_an_empty_file_does_not_hide_one_that_begins_with_the_same_number(tmp_path: Path) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(3))
    [path] = spool.directory.glob("*-o-*.open")
    path.with_suffix(".ready").touch()

    for _ in range(2):
        Composer(spool.directory).compose(everything=True)

    assert jobs_of(spool.directory) == Counter("012")
    spool.close()


def test_while_tallies_wait_outcomes_stay_in_their_journals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterfoil.composer.MAX_WAITING_FILES", 1)
    monkeypatch.setattr(planning, "MAX_TALLIES", 2)
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(100))
    composer = Composer(spool.directory)

    made = [composer.compose(everything=True) for _ in range(4)]

    assert made == [2, 2, 0, 0]
    assert composer.standing().waiting == 84
    spool.close()


def test_a_state_that_cannot_be_read_is_put_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(2))
    (spool.directory / decided.NAME).write_text('{"stem": "../x"}')
    assert Composer(spool.directory).standing().waiting == 2
    assert (spool.directory / decided.NAME).exists()

    Composer(spool.directory).compose(everything=True)

    assert jobs_of(spool.directory) == Counter("01")
    assert (spool.directory / "tallies.bad").exists()
    assert "put aside" in caplog.text
    spool.close()


def test_a_file_that_a_listing_missed_is_not_taken_for_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(2))
    for files in spool._all_sets():
        files.rotate()
    write(spool, range(2, 4))
    listed = counterfoil.composer.folder.journals(spool.directory)
    [stem] = listed
    short = {stem: listed[stem][1:]}
    answers = iter([short])
    real = counterfoil.composer.folder.journals
    monkeypatch.setattr(
        counterfoil.composer.folder, "journals", lambda at: next(answers, None) or real(at)
    )

    composer = Composer(spool.directory)
    composer.compose(everything=True)
    composer.compose(everything=True)

    assert jobs_of(spool.directory) == Counter("0123")
    assert composer.standing().lost == 0
    spool.close()


def test_a_journal_that_a_listing_missed_altogether_is_not_taken_for_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool = Spool(tmp_path / "spool", "one")
    write(spool, range(2))
    composer = Composer(spool.directory)
    composer.compose(everything=True)
    with monkeypatch.context() as patch:
        patch.setattr(counterfoil.composer.folder, "journals", lambda at: {})
        composer.compose(everything=True)
    write(spool, range(2, 4))

    composer.compose(everything=True)

    assert jobs_of(spool.directory) == Counter("0123")
    assert composer.standing().lost == 0
    spool.close()


class Told:
    """A history of a directory with two writers, and the count of what was written and torn."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.spools = [Spool(directory, "one"), Spool(directory, "other")]
        self.written = self.torn = 0

    def write(self, number: int, flag: bool) -> None:
        write(self.spools[flag], range(self.written, self.written + number))
        self.written += number

    def rotate(self, number: int, flag: bool) -> None:
        for files in self.spools[flag]._all_sets():
            files.rotate()

    def compose(self, number: int, flag: bool) -> None:
        Composer(self.directory).compose(everything=flag)

    def crash(self, number: int, flag: bool) -> None:
        with Life(number, is_after=flag).lived():
            Composer(self.directory).compose(everything=True)

    def give_up(self, number: int, flag: bool) -> None:
        room.give_up_oldest(self.directory, number * 50)

    def close(self, number: int, flag: bool) -> None:
        self.spools[flag].close()

    def tear(self, number: int, flag: bool) -> None:
        # Only the last file of a writer that is gone can end in the middle of a line.
        for files in folder.journals(self.directory).values():
            path = self.directory / files[-1].filename
            if path.suffix == ".ready" and path.read_bytes().endswith(b"\n"):
                with path.open("ab") as lines:
                    lines.write(b'["t",')
                self.torn += 1
                return


Deed = st.sampled_from(["write", "rotate", "compose", "crash", "give_up", "close", "tear"])


@settings(deadline=None)
@given(deeds=st.lists(st.tuples(Deed, st.integers(1, 12), st.booleans()), max_size=25))
def test_every_outcome_is_tallied_once_or_counted_as_lost(
    tmp_path_factory: pytest.TempPathFactory, deeds: list[tuple[str, int, bool]]
) -> None:
    told = Told(tmp_path_factory.mktemp("deeds"))
    directory = told.directory
    for deed, number, flag in deeds:
        getattr(told, deed)(number, flag)

    for spool in told.spools:
        spool.close()
    while Composer(directory).compose(everything=True):
        pass
    Composer(directory).compose(everything=True)

    found = jobs_of(directory)
    state = decided.load(directory)
    numbers = [number for number, _ in sent(directory)]
    assert max(found.values(), default=1) == 1
    assert len(found) + state.lost == told.written + told.torn
    assert len(numbers) == len(set(numbers))
    assert state.next_number - 1 == len(numbers) + state.lost
    assert list(directory.glob("*-o-*")) == []
