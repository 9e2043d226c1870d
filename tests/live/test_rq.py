"""Jobs of a real RQ on a real Redis: what its processes did is what was recorded."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import spooled
from fakeledger import FakeLedger

from tests.rq_shop.rig import Shop
from tests.servers import PATIENCE, Redis

pytestmark = pytest.mark.slow

CARD = "4111111111111111"
EACH = {"each": ["*"], "subjects": {"*.pay": {"payout": "args.0"}}}
JOBS = "tests.rq_shop.jobs"


@pytest.fixture
def shop(tmp_path: Path, redis_server: Redis) -> Shop:
    return Shop(tmp_path, redis_server.url, EACH)


def kinds(shop: Shop, **wanted: Any) -> list[str]:
    return [r["kind"] for r in spooled.receipts(shop.spool, **wanted) if "job" in r]


def only(shop: Shop, **wanted: Any) -> dict[str, Any]:
    [found] = spooled.receipts(shop.spool, **wanted)
    return found


@pytest.mark.parametrize("worker", ["Worker", "SimpleWorker"])
def test_a_job_is_recorded_from_enqueue_to_its_end(shop: Shop, worker: str) -> None:
    job = shop.publish("pay", "PO-1", CARD)

    shop.work(worker)

    assert kinds(shop, job_id=job) == ["enqueue", "start", "done"]
    done = only(shop, kind="done")
    assert done["job"] == {"task": f"{JOBS}.pay", "id": job, "queue": "default"}
    assert done["source"] == {"system": "rq", "instance": "shop", "via": "signal"}
    assert done["took_ms"] >= 0 and done["data"]["worker"]
    enqueue = only(shop, kind="enqueue")
    assert len(enqueue["data"]["arguments"]["args"]) == 2
    assert enqueue["data"]["state"] == "queued"


@pytest.mark.parametrize("worker", ["Worker", "SimpleWorker"])
def test_a_failure_is_told_by_its_type_and_no_card_number_leaves(shop: Shop, worker: str) -> None:
    job = shop.publish("refuse", CARD)

    shop.work(worker)

    fail = only(shop, kind="fail", job_id=job)
    assert (fail["reason"], fail["error"]["type"]) == ("failed", "builtins.ValueError")
    assert CARD not in spooled.text_of(shop.spool)


def test_a_job_that_is_tried_again_is_a_retry_and_then_done(shop: Shop, tmp_path: Path) -> None:
    job = shop.publish("fail_once", str(tmp_path), retry={"max": 2})

    shop.work()

    assert kinds(shop, job_id=job) == ["enqueue", "start", "retry", "start", "done"]
    assert only(shop, kind="retry")["error"]["type"] == "builtins.RuntimeError"


def test_a_job_that_asks_to_be_tried_again_too_often_fails(shop: Shop) -> None:
    job = shop.publish("again")

    shop.work()

    assert kinds(shop, job_id=job) == ["enqueue", "start", "retry", "start", "fail"]
    assert only(shop, kind="fail")["data"]["retries"] == "exhausted"


def test_a_killed_work_horse_is_told_by_the_worker(shop: Shop) -> None:
    job = shop.publish("die")

    shop.work()

    fail = only(shop, kind="fail", job_id=job)
    assert (fail["reason"], fail["data"]["signum"]) == ("worker_lost", "SIGKILL")
    assert "took_ms" not in fail


def test_a_job_over_its_time_failed_by_its_limit(shop: Shop) -> None:
    job = shop.publish("sleep", 30, job_timeout=1)

    shop.work()

    assert only(shop, kind="fail", job_id=job)["reason"] == "time_limit"


def test_a_guard_inside_a_job_names_the_job_by_itself(shop: Shop) -> None:
    job = shop.publish("guarded")

    shop.work()

    skip = only(shop, kind="skip")
    assert skip["job"] == {"task": f"{JOBS}.guarded", "id": job, "queue": "default"}
    assert skip["original"] == {"job": "another-job"}
    assert skip["source"]["system"] == "rq"


ABANDONED = """
import sys, redis
from counterfoil.contrib.rq import Queue
queue = Queue(connection=redis.Redis.from_url(sys.argv[1]))
job = queue.enqueue("tests.rq_shop.jobs.pay", "PO-1", job_id="left")
queue.remove(job)
job.set_status("started")
queue.connection.zadd(queue.started_job_registry.key, {"left:a-run": 1})
"""


def test_a_job_whose_worker_is_gone_is_told_by_the_one_that_cleans_up(shop: Shop) -> None:
    shop.run("-c", ABANDONED, shop.url)

    shop.work()

    assert only(shop, kind="fail", job_id="left")["reason"] == "worker_lost"


STOPPED = """
import sys, redis
from rq.command import send_stop_job_command
send_stop_job_command(redis.Redis.from_url(sys.argv[1]), sys.argv[2])
"""


def test_a_job_that_is_stopped_is_revoked_and_has_not_failed(shop: Shop) -> None:
    job = shop.publish("sleep", 60)
    with ThreadPoolExecutor() as pool:
        working = pool.submit(shop.work)
        assert shop.store.blpop(["begun"], timeout=PATIENCE)
        shop.run("-c", STOPPED, shop.url, job)
        working.result()

    assert kinds(shop, job_id=job) == ["enqueue", "start", "revoke"]
    revoke = only(shop, kind="revoke")
    assert revoke["reason"] == "effected" and revoke["revoked"]["terminated"] is True


REFUSED = """
import sys, redis
from rq.exceptions import DuplicateJobError
from counterfoil.contrib.rq import Queue
queue = Queue(connection=redis.Redis.from_url(sys.argv[1]))
for again in (False, True):
    try:
        queue.enqueue("tests.rq_shop.jobs.pay", "PO-1", job_id="pay-1", unique=True)
    except DuplicateJobError:
        print("refused")
