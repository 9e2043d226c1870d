"""What goes first when a spool is full, and what is kept for whom."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import counterfoil
from counterfoil import alive, names, room
from counterfoil.composer import Composer
from counterfoil.spool import Spool

HEAD = b'{"policy":"1","source":null}\n'
OUTCOME = b'["t","q","1","done",1,0]\n'
LINE = b'{"kind":"done"}\n'
LIMIT = 256 * 1024


@pytest.fixture
def spool(tmp_path: Path) -> Iterator[Spool]:
    made = Spool(tmp_path / "spool", max_bytes=LIMIT)
    yield made
    made.close()


@pytest.fixture
def _full_of_a_living_writer(spool: Spool) -> Iterator[None]:
    """Another process's open file, which nobody may give up, up to where durable room begins."""
    spool.directory.mkdir()
    name = f"other-w-0123456789+1.{os.getpid()}.{alive.own_start()}.open"
    with (spool.directory / name).open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        held.write(b"x" * (LIMIT - LIMIT // 8))
        held.flush()
        yield


def levels(directory: Path) -> list[str | None]:
    return sorted(entry.file.level or "" for entry in room.iter_entries(directory))


def test_outcomes_go_before_written_receipts_even_when_they_are_newer(spool: Spool) -> None:
    spool.append(LINE, durable=False)
    spool.append_outcome(OUTCOME, HEAD)
    spool.append(LINE, durable=True)
    spool.close()
    oldest = next(iter(spool.directory.glob("*-w-*")))
    os.utime(oldest, (0, 0))

    room.give_up_oldest(spool.directory, 1)

    sizes = {e.file.level: e.size for e in room.iter_entries(spool.directory)}
    assert sizes == {"o": 0, "w": len(LINE), "d": len(LINE)}


def test_durable_receipts_and_tallies_are_never_given_up(spool: Spool) -> None:
    spool.append(LINE, durable=True)
    spool.append_outcome(OUTCOME, HEAD)
    spool.close()
    Composer(spool.directory).compose(everything=True)

    assert room.give_up_oldest(spool.directory, 10**9) == 0

    assert levels(spool.directory) == [names.DURABLE, names.TALLIES]


@pytest.mark.usefixtures("_full_of_a_living_writer")
def test_the_last_eighth_is_for_durable_receipts_alone(spool: Spool) -> None:
    assert spool.append(LINE, durable=False) is False
    assert spool.append_outcome(OUTCOME, HEAD) is False

    assert spool.append(LINE, durable=True) is True


@pytest.mark.usefixtures("_full_of_a_living_writer")
def test_an_outcome_that_found_no_room_is_a_hole_that_is_counted(spool: Spool) -> None:
    for _ in range(3):
        spool.append_outcome(OUTCOME, HEAD)
    next(iter(spool.directory.glob("other-*"))).unlink()
    spool._refused_until = 0.0

    assert spool.append_outcome(OUTCOME, HEAD)
    spool.close()
    Composer(spool.directory).compose(everything=True)

    assert Composer(spool.directory).standing().lost == 3


def test_a_writer_sees_by_the_clock_what_others_have_written(
    spool: Spool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterfoil.spool._LOOK_EVERY_S", 0.0)
    assert spool.append(LINE, durable=False)
    (spool.directory / "other.4194303.1.ready").write_bytes(b"x" * LIMIT)
    assert spool._unchecked < spool._stride

    assert spool.append(LINE, durable=False) is False


def test_a_full_spool_never_raises_for_an_outcome(tmp_path: Path) -> None:
    client = counterfoil.Client(counterfoil.from_env(spool=tmp_path / "spool", max_bytes=LIMIT))
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "other.4194303.1.ready").write_bytes(b"x" * 2 * LIMIT)

    assert client.outcome("t", "q", "1") is False
    client.close()
