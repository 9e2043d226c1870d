"""A whole shop, its tasks unedited, on a real Redis: what was done is what is recorded."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.celery_shop import project
from tests.celery_shop.ledger import Ledger
from tests.celery_shop.rig import SOURCE, Shop
from tests.running import Counterfoil
from tests.servers import Redis

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

EACH = {"each": ["*"]}


def work_off(shop: Shop, *options: str, pool: str = "prefork", every: int = 1) -> dict[str, int]:
    """Publish each kind of task, run all of it, and return what the publisher counted."""
    counted = shop.publish(every)
    with shop.worker(*(options or ("-c", "2")), pool=pool):
        shop.await_events(counted["published"])
        shop.await_empty_queue()
    return counted


def expect_all(kinds: Counter[str], shop: Shop, counted: dict[str, int]) -> None:
    """Hold counts of receipts to the counts that the shop made by itself."""
    ran = shop.ran() + shop.turned_away()
    skipped = counted["once"] + counted["singleton"] + shop.turned_away()
    assert ran == counted["published"]
    assert [kinds[kind] for kind in ("enqueue", "deliver", "start", "done")] == [ran] * 4
    assert kinds["skip"] == skipped
    assert not set(kinds) - {"enqueue", "deliver", "start", "done", "skip", "observe"}


def kinds_of(shop: Shop) -> Counter[str]:
    return Counter(receipt["kind"] for receipt in shop.receipts())


def test_every_publish_delivery_attempt_outcome_and_skip_of_a_shop_reaches_the_ledger(
    tmp_path: Path, redis_server: Redis, counterfoil: Counterfoil
) -> None:
    ledger, shop = Ledger(counterfoil, "each"), Shop(tmp_path, redis_server.url, EACH)

    counted = work_off(shop)
    written = kinds_of(shop)
    shop.send(ledger.url, ledger.token)

    assert (counted["once"], counted["singleton"]) == (project.ONCE, project.SINGLETON)
    assert shop.turned_away() == project.GUARDED
    expect_all(written, shop, counted)
    total = written.total()
    expect_all(ledger.counts("kind", f"source:{SOURCE}", of=total), shop, counted)
    skips = ledger.counts("task", "kind:skip reason:in_flight", of=written["skip"])
    assert len(skips) == project.ONCE + project.SINGLETON + project.GUARDED
    assert set(skips.values()) == {1}
    expect_sights(ledger)
    pointers = Counter(
        (item["task"].split(".")[-1].split("_")[0], item["pointer"]["state"])
        for item in ledger.receipts("kind:skip")
    )
    assert pointers == {
        ("once", "resolved-by-key"): project.ONCE,
        ("singleton", "resolved"): project.SINGLETON,
        ("guarded", "resolved"): project.GUARDED,
    }


def expect_sights(ledger: Ledger) -> None:
    """Hold what the ledger says it can see of each kind of task to how the tasks were made."""
    found = {
        task["task"].split(".")[-1].split("_")[0]: task for task in ledger.get("/tasks")["items"]
    }
    assert {kind: set(found[kind]["ways"]["skips"]) - {"signals"} for kind in found} == {
        "plain": set(),
        "once": {"once"},
        "singleton": {"singleton"},
        "guarded": {"own calls"},
    }
    assert all((task["deliveries"], task["executions"]) >= (1, 1) for task in found.values())


@pytest.mark.parametrize("pool", ["threads", "solo", "gevent"])
def test_the_other_pools_record_the_same(pool: str, tmp_path: Path, redis_server: Redis) -> None:
    shop = Shop(tmp_path, redis_server.url, EACH)

    counted = work_off(shop, "-c", "4", pool=pool, every=4)

    expect_all(kinds_of(shop), shop, counted)


def test_a_worker_alone_takes_the_line_as_an_option(tmp_path: Path, redis_server: Redis) -> None:
    shop = Shop(tmp_path, redis_server.url, EACH)
    app = tmp_path / "shop" / "app.py"
    app.write_text(app.read_text().replace("import counterfoil.contrib.celery\n", ""))
    published = shop.publish(every=40)["published"]

    with shop.worker("-c", "2", "-I", "counterfoil.contrib.celery"):
        shop.await_events(published)
        shop.await_empty_queue()

    kinds = kinds_of(shop)
    assert [kinds[kind] for kind in ("deliver", "start", "done")] == [published] * 3
    assert kinds["enqueue"] == 0, "the publishing process does not have the line"


def test_switched_off_a_shop_runs_and_leaves_no_trace(tmp_path: Path, redis_server: Redis) -> None:
    shop = Shop(tmp_path, redis_server.url, EACH, COUNTERFOIL_OFF="1")

    work_off(shop, every=40)

    assert not shop.spool.exists()


def test_children_that_end_after_each_task_lose_nothing(
    tmp_path: Path, redis_server: Redis
) -> None:
    shop = Shop(tmp_path, redis_server.url, EACH, SHOP_TASKS_PER_CHILD="1")

    counted = work_off(shop, every=8)

    expect_all(kinds_of(shop), shop, counted)
    told = Counter(receipt.get("what", "") for receipt in shop.receipts(kind="observe"))
    assert told == {"policy": 2, "tasks": 2}, "once by the publisher, once by the worker"


def test_the_ordinary_outcomes_of_a_tallying_shop_are_all_counted(
    tmp_path: Path, redis_server: Redis, counterfoil: Counterfoil
) -> None:
    ledger = Ledger(counterfoil, "tally")
    shop = Shop(tmp_path, redis_server.url, {"tally": ["*"]}, SHOP_TASKS_PER_CHILD="50")

    counted = work_off(shop)
    shop.send(ledger.url, ledger.token)

    jobs = ledger.await_answer(
        lambda: ledger.tallied_jobs(), lambda found: len(found) >= counted["published"]
    )
    assert len(jobs) == len({row[1] for row in jobs}) == counted["published"]
    assert {row[2] for row in jobs} == {"done"}
    assert Counter(row[0] for row in jobs) == Counter(shop.ran_by_task())
    tasks = ledger.get("/tasks")["items"]
    assert sum(task["tallied"]["done"] for task in tasks) == counted["published"]
    # Skips point at these, so they are kept singly.
    locked, guarded = project.ONCE + project.SINGLETON, project.GUARDED
    kinds = ledger.counts("kind", f"source:{SOURCE}", of=2 * locked + guarded)
    assert (kinds["enqueue"], kinds["skip"]) == (locked, locked + guarded)
    assert kinds["done"] == kinds["start"] == kinds["deliver"] == 0
