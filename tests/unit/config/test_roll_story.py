"""Scenario 4 on a real Redis: what the replicas receive, keep, count and answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import redis

from config.demo import roll_lines, roll_story
from config.demo.moving_clocks import SECOND, MovedClock
from config.demo.pad_names import Names
from config.demo.roll_fleet import Fleet
from config.demo.roll_lines import Away, Heard, Line, Told

pytestmark = pytest.mark.slow

START = 1_800_000_000 * SECOND
Chapter = Callable[[Fleet], None]


class Story:
    """A fleet that has told some chapters, and its lines."""

    def __init__(self, fleet: Fleet, lines: list[Line]) -> None:
        self.fleet, self.lines = fleet, lines

    def counted(self, name: str) -> Counter[str]:
        """Give what a replica's process counted of resets."""
        return self.fleet.replicas[name].running.model.resets

    def answers(self, name: str) -> list[tuple[str, str]]:
        """Give the cursors and answers of a replica's resumes."""
        told = (one for one in self.lines if isinstance(one, Told) and one.what == "resume")
        return [
            (one.body["cursor"], one.body["answer"]) for one in told if one.body["replica"] == name
        ]


Tell = Callable[..., Story]


@pytest.fixture
def tell(client: redis.Redis) -> Iterator[Tell]:
    """Tell chapters one after the other."""
    fleets: list[Fleet] = []

    def told(*chapters: Chapter) -> Story:
        lines: list[Line] = []
        fleets.append(Fleet(client, Names("demo-x"), MovedClock(START), lines.append, START))
        for chapter in chapters:
            chapter(fleets[-1])
        return Story(fleets[-1], lines)

    yield told
    for fleet in fleets:
        fleet.close()


def test_two_calls_that_mix_make_an_old_replica_refuse_what_it_holds(tell: Tell) -> None:
    told = tell(roll_story.bare)

    ((cursor, answer),) = told.answers("r1")
    assert answer == "sync_required"
    ring = told.fleet.replicas["r1"].running.model.buffers["ws-1"]
    assert int(cursor) in ring.ids


def test_an_old_replica_counts_no_reset_when_its_counter_restarts(tell: Tell) -> None:
    told = tell(roll_story.bare, roll_story.restarts_unseen)

    assert [told.counted(name) for name in ("r1", "r2", "r3")] == [Counter()] * 3
    assert [answer for _, answer in told.answers("r1")] == ["sync_required", "replay"]


def test_to_the_quiet_replica_a_restart_looks_like_progress(tell: Tell) -> None:
    told = tell(roll_story.bare, roll_story.restarts_unseen)

    ids = list(told.fleet.replicas["r3"].running.model.buffers["ws-3"].ids)
    assert ids == sorted(ids)


def test_a_message_lost_on_its_way_leaves_no_trace_on_its_replica(tell: Tell) -> None:
    told = tell(roll_story.bare, roll_story.restarts_unseen)

    heard = [one for one in told.lines if isinstance(one, Heard) and one.scope == "ws-3"]
    assert [one.lanes for one in heard[-2:]] == [
        ("tail", "r2", "r3"),
        ("tail", "r1", "r2", "r3"),
    ]


def test_an_old_replica_cannot_read_what_a_flagged_one_writes(tell: Tell) -> None:
    told = tell(roll_story.bare, roll_story.first_roll)
    fleet = told.fleet
    before = list(fleet.replicas["r3"].running.model.buffers["ws-3"].ids)
    fleet.restart("r1", "v2", flag=True)

    fleet.say("ws-3", "r1")

    assert list(fleet.replicas["r3"].running.model.buffers["ws-3"].ids) == before
    assert [fleet.replicas[name].phase for name in ("r1", "r2", "r3")] == ["S2a", "S1a", "S0"]


def test_a_replaced_replica_misses_what_came_meanwhile(tell: Tell) -> None:
    told = tell(roll_story.bare, roll_story.first_roll)

    gone = [one for one in told.lines if isinstance(one, Away)]
    assert [one.lane for one in gone] == ["r1", "r2"]
    missed = [
        one for one in told.lines if isinstance(one, Heard) and gone[0].at < one.at < gone[0].until
    ]
    assert missed
    assert all("r1" not in one.lanes for one in missed)


def test_the_fleet_counts_an_epoch_change_a_straggler_and_a_counter_that_ran_back(
    tell: Tell,
) -> None:
    told = tell(
        roll_story.bare,
        roll_story.first_roll,
        roll_story.illegal_mix,
        roll_story.second_roll,
        roll_story.evicted_epoch,
        roll_story.restarts_with_epoch,
        roll_story.failed_over,
    )

    assert told.counted("r1") == {"epoch_change": 2, "epoch_regressed": 1, "counter_backward": 1}
    assert told.counted("r3") == {"epoch_change": 2, "counter_backward": 1}


def test_an_event_that_was_sent_again_is_received_once(tell: Tell) -> None:
    told = tell(roll_story.bare, roll_story.first_roll, roll_story.illegal_mix)
    told.fleet.restart("r1", "v2", flag=True)
    before = len(told.lines)

    ids = [told.fleet.say("ws-1", "r1", "a reply that was lost").id for _ in range(2)]

    assert ids[1] == 0
    assert [type(one) for one in told.lines[before:]] == [Heard]


def test_a_told_story_leaves_nothing_in_redis(client: redis.Redis) -> None:
    fleet = Fleet(client, Names("demo-x"), MovedClock(START), lambda line: None, START)
    roll_story.tell(fleet)

    fleet.close()

    assert client.keys("*") == []


def test_a_recording_is_read_as_it_was_written(tell: Tell, tmp_path: Path) -> None:
    told = tell(roll_story.tell)

    roll_lines.write(tmp_path / "recording", told.lines)

    assert list(roll_lines.read(tmp_path / "recording")) == told.lines
