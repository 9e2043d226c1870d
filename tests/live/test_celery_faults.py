"""What goes wrong in a worker, or is declined there: each shows as it was."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.celery_shop.ledger import Ledger
from tests.celery_shop.rig import SOURCE, Shop
from tests.running import Counterfoil
from tests.servers import Redis, list_children

pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

EACH = {"each": ["*"]}
RUN = ["enqueue", "deliver", "start"]
CASES: dict[str, tuple[list[Any], list[str]]] = {
    "echoes": (["a"], [*RUN, "done"]),
    "fails": (["a"], [*RUN, "fail failed"]),
    "retries": (["a"], [*RUN, "retry", *RUN, "done"]),
    "ignores": (["a"], [*RUN, "skip"]),
    "rejects": (["a"], [*RUN, "discard rejected", "fail rejected"]),
    "requeues_once": (["a"], [*RUN, "retry requeued", "deliver", "start", "done"]),
    "swallows": (["a"], [*RUN, "retry swallowed"]),
    "swallows_by_lock": (["a"], [*RUN, "retry swallowed"]),
    "replaces": (["a"], [*RUN, "retry replaced", *RUN, "done"]),
    "naps_too_long": ([30], [*RUN, "fail time_limit"]),
    "dies": (["a"], [*RUN, "fail worker_lost"]),
    "dies_once": (["a"], [*RUN, "deliver", "start", "done"]),
}


@pytest.fixture(scope="module")
def redis_alone() -> Iterator[Redis]:
    """Give a Redis that no other module's worker reads."""
    with closing(Redis()) as server:
        yield server.start()


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory, redis_alone: Redis) -> Shop:
    """Give a shop whose worker has run each special task, or tried to."""
    made = Shop(tmp_path_factory.mktemp("faults"), redis_alone.url, EACH)
    ids = made.call(*((name, args, {}) for name, (args, _) in CASES.items()))
    made.ids = dict(zip(CASES, ids, strict=True))
    expected = sum(len(words) for _, words in CASES.values())

    def is_over(receipts: list[dict[str, Any]]) -> bool:
        return len([r for r in receipts if r.get("job", {}).get("id") in ids]) >= expected

    with made.worker("-c", "2"):
        made.await_receipts(is_over)
        made.await_empty_queue()
    return made


@pytest.fixture(scope="module")
def told(shop: Shop) -> dict[str, list[Any]]:
    """Give the receipts of each special task."""
    alone = [receipt for receipt in shop.receipts(kind="skip") if "id" not in receipt["job"]]
    found = {name: shop.receipts(job_id=one) for name, one in shop.ids.items()}
    return {**found, "skips without a job": alone}


@pytest.fixture(scope="module")
def ledger(shop: Shop, told: dict[str, list[Any]], counterfoil: Counterfoil) -> Ledger:
    """Give a ledger that has all of it."""
    total = len(shop.receipts())
    made = Ledger(counterfoil, "faults")
    shop.send(made.url, made.token)
    made.counts("kind", "", of=total)
    return made


@pytest.mark.parametrize("name", CASES)
def test_each_end_of_a_task_is_told_as_it_was(name: str, told: dict[str, list[Any]]) -> None:
    words = [f"{r['kind']} {r.get('reason', '')}".strip() for r in told[name]]

    assert sorted(words) == sorted(CASES[name][1])


def test_a_call_that_ran_again_after_its_child_was_killed_was_delivered_twice(
    told: dict[str, list[Any]],
) -> None:
    deliveries = [r["job"] for r in told["dies_once"] if r["kind"] == "deliver"]

    assert [job["redelivered"] for job in deliveries] == [False, True]
    assert {job["attempt"] for job in deliveries} == {1}


def test_a_retry_is_a_further_attempt_of_the_same_job(told: dict[str, list[Any]]) -> None:
    attempts = [
        (r["kind"], r["job"]["attempt"]) for r in told["retries"] if r["kind"] in ("start", "retry")
    ]

    assert attempts == [("start", 1), ("retry", 1), ("start", 2)]


def test_a_retry_that_its_own_lock_swallows_names_itself_as_the_holder(
    told: dict[str, list[Any]],
) -> None:
    (skip,) = told["skips without a job"]

    own = told["swallows_by_lock"][0]["job"]["id"]
    assert skip["original"] == {"job": own}
    assert skip["workflow"] == {"parent": own}


@pytest.mark.parametrize(
    ("name", "deliveries", "executions", "verdict"),
    [
        ("echoes", 1, 1, "done"),
        ("dies_once", 2, 2, "done"),
        ("retries", 2, 2, "done"),
        ("dies", 1, 1, "fail.worker_lost"),
        ("naps_too_long", 1, 1, "fail.time_limit"),
        ("swallows", 1, 1, "retry.swallowed"),
    ],
)
def test_the_ledger_counts_deliveries_and_executions_apart(
    name: str, deliveries: int, executions: int, verdict: str, shop: Shop, ledger: Ledger
) -> None:
    job = ledger.get(f"/jobs/{SOURCE}/{shop.ids[name]}")

    assert (job["deliveries"], job["executions"]) == (deliveries, executions)
    assert job["verdict"]["code"] == verdict


