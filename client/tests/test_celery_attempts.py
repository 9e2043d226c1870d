from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest

pytest.importorskip("celery_once")
pytest.importorskip("celery_singleton")

import celeryshop as shop
from celery import signals
from celery.exceptions import Ignore, Reject, Retry

import counterfoil
from counterfoil.contrib import rim as shared_rim
from counterfoil.contrib.celery import rim, running
from counterfoil.contrib.celery.lines import line_of
from counterfoil.contrib.celery.messages import Call
from counterfoil.contrib.celery.writing import Writer, made_id, writer

Configure = Callable[..., None]


@pytest.fixture
def configure(spool: Path, tmp_path: Path) -> Iterator[Configure]:
    shop.held.clear()
    shared_rim._said.clear()

    def set_up(policy: str = '{"each": ["*"]}', **settings: Any) -> None:
        file = tmp_path / "policy.json"
        file.write_text(policy)
        given = {"digest_key": b"key", "source": "celery/shop", **settings}
        counterfoil.configure(spool=spool, policy=file, **given)

    yield set_up
    counterfoil.configure(spool=spool, off=True)


def words(spool: Path) -> list[str]:
    told = [r for r in shop.receipts(spool) if r["kind"] != "observe"]
    return [f"{r['kind']} {r.get('reason', '')}".strip() for r in told]


def test_an_attempt_is_a_start_and_an_end(configure: Configure, spool: Path) -> None:
    configure()

    call = shop.run(shop.plain, retries=1)

    start, done = (r for r in shop.receipts(spool) if r["kind"] != "observe")
    assert start["job"] == {"task": "plain", "id": call, "attempt": 2, "queue": "orders"}
    assert start["source"] == {"system": "celery", "instance": "shop", "via": "signal"}
    assert start["data"] == {"event": "task_prerun", "worker": "celery@here"}
    assert (done["kind"], done["data"]["event"]) == ("done", "task_success")
    assert done["took_ms"] >= 0


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ValueError("4111"), ["start", "fail failed"]),
        (running.SoftTimeLimitExceeded(), ["start", "fail time_limit"]),
        (Ignore(), ["skip", "start"]),
        (Reject("no", requeue=False), ["start", "discard rejected"]),
        (Reject("no", requeue=True), ["start", "retry requeued"]),
        (Retry("later"), ["retry swallowed", "start"]),
    ],
)
def test_what_a_task_raises_is_told_by_its_kind(
    raised: BaseException, expected: list[str], configure: Configure, spool: Path
) -> None:
    configure()

    shop.run(shop.raises, raised)

    # Durable ones lie in a file of their own, which comes first.
    assert words(spool) == expected


@pytest.mark.parametrize(
    ("policy", "redelivered", "expected"),
    [
        ("each", False, ["start", "done"]),
        ("tally", False, []),
        ("tally", True, ["start", "done"]),
        ("never", False, []),
        ("never", True, []),
    ],
)
def test_a_policy_chooses_for_ordinary_outcomes_unless_the_call_came_before(
    policy: str, redelivered: bool, expected: list[str], configure: Configure, spool: Path
) -> None:
    configure(f'{{"{policy}": ["*"]}}')

    shop.run(shop.plain, redelivered=redelivered)

    assert words(spool) == expected


@pytest.mark.parametrize("policy", ["tally", "never"])
def test_a_failure_is_kept_singly_whatever_the_policy_says(
    policy: str, configure: Configure, spool: Path
) -> None:
    configure(f'{{"{policy}": ["*"]}}')

    shop.run(shop.fails, "4111111111111111")

    (fail,) = shop.receipts(spool, kind="fail")
    assert fail["error"]["type"] == "builtins.ValueError"
    assert set(fail["error"]) == {"type", "size", "digest"}


def test_a_result_is_told_by_size_and_digest_alone(configure: Configure, spool: Path) -> None:
    configure()

    shop.run(shop.plain, "4111111111111111")

    (done,) = shop.receipts(spool, kind="done")
    assert set(done["data"]["result"]) == {"size", "digest"}


