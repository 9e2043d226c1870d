"""What was read waits in order: in memory, then in a file, then not at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.integrations.backlog import Backlog, Chunk


def take_all(backlog: Backlog) -> list[Chunk]:
    taken: list[Chunk] = []
    while found := backlog.take(0):
        taken += found
    return taken


def hole(at: int) -> Chunk:
    return Chunk(at, b"", at + 5, "reconnect")


STEPS = st.lists(st.sampled_from(["small", "large", "hole", "take"]), max_size=40)


@given(STEPS)
def test_chunks_come_out_in_the_order_in_which_they_went_in(steps: list[str]) -> None:
    backlog = Backlog(None, memory=100, disk=10_000)
    given_in: list[Chunk] = []
    taken: list[Chunk] = []
    for at, step in enumerate(steps):
        if step == "take":
            taken += backlog.take(0)[:]
            continue
        size = {"small": 10, "large": 60, "hole": 0}[step]
        chunk = hole(at) if step == "hole" else Chunk(at, bytes([at]) * size)
        assert backlog.put(chunk)
        given_in.append(chunk)

    assert taken + take_all(backlog) == given_in
    assert backlog.size == 0


def test_what_does_not_fit_into_memory_goes_into_a_file_without_a_name(tmp_path: Path) -> None:
    backlog = Backlog(tmp_path, memory=100, disk=1_000)

    for at in range(5):
        assert backlog.put(Chunk(at, b"x" * 60))

    assert list(tmp_path.iterdir()) == []
    assert backlog.greatest > 300
    assert [chunk.at for chunk in take_all(backlog)] == [0, 1, 2, 3, 4]


def test_a_full_backlog_takes_no_chunk_but_takes_a_hole() -> None:
    backlog = Backlog(None, memory=100, disk=100)
    assert backlog.put(Chunk(0, b"x" * 90))
    assert backlog.put(Chunk(1, b"x" * 80))

    assert not backlog.put(Chunk(2, b"x" * 80))
    assert backlog.put(hole(3))
    assert not backlog.is_low

    assert [chunk.at for chunk in take_all(backlog)] == [0, 1, 3]
    assert backlog.is_low


def test_room_on_disk_is_given_back() -> None:
    backlog = Backlog(None, memory=0, disk=100)
    for at in range(20):
        assert backlog.put(Chunk(at, b"x" * 80))
        assert [chunk.at for chunk in take_all(backlog)] == [at]


def test_a_folder_that_is_not_there_is_a_full_backlog(tmp_path: Path) -> None:
    backlog = Backlog(tmp_path / "gone", memory=10, disk=1_000)

    assert not backlog.put(Chunk(0, b"x" * 60))


@pytest.mark.parametrize("size", [1, 50])
def test_waiting_for_a_chunk_ends_when_there_is_none(size: int) -> None:
    backlog = Backlog(None, memory=size)

    assert backlog.take(0.01) == []
