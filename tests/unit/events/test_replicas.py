"""Conformance cases of reference/pad.md section 6 on resumes and lifecycle.

Cases C15 to C33, C59, C61 and C63 are in test_replicas_spaces.py, C48 to C51 in
test_replicas_memory.py, C64 to C68 in test_replicas_signals.py, W1 to W7 in test_replicas_watch.py,
C29, C30 and C59 from the bytes on in test_simulate_told.py, C56 in test_rollout.py. Not judged on a
model of a replica: C01 to C05 (the decoders' tests), C06 to C14, C17, C60, C62, C67 and W6 (of the
publishing scripts), C57 and C58 (wiring and names), C69 (a write to a socket).
"""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain.records import BARE, FRAME, HOLE, JUNK, PREFIXED, REPLAY, SECOND, Record
from events.domain.replicas import Replica, replay
from tests.unit.events.replica_cast import (
    VERSIONS,
    WS,
    asked,
    bare,
    fed,
    hole,
    junk,
    prefixed,
)

every_version = pytest.mark.parametrize("version", VERSIONS)


@every_version
def test_case_34_without_a_buffer_every_cursor_is_a_gap_but_the_start_is_not(version: str) -> None:
    replica = Replica(version)

    assert (asked(replica, 5), asked(replica, 0)) == ("gap", "empty")


@every_version
def test_case_35_ids_of_others_before_the_first_own_one_cannot_be_vouched_for(
    version: str,
) -> None:
    replica = fed(version, *(bare(id, scope="ws-2") for id in range(1, 50)), bare(50))

    assert [asked(replica, cursor) for cursor in (30, 49, 50)] == ["gap", "50", "empty"]


@every_version
def test_case_36_a_cursor_inside_the_ring_gets_what_came_after_it(version: str) -> None:
    replica = fed(version, *map(bare, range(1, 11)))

    assert (asked(replica, 7), asked(replica, 10)) == ("8 9 10", "empty")


@every_version
def test_case_37_a_full_ring_refuses_what_lies_below_its_oldest(version: str) -> None:
    replica = fed(version, *map(bare, range(1, 5)), capacity=3)

    assert [asked(replica, cursor) for cursor in (1, 2, 3)] == ["gap", "3 4", "4"]


@every_version
def test_case_38_a_cursor_above_the_newest_is_a_gap(version: str) -> None:
    assert asked(fed(version, bare(10)), 11) == "gap"


@every_version
def test_cases_39_and_40_the_last_subscriber_that_leaves_takes_the_buffer(version: str) -> None:
    replica = Replica(version)
    first, second = replica.subscribe(WS), replica.subscribe(WS)
    assert first and second
    replica.take(bare(10))

    replica.unsubscribe(second)
    assert asked(replica, 10) == "empty"

    replica.unsubscribe(first)
    assert asked(replica, 10) == "gap"


@every_version
def test_cases_41_and_42_a_message_of_an_ended_subscription_establishes_nothing(
    version: str,
) -> None:
    replica = Replica(version)
    ended = replica.follow(WS)
    leaving = replica.subscribe(WS)
    assert leaving
    replica.take(bare(100), ended)
    replica.unsubscribe(leaving)

    replica.take(bare(101), ended)
    assert replica.buffers == {}

    replica.subscribe(WS)
    replica.take(bare(102), ended)
    assert replica.buffers == {}

    replica.take(bare(600))
    assert (asked(replica, 599), asked(replica, 101)) == ("600", "gap")


@every_version
def test_case_43_a_cut_connection_ends_coverage_until_the_next_message(version: str) -> None:
    replica = fed(version, bare(10))

    replica.reconnected(WS)

    assert (asked(replica, 10), replica.resets) == ("gap", {"subscription_resumed": 1})
    replica.take(bare(12))
    assert asked(replica, 12) == "empty"


@every_version
def test_case_44_a_cut_without_a_buffer_is_no_reset(version: str) -> None:
    replica = fed(version, bare(10))
    replica.follow("ws-2")

    replica.reconnected("ws-2")

    assert replica.resets == Counter()


@every_version
def test_case_45_a_cut_of_an_ended_subscription_leaves_the_new_buffer(version: str) -> None:
    replica = fed(version, bare(10))

    replica.reconnected(WS, generation=99)

    assert (asked(replica, 10), replica.resets) == ("empty", Counter())


