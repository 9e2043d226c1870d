"""The publisher on a real Redis, in both phases: reference/pad.md 1.3, 1.4 and section 6."""

from __future__ import annotations

import threading
import uuid
from typing import Any

import pytest
import redis
from redis.client import PubSub

from config.demo.pad_names import Names, body
from config.demo.pad_publisher import V0, V1, V2, V3, Publisher
from tests.servers import Redis
from tests.unit.config.pad_bus import (
    EVENT,
    NAMES,
    heard,
    publisher,
    text_of,
    without_right_to_publish,
)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("version", [V1, V2, V3])
def test_c06_on_a_fresh_redis_an_event_gets_id_1_and_a_usable_epoch(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    given = publisher(client, version).publish(EVENT)

    epoch, number, rest = heard(channel, client)[0].split("|", 2)
    assert (given.id, number, epoch) == (1, "1", text_of(client, NAMES.epoch))
    assert rest == body(EVENT)
    assert client.ttl(NAMES.epoch) == -1


@pytest.mark.parametrize("version", [V0, V1, V2, V3])
def test_c07_without_the_flag_an_event_is_bare_and_no_epoch_is_written(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    given = publisher(client, version, writes_epoch=False).publish(EVENT)

    assert heard(channel, client) == [body(EVENT, number=1)]
    assert given.id == 1
    assert not client.exists(NAMES.epoch)


@pytest.mark.parametrize("version", [V1, V2, V3])
def test_c08_the_same_token_twice_publishes_once_and_burns_no_id(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    one = publisher(client, version)

    answers = [one.publish(EVENT, "t").id, one.publish(EVENT, "t").id]

    assert answers == [1, 0]
    assert len(heard(channel, client)) == 1
    assert text_of(client, NAMES.counter) == "1"
    assert 55 <= client.ttl(NAMES.token("t")) <= 60


@pytest.mark.parametrize("version", [V2, V3])
def test_c09_a_script_that_died_leaves_no_token_so_a_retry_publishes(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    one = publisher(client, version)
    with without_right_to_publish(client), pytest.raises(redis.ResponseError):
        one.publish(EVENT, "t")

    given = one.publish(EVENT, "t")

    assert given.id != 0
    assert len(heard(channel, client)) == 1


def test_v1_with_a_list_as_epoch_burns_an_id_and_loses_the_event_for_good(
    client: redis.Redis, channel: PubSub
) -> None:
    one = publisher(client, V1)
    one.publish(EVENT)
    one.publish(EVENT)
    client.delete(NAMES.epoch)
    client.rpush(NAMES.epoch, "x")
    with pytest.raises(redis.ResponseError):
        one.publish(EVENT, "t")
    client.delete(NAMES.epoch)

    again = one.publish(EVENT, "t")

    assert again.id == 0
    assert text_of(client, NAMES.counter) == "3"
    assert client.exists(NAMES.token("t"))
    assert len(heard(channel, client)) == 2


@pytest.mark.parametrize("version", [V2, V3])
def test_c10_three_hundred_concurrent_events_arrive_in_the_order_of_their_ids(
    redis_server: Redis, client: redis.Redis, channel: PubSub, version: str
) -> None:
    def publish() -> None:
        with redis.Redis(port=redis_server.port) as own:
            for _ in range(30):
                publisher(own, version).publish(EVENT)

    threads = [threading.Thread(target=publish) for _ in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    ids = [int(message.split("|")[1]) for message in heard(channel, client)]
    assert ids == list(range(1, 301))


@pytest.mark.parametrize("version", [V2, V3])
@pytest.mark.parametrize("epoch", ["abc", "0", "-3", "1.5", "", str(2**63), "1" * 26])
def test_c11_an_epoch_that_no_receiver_takes_is_replaced(
    client: redis.Redis, channel: PubSub, version: str, epoch: str
) -> None:
    client.set(NAMES.counter, 10)
    client.set(NAMES.epoch, epoch)

    publisher(client, version).publish(EVENT)

    assert heard(channel, client)[0].startswith("1|11|")
    assert text_of(client, NAMES.epoch) == "1"


@pytest.mark.parametrize("version", [V2, V3])
def test_c11_a_valid_epoch_is_left_alone(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    client.set(NAMES.counter, 10)
    client.set(NAMES.epoch, "7")

    publisher(client, version).publish(EVENT)

    assert heard(channel, client)[0].startswith("7|11|")


@pytest.mark.parametrize("version", [V2, V3])
def test_c12_an_epoch_that_is_a_list_is_a_text_again(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    client.set(NAMES.counter, 10)
    client.rpush(NAMES.epoch, "x")

    publisher(client, version).publish(EVENT)

    assert heard(channel, client)[0].startswith("1|11|")
    assert text_of(client, NAMES.epoch) == "1"


@pytest.mark.parametrize("version", [V2, V3])
def test_c13_generations_rise_each_time_that_the_counter_is_lost(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    one = publisher(client, version)

    for _ in range(3):
        client.delete(NAMES.counter)
        one.publish(EVENT)

    assert [message.split("|")[0] for message in heard(channel, client)] == ["1", "2", "3"]


@pytest.mark.parametrize("version", [V2, V3])
def test_c14_a_phase_1_restart_forgets_the_epoch_and_a_climbing_counter_leaves_it(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    flagged, plain = publisher(client, version), publisher(client, version, writes_epoch=False)
    flagged.publish(EVENT)
    plain.publish(EVENT)
    assert text_of(client, NAMES.epoch) == "1"
    client.delete(NAMES.counter)

    restarted = plain.publish(EVENT)

    assert restarted.id == 1
    assert not client.exists(NAMES.epoch)
    flagged.publish(EVENT)
    assert heard(channel, client)[-1].startswith("2|2|")


@pytest.mark.parametrize("version", [V1, V2, V3])
def test_c15_both_phases_on_one_redis_share_one_counter(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    publisher(client, version, writes_epoch=False).publish(EVENT)
    publisher(client, version).publish(EVENT)

    bare, prefixed = heard(channel, client)
    assert bare == body(EVENT, number=1)
    assert prefixed.split("|", 2)[1:] == ["2", body(EVENT)]


NOTIFICATION = {"WorkspaceID": "ws-1", "Kind": "mention", "Timestamp": 1}


def test_w6_the_watch_bus_sends_a_notification_once_for_its_token(
    client: redis.Redis, channel: PubSub
) -> None:
    one = publisher(client, V2)

    answers = [one.publish_watch(NOTIFICATION, "t").id, one.publish_watch(NOTIFICATION, "t").id]

    (message,) = heard(channel, client)
    epoch, number, rest = message.split("|", 2)
    assert answers == [1, 0]
    assert (str(uuid.UUID(epoch)), number) == (epoch, "1")
    assert rest == body(NOTIFICATION, id_name="ID")


def test_the_watch_bus_keeps_its_epoch_when_its_counter_begins_anew(
    client: redis.Redis, channel: PubSub
) -> None:
    one = publisher(client, V2)
    one.publish_watch(NOTIFICATION)
    one.publish_watch(NOTIFICATION)
    client.delete(NAMES.watch_counter)
    one.publish_watch(NOTIFICATION)

    messages = [message.split("|")[:2] for message in heard(channel, client)]
    assert [number for _, number in messages] == ["1", "2", "1"]
    assert len({epoch for epoch, _ in messages}) == 1


def test_a_frame_has_no_id_and_counts_nothing(client: redis.Redis, channel: PubSub) -> None:
    publisher(client, V3).beat("ws-1", "hb|2|instance-a|1699999999")

    assert heard(channel, client) == ["hb|2|instance-a|1699999999"]
    assert not client.exists(NAMES.counter)


@pytest.mark.parametrize("version", [V1, V2, V3])
def test_c58_with_a_namespace_nothing_has_a_default_name(
    client: redis.Redis, channel: PubSub, version: str
) -> None:
    one = Publisher(client, version, writes_epoch=True, names=Names("inst-b"))

    one.publish(EVENT)
    one.publish_watch(NOTIFICATION)

    keys: Any = client.keys("*")
    assert keys
    assert all(key.startswith(b"pad:inst-b:") for key in keys)
