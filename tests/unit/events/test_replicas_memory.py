"""Cases C48 to C51 of reference/pad.md section 6: the in-memory bus and its bases."""

from __future__ import annotations

from itertools import pairwise

import pytest

from events.domain.replicas.memory import MemoryReplica, base_of
from tests.unit.events.replica_cast import WS


def test_cases_48_and_49_a_cursor_of_a_dead_incarnation_lies_below_the_new_ids() -> None:
    dead, live = (
        MemoryReplica(base_of(1_790_000_000_000)),
        MemoryReplica(base_of(1_790_000_060_000)),
    )
    old, new = dead.publish(WS), live.publish(WS)
    live.publish(WS)

    assert old < live.base < new
    assert [live.since(WS, cursor).answer for cursor in (old, live.base, new)] == [
        "sync_required",
        "sync_required",
        "replay",
    ]
    assert live.since(WS, live.base + 1).ids == (live.base + 2,)


def test_case_50_every_id_of_the_process_is_servable() -> None:
    bus = MemoryReplica(base_of(1_790_000_000_000))
    ids = [bus.publish(WS) for _ in range(300)]

    assert ids == sorted(set(ids))
    assert all(bus.since(WS, one).answer != "sync_required" for one in ids)


def test_case_51_bases_rise_by_a_stride_and_stop_where_64_bits_end() -> None:
    bases = [0]
    for _ in range(200):
        bases.append(base_of(1_790_000_000_000, bases[-1]))

    assert all(after - before >= 1 << 20 for before, after in pairwise(bases))
    assert base_of(8_796_093_022_207) == (1 << 63) - (1 << 20)
    with pytest.raises(ValueError, match="64 bits"):
        base_of(8_796_093_022_208)