def test_what_cannot_be_run_is_told_as_discarded(tmp_path: Path, redis_alone: Redis) -> None:
    shop = Shop(tmp_path, redis_alone.url, EACH)
    (unknown,) = shop.app("print(app.send_task('shop.nowhere').id)").split()
    (broken,) = shop.call(("echoes", ["a"], {}))
    message = json.loads(shop.store.lpop("celery"))
    shop.store.lpush(
        "celery", json.dumps({**message, "body": "bm90IEpTT04=", "headers": message["headers"]})
    )

    with shop.worker("-c", "1"):
        shop.await_receipts(lambda found: len([r for r in found if r["kind"] == "discard"]) == 2)

    reasons = {
        r["job"]["id"]: (r["job"]["task"], r["reason"]) for r in shop.receipts(kind="discard")
    }
    assert reasons == {
        unknown: ("shop.nowhere", "unknown_task"),
        broken: ("shop.special.echoes", "undecodable"),
    }


def test_a_revoke_is_told_when_it_is_asked_and_when_it_takes_effect(
    tmp_path: Path, redis_alone: Redis
) -> None:
    shop = Shop(tmp_path, redis_alone.url, EACH)
    revoke = "app.control.revoke(sys.argv[1:-1], terminate=sys.argv[-1] == 'yes')"
    with shop.worker("-c", "1"):
        (running,) = shop.call(("naps", [60], {}))
        shop.await_events(1)
        (waiting,) = shop.call(("naps", [60], {}))
        shop.await_receipts(lambda found: len([r for r in found if r["kind"] == "deliver"]) == 2)
        shop.app(revoke, waiting, "no")
        shop.app(revoke, running, "yes")
        shop.await_receipts(
            lambda found: len([r for r in found if r.get("reason") == "effected"]) == 2
        )

    asked = shop.receipts(kind="revoke", reason="asked")
    effected = {r["job"]["id"]: r for r in shop.receipts(kind="revoke", reason="effected")}
    assert [r["job"] for r in asked] == [{"id": waiting}, {"id": running}]
    assert [r["data"]["terminate"] for r in asked] == [False, True]
    assert effected[waiting]["revoked"] == {"terminated": False, "signum": None}
    assert effected[running]["revoked"]["terminated"] is True
    assert effected[running]["job"]["task"] == "shop.special.naps"
    assert [r["kind"] for r in shop.receipts(job_id=waiting)].count("start") == 0


def test_an_expired_call_is_a_skip_by_its_own_rule(tmp_path: Path, redis_alone: Redis) -> None:
    shop = Shop(tmp_path, redis_alone.url, EACH)
    (late,) = shop.call(("echoes", ["a"], {"expires": 0.01}))

    with shop.worker("-c", "1"):
        shop.await_receipts(lambda found: any(r["kind"] == "skip" for r in found))

    (skip,) = shop.receipts(kind="skip")
    assert (skip["reason"], skip["rule"]) == ("expired", {"name": "celery.expires"})
    assert skip["job"]["id"] == late and skip["job"]["attempt"] == 1
    assert [r["kind"] for r in shop.receipts(job_id=late)] == ["enqueue", "skip"]


def test_a_message_that_outlasts_the_visibility_timeout_is_delivered_and_run_twice(
    tmp_path: Path, redis_alone: Redis
) -> None:
    shop = Shop(tmp_path, redis_alone.url, {"tally": ["*"]}, SHOP_VISIBILITY_S="4")
    (slow,) = shop.call(("naps_first", ["a", 7], {}))

    with shop.worker("-c", "2"):
        shop.await_events(2)
        shop.await_receipts(lambda found: any(r["kind"] == "done" for r in found))

    # Even where outcomes are tallied, what was delivered before is kept singly.
    again = [(r["kind"], r["job"]["attempt"]) for r in shop.receipts(job_id=slow)]
    assert again == [("deliver", 1), ("start", 1), ("done", 1)]
    assert shop.receipts(kind="deliver")[0]["job"]["redelivered"] is True


def test_a_worker_that_is_killed_leaves_a_start_and_the_next_one_a_second(
    tmp_path: Path, redis_alone: Redis
) -> None:
    shop = Shop(tmp_path, redis_alone.url, EACH, SHOP_VISIBILITY_S="2")
    (slow,) = shop.call(("naps_first", ["a", 60], {}))

    with shop.worker("-c", "1", "-n", "first@here") as first:
        shop.await_events(1)
        children = list_children(first)
        for pid in (first.pid, *children):
            os.kill(pid, signal.SIGKILL)
        first.wait()
    with shop.worker("-c", "1", "-n", "second@here"):
        shop.await_events(1)
        shop.await_receipts(lambda found: any(r["kind"] == "done" for r in found))

    told = [
        (r["kind"], r["data"].get("worker", "").partition("@")[0], r["job"].get("redelivered"))
        for r in shop.receipts(job_id=slow)
    ]
    assert told == [
        ("enqueue", "", None),
        ("deliver", "first", False),
        ("start", "first", None),
        ("deliver", "second", True),
        ("start", "second", None),
        ("done", "second", None),
    ]
