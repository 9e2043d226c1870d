from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

pytest.importorskip("celery_once")
pytest.importorskip("celery_singleton")

import celeryshop as shop
from celery.exceptions import Reject, Retry
from kombu import Exchange

import counterfoil
from counterfoil.contrib.celery import messages, publishing, receiving, registry, running, writing

Configure = Callable[..., None]
SOURCE = Path(counterfoil.__file__).parents[1]


@pytest.fixture
def configure(spool: Path, tmp_path: Path) -> Iterator[Configure]:
    def set_up(policy: str = '{"each": ["*"]}', **settings: Any) -> None:
        file = tmp_path / "policy.json"
        file.write_text(policy)
        given = {"digest_key": b"key", "source": "celery/shop", **settings}
        counterfoil.configure(spool=spool, policy=file, **given)

    yield set_up
    counterfoil.configure(spool=spool, off=True)


def run_python(code: str, spool: Path, **environment: str) -> str:
    given = {"PYTHONPATH": str(SOURCE), "COUNTERFOIL_SPOOL": str(spool), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": os.environ["PATH"], **given},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("exchange", "key", "queue"),
    [
        ("", "orders", "orders"),
        (None, "orders", "orders"),
        (Exchange("celery"), "celery", "celery"),
        ("elsewhere", "key.of.some", "key.of.some"),
        ("", None, ""),
    ],
)
def test_the_queue_is_named_as_well_as_it_is_known(exchange: Any, key: Any, queue: str) -> None:
    assert messages.queue_of(exchange, key) == queue


@pytest.mark.parametrize(
    ("told", "workflow"),
    [
        ({"id": "a", "root_id": "a"}, None),
        ({"id": "a", "root_id": "a", "parent_id": "a"}, None),
        ({"id": "b", "root_id": "a", "parent_id": "a"}, {"root": "a", "parent": "a"}),
        ({"id": "a", "root_id": "a", "group": "g"}, {"group": "g"}),
        ({}, None),
    ],
)
def test_only_a_call_that_is_part_of_something_has_a_workflow(told: Any, workflow: Any) -> None:
    assert messages.workflow_of(told) == workflow


@pytest.mark.parametrize(
    ("header", "is_read"),
    [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", True),
        ("00-4bf92f3577b34da6-00f067aa0ba902b7-01", False),
        ("nonsense", False),
        (None, False),
    ],
)
def test_a_trace_is_read_from_the_header_that_carries_it(header: Any, is_read: bool) -> None:
    assert (messages.trace_of({"traceparent": header}) is not None) is is_read


@pytest.mark.parametrize(
    ("exception", "reason"),
    [
        (ValueError(), "failed"),
        (running.WorkerLostError(), "worker_lost"),
        (running.TimeLimitExceeded(1), "time_limit"),
        (running.SoftTimeLimitExceeded(), "time_limit"),
        (Reject("x"), "rejected"),
    ],
)
def test_a_failure_has_one_of_four_reasons(exception: BaseException, reason: str) -> None:
    assert running.reason_of(exception) == reason


def test_a_publish_tells_of_its_arguments_sizes_and_digests(
    configure: Configure, spool: Path
) -> None:
    configure('{"each": ["*"], "clear": {"plain": ["kwargs.order"]}}')

    shop.plain.apply_async(["PO-1"], {"note": "4111111111111111"}, expires=60)

    (enqueue,) = shop.receipts(spool, kind="enqueue")
    arguments = enqueue["data"]["arguments"]
    assert arguments["clear"] == {"kwargs.order": "PO-1"}
    assert set(arguments["kwargs"]["note"]) == {"size", "digest"}
    assert enqueue["data"]["expires"]


def test_a_message_of_protocol_1_is_read_from_its_body(configure: Configure, spool: Path) -> None:
    configure()
    body = {"task": "plain", "id": "a", "args": ["PO-1"], "kwargs": {}, "retries": 2}

    publishing.on_published(sender="plain", body=body, headers={}, exchange="", routing_key="q")

    (enqueue,) = shop.receipts(spool, kind="enqueue")
    assert enqueue["job"] == {"task": "plain", "id": "a", "attempt": 3, "queue": "q"}
    assert len(enqueue["data"]["arguments"]["args"]) == 1


@pytest.mark.parametrize("body", [None, "text", {"task": "plain"}, ()])
def test_a_message_that_is_no_call_is_passed_over(
    body: Any, configure: Configure, spool: Path
) -> None:
    configure()

    publishing.on_published(sender="x", body=body, headers=None, exchange="", routing_key="q")

    assert not shop.receipts(spool, kind="enqueue")


@pytest.mark.parametrize(("policy", "kept"), [("tally", 0), ("never", 0), ("each", 1)])
def test_an_ordinary_publish_is_kept_as_the_policy_says(
    policy: str, kept: int, configure: Configure, spool: Path
) -> None:
    configure(f'{{"{policy}": ["*"]}}')

    shop.plain.delay()

    assert len(shop.receipts(spool, kind="enqueue")) == kept


