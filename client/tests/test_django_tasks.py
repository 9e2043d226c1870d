"""Django's tasks on real backends: at once, and by a worker on a database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import spooled

pytest.importorskip("django_tasks")
pytestmark = pytest.mark.slow

CARD = "4111111111111111"
IMMEDIATE = "django_tasks.backends.immediate.ImmediateBackend"
DATABASE = "django_tasks_db.DatabaseBackend"
EACH = {"each": ["*"], "subjects": {"*.pay": {"payout": "payout"}}}

SETTINGS = """
SECRET_KEY = "for a test alone"
INSTALLED_APPS = ["django_tasks", "django_tasks_db", "shop", "counterfoil.contrib.django_tasks"]
DATABASES = {{"default": {{"ENGINE": "django.db.backends.sqlite3", "NAME": {name!r}}}}}
TASKS = {{"default": {{"BACKEND": {backend!r}, "QUEUES": []}}}}
USE_TZ = True
"""
TASKS = """
import counterfoil
from django_tasks import task


@task()
def pay(payout, card=""):
    return card


@task()
def refuse(card):
    raise ValueError(f"card {card} refused")


@task()
def guarded():
    counterfoil.skip(reason="in_flight", holder="another-job")


@task()
def outer():
    pay.enqueue("PO-2")
    counterfoil.skip(reason="paused", rule={"name": "switch"})


@task(queue_name="slow")
async def later(payout):
    counterfoil.skip(reason="paused", rule={"name": "switch"})
"""
ENQUEUE = """
import json, sys, django
django.setup()
from shop import tasks
for name, args, kwargs in json.loads(sys.argv[1]):
    print(getattr(tasks, name).enqueue(*args, **kwargs).id)
"""


class Shop:
    """A Django project in a folder of its own, which records what its tasks do."""

    def __init__(self, folder: Path, backend: str, policy: dict[str, Any]) -> None:
        self.folder, self.spool = folder, folder / "spool"
        (folder / "shop").mkdir()
        (folder / "shop" / "__init__.py").touch()
        (folder / "shop" / "tasks.py").write_text(TASKS)
        name = str(folder / "shop.sqlite3")
        (folder / "shop_settings.py").write_text(SETTINGS.format(name=name, backend=backend))
        source = Path(spooled.counterfoil.__file__).parents[1]
        kept = {n: v for n, v in os.environ.items() if not n.startswith("COUNTERFOIL_")}
        self.environment = {
            **kept,
            "PYTHONPATH": os.pathsep.join([str(folder), str(source)]),
            "DJANGO_SETTINGS_MODULE": "shop_settings",
            "COUNTERFOIL_SPOOL": str(self.spool),
            "COUNTERFOIL_SOURCE": "django/prod-1",
            "COUNTERFOIL_POLICY": str(spooled.policy_file(folder, **policy)),
            "COUNTERFOIL_DIGEST_KEY": "a key that the producers share",
        }

    def enqueue(self, *calls: Any) -> list[str]:
        given = [call if len(call) == 3 else (*call, {}) for call in calls]
        return self.run("-c", ENQUEUE, json.dumps(given)).split()

    def run(self, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def kinds(self, job: str) -> list[str]:
        return [r["kind"] for r in spooled.receipts(self.spool, job_id=job)]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path, IMMEDIATE, EACH)


def test_a_task_is_recorded_from_enqueue_to_its_end(shop: Shop) -> None:
    [job] = shop.enqueue(("pay", ["PO-1"], {"card": CARD}))

    assert shop.kinds(job) == ["enqueue", "start", "done"]
    [done] = spooled.receipts(shop.spool, kind="done")
    assert done["source"] == {"system": "django", "instance": "prod-1", "via": "signal"}
    assert done["job"] == {"task": "shop.tasks.pay", "queue": "default", "id": job, "attempt": 1}
    assert done["subjects"] == [{"type": "payout", "id": "PO-1"}]
    assert done["took_ms"] >= 0 and done["data"]["backend"] == "default"
    assert CARD not in spooled.text_of(shop.spool)


def test_a_failure_is_told_by_the_type_of_its_error_and_not_its_text(shop: Shop) -> None:
    [job] = shop.enqueue(("refuse", [CARD]))

    [fail] = spooled.receipts(shop.spool, kind="fail", job_id=job)
    assert fail["reason"] == "failed"
    assert fail["error"]["type"] == "builtins.ValueError"
    assert set(fail["error"]) == {"type", "size", "digest"}
    assert CARD not in spooled.text_of(shop.spool)


def test_a_guard_names_the_task_that_it_runs_in_also_around_another(shop: Shop) -> None:
    guarded, outer = shop.enqueue(("guarded", []), ("outer", []))

    first, second = spooled.receipts(shop.spool, kind="skip")
    assert (first["job"]["id"], first["original"]) == (guarded, {"job": "another-job"})
    assert second["job"]["id"] == outer
    [inner] = spooled.receipts(shop.spool, kind="start", job_task="shop.tasks.pay")
    assert inner["job"]["id"] not in (guarded, outer)


def test_a_worker_on_a_database_tells_of_what_another_process_enqueued(tmp_path: Path) -> None:
    shop = Shop(tmp_path, DATABASE, EACH)
    shop.run("-m", "django", "migrate", "-v", "0")
    pay, refuse, later = shop.enqueue(("pay", ["PO-1"]), ("refuse", [CARD]), ("later", ["PO-3"]))
    assert [shop.kinds(job) for job in (pay, refuse, later)] == [["enqueue"]] * 3

    shop.run("-m", "django", "db_worker", "--batch", "--no-startup-delay", "--queue-name", "*")

    assert shop.kinds(pay) == ["enqueue", "start", "done"]
    assert shop.kinds(refuse) == ["enqueue", "start", "fail"]
    assert shop.kinds(later) == ["enqueue", "start", "skip", "done"]
    [fail] = spooled.receipts(shop.spool, kind="fail")
    assert fail["error"]["type"] == "builtins.ValueError" and "digest" in fail["error"]
    assert fail["data"]["worker"]
    assert CARD not in spooled.text_of(shop.spool)


def test_ordinary_tasks_are_tallied_and_failures_are_not(tmp_path: Path) -> None:
    shop = Shop(tmp_path, IMMEDIATE, {"tally": ["*"]})

    shop.enqueue(("pay", ["PO-1"]), ("refuse", [CARD]))

    assert [r["kind"] for r in spooled.receipts(shop.spool)] == ["observe", "fail"]
    assert "shop.tasks.pay" in spooled.text_of(shop.spool)


def test_trouble_in_recording_fails_no_task(shop: Shop) -> None:
    shop.spool.write_text("a file in the place of the folder")

    [job] = shop.enqueue(("pay", ["PO-1"]))

    assert job


def test_off_leaves_no_trace(shop: Shop) -> None:
    shop.environment["COUNTERFOIL_OFF"] = "1"

    shop.enqueue(("pay", ["PO-1"]))

    assert not shop.spool.exists()
