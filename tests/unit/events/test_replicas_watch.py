"""Cases W1 to W7 of reference/pad.md section 6: replicas of the watch bus."""

from __future__ import annotations

import pytest

from events.domain.replicas.watch import WatchReplica
from tests.unit.events.replica_cast import asked, hole, junk, prefixed

TOKEN, OTHER = "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f", "0190c0de-0000-4a5b-9c2d-0a0b0c0d0e0f"
WATCH_ROWS = [
    pytest.param([(TOKEN, 100), (TOKEN, 102)], {100: "gap", 101: "102"}, id="W1"),
    pytest.param([(TOKEN, 102)], {101: "102", 100: "gap"}, id="W2"),
    pytest.param([(TOKEN, 100), (OTHER, 101)], {100: "gap", 101: "empty"}, id="W3"),
    pytest.param([(TOKEN, 99), (TOKEN, 100), (TOKEN, 1)], {99: "gap", 100: "gap"}, id="W4"),
]


@pytest.mark.parametrize("profile", ["watch", "watch+hb"])
@pytest.mark.parametrize(("messages", "answers"), WATCH_ROWS)
def test_watch_case(profile: str, messages: list[tuple[str, int]], answers: dict[int, str]) -> None:
    replica = WatchReplica(profile)
    for token, id in messages:
        replica.take(prefixed(token, id))

    assert {cursor: asked(replica, cursor) for cursor in answers} == answers


def test_watch_case_1_counts_what_the_hole_swallowed() -> None:
    replica = WatchReplica()
    for id in (100, 102, 110):
        replica.take(prefixed(TOKEN, id))

    assert (replica.gaps, replica.missed) == (2, 8)


@pytest.mark.parametrize(
    ("counter", "answer"),
    [
        pytest.param(103, "sync_required", id="W5 ahead after the settle time"),
        pytest.param(102, "replay", id="W5 arrived inside it"),
        pytest.param(0, "sync_required", id="W5 the key is gone"),
        pytest.param(None, "replay", id="W5 unreadable, so by what it knows"),
    ],
)
def test_watch_compares_with_the_shared_counter(counter: int | None, answer: str) -> None:
    replica = WatchReplica()
    for id in (101, 102):
        replica.take(prefixed(TOKEN, id))

    assert replica.resume(101, counter).answer == answer


def test_watch_case_7_a_cut_or_garbage_is_told_and_the_next_message_covers_again() -> None:
    replica = WatchReplica("watch+hb")
    for one in (prefixed(TOKEN, 5), junk(), prefixed(TOKEN, 6)):
        replica.take(one)
    replica.reconnected()
    replica.take(prefixed(TOKEN, 9))

    assert replica.resets == {"undecodable_message": 1, "subscription_resumed": 1}
    assert (replica.signals, asked(replica, 6), asked(replica, 9)) == (2, "gap", "empty")


def test_the_earlier_watch_bus_sees_neither_a_cut_nor_garbage() -> None:
    replica = WatchReplica()
    for one in (prefixed(TOKEN, 5), junk()):
        replica.take(one)
    replica.reconnected()

    assert (replica.resets, asked(replica, 5)) == ({}, "empty")


def test_after_a_hole_in_the_recording_nobody_knows_what_it_held() -> None:
    replica = WatchReplica()
    for one in (prefixed(TOKEN, 5), hole(), prefixed(TOKEN, 6)):
        replica.take(one)

    assert (asked(replica, 4), asked(replica, 5), replica.gaps) == ("gap", "6", 0)


def test_the_later_watch_bus_refuses_an_abandoned_range_until_it_is_climbed_out_of() -> None:
    earlier, later = WatchReplica("watch"), WatchReplica("watch+hb")
    for replica in (earlier, later):
        for id in (49, 50, *range(1, 53)):
            replica.take(prefixed(TOKEN, id))

    assert (asked(earlier, 50), asked(later, 50)) == ("51 52", "gap")
    assert (asked(earlier, 51), asked(later, 51)) == ("52", "52")