@every_version
def test_case_46_loops_that_end_are_counted_and_their_streams_closed(version: str) -> None:
    replica = Replica(version)
    streams = [replica.subscribe(scope) for scope in (WS, "ws-2")]
    assert replica.loop_exits == 0

    replica.close()

    assert replica.loop_exits == 2
    assert not any(one and one.is_open for one in streams)


@every_version
def test_case_47_a_workspaces_limit_is_its_own_and_a_freed_place_is_used_again(
    version: str,
) -> None:
    replica = Replica(version)
    first = replica.subscribe(WS, limit=2)
    replica.subscribe(WS, limit=2)
    assert first

    assert replica.subscribe(WS, limit=2) is None
    assert replica.subscribe("ws-2", limit=2)
    replica.unsubscribe(first)
    assert replica.subscribe(WS, limit=2)


@every_version
def test_case_52_both_kinds_of_gap_count_once_and_served_resumes_do_not(version: str) -> None:
    replica = fed(version, bare(10))

    replica.resume("ws-2", "5")
    replica.resume(WS, "5")
    replica.resume(WS, "10")
    replica.resume(WS, None)

    assert replica.resume_gaps == 2


def test_case_53_each_reason_is_counted_on_its_own() -> None:
    replica = fed("v3", prefixed(1, 10), prefixed(2, 1), prefixed(2, 1), junk())

    assert replica.resets == {"epoch_change": 1, "counter_backward": 1, "undecodable_message": 1}


@every_version
@pytest.mark.parametrize("header", ["5", "x", "-3", "0", " 10", "1e2", str(1 << 63)])
def test_case_54_an_unservable_cursor_is_cleared(version: str, header: str) -> None:
    given = fed(version, bare(10)).resume(WS, header)

    assert (given.answer, given.ids, given.clears_cursor) == ("sync_required", (), True)


@every_version
@pytest.mark.parametrize("header", [None, ""])
def test_without_a_header_nothing_is_replayed_and_nothing_counted(
    version: str, header: str | None
) -> None:
    replica = fed(version, bare(10))

    assert (replica.resume(WS, header).answer, replica.resume_gaps) == ("fresh", 0)


@every_version
def test_a_recorded_lane_is_played_up_to_an_instant(version: str) -> None:
    lane = [bare(1, at=1), bare(2, at=2), hole(at=3, until=4), bare(5, at=5), bare(6, at=6)]

    assert asked(replay(version, lane, 2_000_000), 1) == "2"
    assert asked(replay(version, lane, 3_000_000), 1) == "gap"
    assert asked(replay(version, lane), 5) == "6"


@every_version
def test_after_a_hole_in_the_recording_nobody_knows_what_a_replica_held(version: str) -> None:
    replica = fed(version, bare(1), bare(2, scope="ws-2"), hole(), bare(3))

    assert (asked(replica, 1), asked(replica, 2), asked(replica, 2, "ws-2")) == ("gap", "3", "gap")
    assert replica.resets == Counter()


NUMBERS = st.one_of(st.none(), st.integers(-3, 12), st.just(1 << 62), st.just((1 << 63) - 1))
RECORDS = st.builds(
    Record,
    at=st.integers(0, 90).map(lambda seconds: seconds * SECOND),
    installation=st.just("i1"),
    bus=st.just("activity"),
    replica=st.just("tail"),
    scope=st.sampled_from([WS, "ws-2", ""]),
    form=st.sampled_from([BARE, PREFIXED, PREFIXED, FRAME, JUNK, HOLE, "someday"]),
    epoch=st.one_of(st.none(), st.sampled_from(["1", "2", "3", "007", "", "e-1", "9" * 26])),
    id=NUMBERS,
    source=st.sampled_from(["live", "live", REPLAY]),
)


@every_version
@given(records=st.lists(RECORDS), header=st.one_of(st.none(), st.text(), NUMBERS))
def test_whatever_comes_a_model_answers_and_sends_only_what_lies_above_the_cursor(
    version: str, records: list[Record], header: object
) -> None:
    found = replay(version, records, capacity=3).resume(WS, header)

    assert found.sentence and len(found.ids) <= 3
    assert all(one > int(str(header)) for one in found.ids)


@every_version
def test_replayed_messages_are_not_received(version: str) -> None:
    replica = fed(version, bare(5)._replace(source=REPLAY))

    assert replica.buffers == {}


def test_a_version_that_is_not_modelled_is_named() -> None:
    with pytest.raises(ValueError, match="'watch'"):
        Replica("watch")