def test_a_revoke_of_several_is_told_of_each(configure: Configure, spool: Path) -> None:
    configure()

    shop.app.control.revoke(["a", "b"], terminate=True, signal="SIGKILL")
    shop.app.control.terminate("c")

    told = shop.receipts(spool, kind="revoke")
    assert [r["job"] for r in told] == [{"id": "a"}, {"id": "b"}, {"id": "c"}]
    assert {r["reason"] for r in told} == {"asked"}
    assert told[0]["actor"] == {"type": "unknown"}
    assert told[0]["data"] == {"event": "revoke", "terminate": True, "signal": "SIGKILL"}


@pytest.mark.skipif(
    not hasattr(shop.app.control, "revoke_by_stamped_headers"), reason="came with Celery 5.3"
)
def test_a_revoke_by_stamps_tells_their_names_and_not_their_values(
    configure: Configure, spool: Path
) -> None:
    configure()

    shop.app.control.revoke_by_stamped_headers({"customer": ["4111111111111111"]})

    (revoke,) = shop.receipts(spool, kind="revoke")
    assert "job" not in revoke
    assert set(revoke["data"]["stamps"]["customer"]) == {"size", "digest"}


def test_other_commands_to_workers_are_no_revokes(configure: Configure, spool: Path) -> None:
    configure()

    shop.app.control.broadcast("ping")

    assert not shop.receipts(spool, kind="revoke")


def test_a_hard_time_limit_that_is_told_twice_is_one_failure(
    configure: Configure, spool: Path
) -> None:
    configure()
    receiving._failed.clear()

    for _ in range(2):
        running.on_failed(shop.plain, task_id="a", exception=running.TimeLimitExceeded(1))

    (fail,) = shop.receipts(spool, kind="fail")
    assert fail["job"] == {"task": "plain", "id": "a"} and fail["reason"] == "time_limit"


def test_a_retry_by_the_main_process_without_a_reason_is_left_to_the_broker(
    configure: Configure, spool: Path
) -> None:
    configure()
    request = messages.Call("plain", "a")

    running.on_retried(shop.plain, request=request)
    running.on_retried(shop.plain, request=request, reason=Retry(exc=KeyError("x")))

    requeued, again = shop.receipts(spool, kind="retry")
    assert requeued["reason"] == "requeued" and "reason" not in again
    assert again["error"]["type"] == "builtins.KeyError"


def test_celerys_own_failure_around_a_task_is_one_failure(
    configure: Configure, spool: Path
) -> None:
    configure()
    request = {"retries": 1, "delivery_info": {"routing_key": "q"}}

    running.on_internal_error(shop.plain, "a", request=request, exception=OSError("x"))
    running.on_failed(shop.plain, task_id="a", exception=OSError("x"))

    (fail,) = shop.receipts(spool, kind="fail")
    assert fail["job"] == {"task": "plain", "id": "a", "attempt": 2, "queue": "q"}


def test_tasks_are_told_with_what_can_be_seen_of_each(
    configure: Configure, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure()
    monkeypatch.setattr(registry, "_told", frozenset())

    registry.tell(writing.writer())
    registry.tell(writing.writer())

    (told,) = shop.receipts(spool, what="tasks")
    sees = {task["task"]: task["sees"] for task in told["tasks"]}
    assert sees["plain"] == ["signals"]
    assert sees["once"] == ["signals", "once"]
    assert sees["single.silent"] == ["signals", "singleton"]
    assert told["celery"][0] == "5"


def test_many_tasks_are_told_in_several_receipts(
    configure: Configure, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure()
    monkeypatch.setattr(registry, "_told", frozenset())
    monkeypatch.setattr(registry, "MAX_BYTES", 100)

    registry.tell(writing.writer())

    parts = shop.receipts(spool, what="tasks")
    assert [part["part"] for part in parts] == list(range(1, len(parts) + 1)) and len(parts) > 2
    names = [task["task"] for part in parts for task in part["tasks"]]
    assert len(names) == len(set(names)) > 5


@pytest.mark.slow
def test_switched_off_it_connects_nothing_and_leaves_no_trace(tmp_path: Path) -> None:
    code = (
        "import counterfoil.contrib.celery, sys\n"
        "from celery import Celery, signals\n"
        "from celery.app.control import Control\n"
        "app = Celery(broker='memory://')\n"
        "app.send_task('a')\n"
        "print(len(signals.task_prerun.receivers), hasattr(Control.broadcast, 'counterfoil'))\n"
        "print([f for f in sys.meta_path if 'counterfoil' in type(f).__module__])"
    )

    printed = run_python(code, tmp_path / "spool", COUNTERFOIL_OFF="1")

    assert printed.split() == ["0", "False", "[]"]
    assert not (tmp_path / "spool").exists()


@pytest.mark.slow
def test_the_import_brings_neither_django_nor_a_lock_library(tmp_path: Path) -> None:
    code = (
        "import celery.app.control, kombu.serialization, sys\n"
        "before = set(sys.modules)\n"
        "import counterfoil.contrib.celery\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print({'django', 'celery_once', 'celery_singleton'} & new)\n"
        "import celery_once, celery_singleton\n"
        "from counterfoil.contrib.celery import locks\n"
        "print(sorted(locks.classes))"
    )

    printed = run_python(code, tmp_path / "spool")

    assert printed.splitlines() == ["set()", "['once', 'singleton']"]
