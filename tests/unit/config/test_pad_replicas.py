"""Publisher and replica together on a real Redis: cases of reference/pad.md section 6."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import pytest
import redis

from config.demo.pad_names import Names
from config.demo.pad_publisher import V0, V1, V2, V3, Publisher
from config.demo.pad_replicas import PadReplica

pytestmark = pytest.mark.slow

NAMES = Names()
MARKS = "marks"
SEED = 1_780_000_000
SECOND = 1_000_000
EVENT = {"type": "item_updated", "workspace_id": "ws-1", "timestamp": 1}


Start = Callable[..., PadReplica]


@pytest.fixture
def start(client: redis.Redis) -> Iterator[Start]:
    """Start a replica that receives ws-1."""
    started: list[PadReplica] = []

    def replica(version: str, *, flag: bool = True) -> PadReplica:
        one = PadReplica(f"r{len(started)}", ["ws-1"], NAMES)
        one.start(client, MARKS, version, flag=flag, at=0)
        started.append(one)
        return one

    yield replica
    for one in started:
        one.stop(0)


def receive(client: redis.Redis, *replicas: PadReplica, at: int = SECOND) -> list[str]:
    """Have replicas receive what was published; give the texts that the last of them got."""
    mark = uuid.uuid4().hex
    client.publish(MARKS, mark)
    heard = [replica.read_to(mark, at) for replica in replicas]
    return [text for _, text in heard[-1]]


def test_c15_both_phases_deliver_both_forms_and_both_answer_resumes(
    client: redis.Redis, start: Start
) -> None:
    replicas = start(V2, flag=False), start(V2)

    for one in replicas:
        one.running.publisher.publish(EVENT)
    receive(client, *replicas)

    # The second message brought the first epoch, which ends what was received before it.
    assert [one.resume("ws-1", 1).answer for one in replicas] == ["sync_required"] * 2
    assert [one.resume("ws-1", 2).answer for one in replicas] == ["caught_up"] * 2


def test_c16_what_phase_2_publishes_is_received_with_its_epoch_and_can_be_resumed(
    client: redis.Redis, start: Start
) -> None:
    one = start(V2)

    one.running.publisher.publish(EVENT)
    receive(client, one)

    assert one.running.model.space.epoch == 1
    assert one.resume("ws-1", 1).answer == "caught_up"
    assert one.phase == "S2a"


@pytest.mark.parametrize(("version", "flag"), [(V0, False), (V1, True), (V2, True)])
def test_c17_a_counter_that_is_no_number_leaves_buffers_as_they_are(
    client: redis.Redis, start: Start, version: str, flag: bool
) -> None:
    one = start(version, flag=flag)
    one.running.publisher.publish(EVENT)
    client.set(NAMES.counter, "abc")

    with pytest.raises(redis.ResponseError):
        one.running.publisher.publish(EVENT)
    receive(client, one)

    assert list(one.running.model.buffers["ws-1"].ids) == [1]


def test_c61_a_repaired_counter_makes_an_old_cursor_unsafe_in_phase_2(
    client: redis.Redis, start: Start
) -> None:
    one = start(V3)
    for _ in range(3):
        one.running.publisher.publish(EVENT)
    client.set(NAMES.counter, "abc")

    assert one.running.publisher.publish(EVENT).repaired == "not_integer"
    receive(client, one)

    assert one.running.model.resets == {"epoch_change": 1}
    assert one.resume("ws-1", 3).answer == "sync_required"


def test_c61_a_repaired_counter_is_no_reset_in_phase_1(client: redis.Redis, start: Start) -> None:
    one = start(V3, flag=False)
    for _ in range(3):
        one.running.publisher.publish(EVENT)
    client.set(NAMES.counter, "abc")

    assert one.running.publisher.publish(EVENT).repaired == "not_integer"
    receive(client, one)

    assert one.running.model.resets == {}


def test_c63_of_two_spaces_under_one_repaired_epoch_only_the_numbers_tell(
    client: redis.Redis, start: Start
) -> None:
    one = start(V3)
    publisher = Publisher(client, V3, writes_epoch=True, now_s=lambda: SEED)
    for _ in range(2):
        client.set(NAMES.generations, "abc")
        client.delete(NAMES.counter)
        publisher.publish(EVENT)
        publisher.publish(EVENT)

    texts = receive(client, one)

    assert [text.split("|")[:2] for text in texts] == [
        [str(SEED), number] for number in ("1", "2", "1", "2")
    ]
    assert one.running.model.resets == {"counter_backward": 1}


def test_c59_a_frame_keeps_the_newest_version_and_ends_the_coverage_of_the_one_before(
    client: redis.Redis, start: Start
) -> None:
    replicas = start(V2), start(V3)
    replicas[1].running.publisher.publish(EVENT)

    replicas[1].running.publisher.beat("ws-1")
    receive(client, *replicas)

    assert [dict(one.running.model.resets) for one in replicas] == [
        {"undecodable_message": 1},
        {},
    ]


def test_an_old_replica_logs_what_it_cannot_read_and_claims_what_it_had(
    client: redis.Redis, start: Start
) -> None:
    old, new = start(V0, flag=False), start(V2)
    old.running.publisher.publish(EVENT)
    new.running.publisher.publish(EVENT)
    old.running.publisher.publish(EVENT)
    receive(client, old, new)

    assert old.resume("ws-1", 1).ids == (3,)
    assert (old.phase, new.phase) == ("S0", "S2a")


def test_resets_are_handed_out_once_with_the_message_that_brought_them(
    client: redis.Redis, start: Start
) -> None:
    one = start(V2)
    one.running.publisher.publish(EVENT)
    client.delete(NAMES.epoch)
    one.running.publisher.publish(EVENT)
    receive(client, one)

    assert one.take_resets() == [
        {"reason": "epoch_change", "at": SECOND, "fields": {"workspace": "ws-1", "id": "2"}}
    ]
    assert one.take_resets() == []


def test_a_stopped_replica_has_no_process(start: Start) -> None:
    one = PadReplica("r1", ["ws-1"], NAMES)

    with pytest.raises(ValueError, match="r1 does not run"):
        _ = one.running