"""


def test_an_enqueue_that_is_not_unique_is_a_skip_of_the_job_that_is_there(shop: Shop) -> None:
    assert shop.run("-c", REFUSED, shop.url) == "refused\n"
    shop.work()
    assert shop.run("-c", REFUSED, shop.url) == "refused\nrefused\n"

    first, second, third = spooled.receipts(shop.spool, kind="skip")
    assert first["reason"] == "in_flight"
    assert second["reason"] == third["reason"] == "already_done"
    for skip in (first, second, third):
        assert skip["original"] == {"job": "pay-1"}
        assert skip["job"] == {"task": f"{JOBS}.pay", "queue": "default"}
    assert kinds(shop, job_id="pay-1") == ["enqueue", "start", "done"]


CANCELLED = """
import datetime, sys, redis
from counterfoil.contrib.rq import Queue
queue = Queue(connection=redis.Redis.from_url(sys.argv[1]))
queue.enqueue_in(datetime.timedelta(days=1), "tests.rq_shop.jobs.pay", "PO-1", job_id="later")
queue.fetch_job("later").cancel()
data = Queue.prepare_data("tests.rq_shop.jobs.pay", ["PO-2"], job_id="many")
queue.enqueue_many([data])
"""


def test_scheduled_cancelled_and_batched_jobs_are_told(shop: Shop) -> None:
    shop.run("-c", CANCELLED, shop.url)

    assert kinds(shop, job_id="later") == ["enqueue", "cancel"]
    assert kinds(shop, job_id="many") == ["enqueue"]
    later, many = spooled.receipts(shop.spool, kind="enqueue")
    assert (later["data"]["state"], many["data"]["state"]) == ("scheduled", "queued")
    assert many["subjects"] == [{"type": "payout", "id": "PO-2"}]


def test_ordinary_jobs_are_tallied_and_their_work_horses_leave_no_spool(
    tmp_path: Path, redis_server: Redis
) -> None:
    shop = Shop(tmp_path, redis_server.url, {"tally": ["*"]})
    for number in range(5):
        shop.publish("pay", f"PO-{number}")
    shop.publish("refuse", CARD)

    shop.work()

    assert Counter(kinds(shop)) == Counter(fail=1)
    policies = [r for r in spooled.receipts(shop.spool) if r.get("what") == "policy"]
    # Six processes that published, and the worker; no work horse tells it again.
    assert [policy["tally"] for policy in policies] == [["*"]] * 7
    left = spooled.text_of(shop.spool)
    assert left.count(f"{JOBS}.pay") == 5


def test_a_worker_that_sends_while_it_forks_loses_and_doubles_nothing(shop: Shop) -> None:
    ledger, count = FakeLedger(), 60
    shop.environment.update(COUNTERFOIL_URL=ledger.url, COUNTERFOIL_TOKEN=ledger.token)
    shop.run("-c", MANY, shop.url, str(count))

    shop.work()
    shop.run("-m", "counterfoil", "spool", "flush")

    told = {kind: [r["job"]["id"] for r in ledger.of_kind(kind)] for kind in ("start", "done")}
    assert sorted(told["start"]) == sorted(told["done"]) == [f"{n:02}" for n in range(count)]
    assert ledger.conflicts == []
    ledger.close()


MANY = """
import sys, redis
from rq import Queue
queue = Queue(connection=redis.Redis.from_url(sys.argv[1]))
numbers = range(int(sys.argv[2]))
make = lambda n: Queue.prepare_data("tests.rq_shop.jobs.pay", [str(n)], job_id=f"{n:02}")
queue.enqueue_many([make(n) for n in numbers])
"""


def test_off_leaves_no_trace(shop: Shop) -> None:
    shop.environment["COUNTERFOIL_OFF"] = "1"
    shop.publish("pay", "PO-1")

    assert "Job OK" in shop.work()

    assert not shop.spool.exists()


def test_a_spool_that_cannot_be_written_stops_no_job(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "spool").write_text("a file in the place of the folder")
    shop.publish("pay", "PO-1")

    assert "Job OK" in shop.work()
