"""The publisher on a Redis whose keys are broken: reference/pad.md 1.4 and C17, C60 to C62."""

from __future__ import annotations

import pytest
import redis
from redis.client import PubSub

from config.demo.pad_names import body
from config.demo.pad_publisher import V0, V1, V2, V3
from tests.unit.config.pad_bus import EVENT, NAMES, SEED, heard, publisher, put, text_of

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("version", "flag"), [(V0, False), (V1, True), (V2, False), (V2, True)])
def test_c17_a_counter_that_is_no_number_publishes_nothing_before_v3(
    client: redis.Redis, channel: PubSub, version: str, flag: bool
) -> None:
    client.set(NAMES.counter, "abc")

    with pytest.raises(redis.ResponseError):
        publisher(client, version, writes_epoch=flag).publish(EVENT)

    assert heard(channel, client) == []


def test_v2_with_an_unusable_generation_burns_the_id(client: redis.Redis, channel: PubSub) -> None:
    client.set(NAMES.counter, 4)
    client.set(NAMES.generations, "abc")

    with pytest.raises(redis.ResponseError):
        publisher(client, V2).publish(EVENT)

    assert text_of(client, NAMES.counter) == "5"
    assert heard(channel, client) == []


@pytest.mark.parametrize(
    ("kind", "value"),
    [("list", "x"), ("hash", "x"), ("text", "abc"), ("text", str(2**63 - 1)), ("text", "0")],
)
def test_c60_v3_goes_on_from_the_wall_clock_where_generations_cannot_be_counted(
    client: redis.Redis, channel: PubSub, kind: str, value: str
) -> None:
    client.set(NAMES.counter, 4)
    put(client, NAMES.generations, kind, value)

    publisher(client, V3).publish(EVENT)

    assert heard(channel, client)[0].startswith(f"{SEED}|5|")
    assert text_of(client, NAMES.counter) == "5"


def test_c60_v3_counts_generations_that_can_be_counted(
    client: redis.Redis, channel: PubSub
) -> None:
    client.set(NAMES.counter, 4)
    client.set(NAMES.generations, 9)

    publisher(client, V3).publish(EVENT)

    assert heard(channel, client)[0].startswith("10|5|")


REPAIRS = [
    ("list", "x", "wrong_type"),
    ("hash", "x", "wrong_type"),
    ("text", "abc", "not_integer"),
    ("text", "-5", "not_integer"),
    ("text", "1" * 18, "too_large"),
    ("text", str(2**63 - 1), "too_large"),
]


@pytest.mark.parametrize(("kind", "value", "shape"), REPAIRS)
def test_c61_v3_repairs_a_counter_that_cannot_count_and_turns_the_epoch(
    client: redis.Redis, channel: PubSub, kind: str, value: str, shape: str
) -> None:
    client.set(NAMES.epoch, "7")
    client.set(NAMES.generations, "7")
    put(client, NAMES.counter, kind, value)

    given = publisher(client, V3).publish(EVENT)

    assert (given.id, given.repaired) == (1, shape)
    assert heard(channel, client)[0].startswith("8|1|")


@pytest.mark.parametrize(("kind", "value", "shape"), REPAIRS)
def test_c61_in_phase_1_v3_repairs_the_counter_and_forgets_the_epoch(
    client: redis.Redis, channel: PubSub, kind: str, value: str, shape: str
) -> None:
    client.set(NAMES.epoch, "7")
    put(client, NAMES.counter, kind, value)

    given = publisher(client, V3, writes_epoch=False).publish(EVENT)

    assert (given.id, given.repaired) == (1, shape)
    assert heard(channel, client) == [body(EVENT, number=1)]
    assert not client.exists(NAMES.epoch)


def test_c62_v3_writes_an_id_of_seventeen_digits_exactly(
    client: redis.Redis, channel: PubSub
) -> None:
    client.set(NAMES.epoch, "7")
    client.set(NAMES.counter, 99_999_999_999_999_998)

    given = publisher(client, V3).publish(EVENT)

    assert given.id == 99_999_999_999_999_999
    assert heard(channel, client)[0].startswith("7|99999999999999999|")


@pytest.mark.parametrize("version", [V1, V2])
@pytest.mark.parametrize(
    ("before", "shown"),
    [(10**14 - 1, "1e+14"), (1_869_000_000_000_000_000 - 1, "1.869e+18")],
)
def test_v1_and_v2_write_large_ids_as_powers_of_ten(
    client: redis.Redis, channel: PubSub, version: str, before: int, shown: str
) -> None:
    client.set(NAMES.epoch, "7")
    client.set(NAMES.counter, before)

    publisher(client, version).publish(EVENT)

    assert heard(channel, client)[0].startswith(f"7|{shown}|")


def test_v2_keeps_and_sends_a_large_generation_as_a_power_of_ten(
    client: redis.Redis, channel: PubSub
) -> None:
    client.set(NAMES.generations, 10**15 - 2)

    publisher(client, V2).publish(EVENT)

    assert heard(channel, client)[0].startswith("1e+15|1|")
    assert text_of(client, NAMES.epoch) == "1e+15"


def test_losing_generations_and_counter_begins_at_generation_1_again(
    client: redis.Redis, channel: PubSub
) -> None:
    client.set(NAMES.epoch, "5")

    publisher(client, V2).publish(EVENT)

    assert heard(channel, client)[0].startswith("1|1|")


@pytest.mark.parametrize("version", [V2, V3])
def test_a_counter_that_is_set_back_keeps_its_epoch(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    client.set(NAMES.epoch, "5")
    client.set(NAMES.counter, 3)

    publisher(client, version).publish(EVENT)

    assert heard(channel, client)[0].startswith("5|4|")


def test_two_instances_that_publish_in_two_calls_interleave(
    client: redis.Redis, channel: PubSub
) -> None:
    one, other = publisher(client, V0), publisher(client, V0)

    early, late = one.assign(), other.assign()
    other.send(EVENT, late.id)
    one.send(EVENT, early.id)

    assert heard(channel, client) == [body(EVENT, number=2), body(EVENT, number=1)]
