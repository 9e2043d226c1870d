"""Cases C64 to C68 of reference/pad.md section 6: what open streams are told, and silence."""

from __future__ import annotations

from collections import Counter

import pytest

from events.domain.replicas import Replica
from tests.unit.events.replica_cast import WS, asked, bare, fed, frame, prefixed


def test_case_64_a_stream_that_does_not_drain_is_told_alone() -> None:
    replica = Replica("v3")
    slow, quick = replica.subscribe(WS), replica.subscribe(WS)
    assert slow and quick

    for id in range(1, 66):
        replica.take(bare(id))
        quick.drain()

    assert (slow.is_signalled, quick.is_signalled, replica.drops) == (True, False, 1)
    assert len(slow.drain()) == 64


def test_case_64_a_reset_of_the_id_space_tells_all_and_a_cut_only_its_own() -> None:
    replica = Replica("v3")
    own, other = replica.subscribe(WS), replica.subscribe("ws-2")
    assert own and other
    replica.take(prefixed(1, 5))

    replica.reconnected(WS)
    assert (own.is_signalled, other.is_signalled) == (True, False)

    replica.take(prefixed(1, 6))
    replica.take(prefixed(2, 1))
    assert other.is_signalled


@pytest.mark.parametrize("version", ["v0", "v1", "v2"])
def test_older_versions_tell_no_open_stream(version: str) -> None:
    replica = Replica(version)
    stream = replica.subscribe(WS)
    assert stream

    for id in range(1, 67):
        replica.take(bare(id))

    assert (stream.is_signalled, replica.drops) == (False, 2)


def test_case_65_what_comes_between_subscribing_and_replaying_comes_once() -> None:
    replica = fed("v3", bare(1))

    stream, given = replica.subscribe_and_replay(WS, "1")
    replica.take(bare(2))

    assert stream
    assert (given.ids, stream.drain()) == ((), (2,))


@pytest.mark.parametrize("version", ["v0", "v1", "v2"])
def test_before_case_65_a_message_between_the_two_steps_came_both_ways(version: str) -> None:
    replica = fed(version, bare(1))
    stream = replica.subscribe(WS)
    assert stream

    replica.take(bare(2))

    assert (replica.resume(WS, "1").ids, stream.drain()) == ((2,), (2,))


def test_case_66_silence_with_a_working_probe_replaces_the_subscription_once() -> None:
    replica = fed("v3", prefixed(1, 5), expects_frames=True)

    replica.tick(90_000_000)
    assert replica.cycled == 0
    replica.tick(90_000_001)
    replica.tick(91_000_000)

    assert (replica.cycled, replica.resets) == (1, {"idle_timeout": 1})


def test_case_66_a_failed_probe_replaces_nothing_and_frames_alone_keep_it_alive() -> None:
    replica = fed("v3", prefixed(1, 5), expects_frames=True)
    replica.tick(100_000_000, probe_ok=False)
    replica.take(frame(at=100))

    replica.tick(150_000_000)

    assert (replica.cycled, asked(replica, 5)) == (0, "empty")


def test_case_68_an_id_that_was_never_published_signals_no_gap() -> None:
    replica = Replica("v3")
    stream = replica.subscribe(WS)
    assert stream

    replica.take(prefixed(1, 5))
    replica.take(prefixed(1, 7))

    assert (stream.is_signalled, asked(replica, 5)) == (False, "7")


def test_a_subscription_that_is_not_confirmed_ends_coverage_in_the_last_version_alone() -> None:
    later, earlier = fed("v3", bare(5)), fed("v2", bare(5))

    later.unconfirmed(WS)
    earlier.unconfirmed(WS)

    assert (later.resets, earlier.resets) == ({"subscription_unconfirmed": 1}, Counter())