def test_subjects_that_a_policy_names_are_told_of_each_fact(
    configure: Configure, spool: Path
) -> None:
    configure('{"each": ["*"], "subjects": {"plain": {"order": "kwargs.order"}}}')

    shop.run(shop.plain, "PO-1")

    told = [r["subjects"] for r in shop.receipts(spool) if r["kind"] in ("start", "done")]
    assert told == [[{"type": "order", "id": "PO-1"}]] * 2


def test_a_guard_of_a_tasks_own_names_the_running_job_by_itself(
    configure: Configure, spool: Path
) -> None:
    configure()
    holder = "2c4f4d0e-7a39-4f0e-9f0a-0d6b6a8d4f11"

    call = shop.run(shop.guarded, holder)

    (skip,) = shop.receipts(spool, kind="skip")
    assert skip["job"] == {"task": "guarded", "id": call, "attempt": 1, "queue": "orders"}
    assert skip["original"] == {"job": holder}
    assert skip["source"] == {"system": "celery", "instance": "shop", "via": "client"}
    assert counterfoil.context.current() is None


def test_trouble_of_ours_is_logged_once_without_its_text_and_never_reaches_the_task(
    configure: Configure,
    spool: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    configure()

    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("4111111111111111")

    monkeypatch.setattr(Writer, "write_plain", broken)
    with caplog.at_level(logging.WARNING, "counterfoil"):
        calls = [shop.run(shop.plain) for _ in range(3)]

    said = [record.getMessage() for record in caplog.records if record.name == "counterfoil"]
    assert len(calls) == 3
    assert len(said) == 2, "once for task_prerun, once for task_success"
    assert "builtins.RuntimeError" in said[0] and "4111" not in "".join(said)


def test_a_soft_time_limit_in_a_block_of_ours_stays_the_tasks_own() -> None:
    with pytest.raises(running.SoftTimeLimitExceeded), rim.contained("a skip"):
        raise running.SoftTimeLimitExceeded()


def test_settings_that_are_wrong_stop_no_task(
    configure: Configure, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    configure()
    with monkeypatch.context() as patched, caplog.at_level(logging.WARNING, "counterfoil"):
        patched.setattr(counterfoil, "_default", None)
        patched.setenv("COUNTERFOIL_SPOOL_MAX", "plenty")
        shop.run(shop.plain)

    assert any("COUNTERFOIL_SPOOL_MAX" in record.getMessage() for record in caplog.records)


def test_the_quick_line_says_what_the_slow_one_would(configure: Configure, spool: Path) -> None:
    configure()
    call = Call('t"\\é', "i\n\ud800", 2, "q")
    writes = writer()

    writes.write_plain("start", "task_prerun", call, "w@ü", job=',"redelivered":true')
    job = {**call.job(), "redelivered": True}
    writes.write("start", "task_prerun", {"job": job}, {"worker": "w@ü"}, name=("other",))

    quick, slow = shop.receipts(spool, kind="start")
    assert {**quick, "id": 0, "occurred_at": 0} == {**slow, "id": 0, "occurred_at": 0}
    assert list(quick) == list(slow)


def test_an_id_follows_from_its_parts() -> None:
    assert made_id("a", "b") == made_id("a", "b") != made_id("a", "c")
    assert counterfoil.ids.is_uuid(made_id("a", "b")) and made_id("a")[14] == "5"


def test_a_line_is_ascii_with_one_newline() -> None:
    line = line_of(
        receipt_id="i", kind="done", when="t", job="{}", more="", source="{}", data='"event":"e"'
    )

    assert line.isascii() and line.endswith(b"}\n") and line.count(b"\n") == 1


def test_connecting_again_connects_nothing_twice() -> None:
    from counterfoil.contrib.celery import connecting

    before = len(signals.task_prerun.receivers)
    connecting.connect()

    assert len(signals.task_prerun.receivers) == before
