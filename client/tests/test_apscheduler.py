"""Runs of a real APScheduler: what was recorded of them."""

from __future__ import annotations

import datetime as dt
import logging
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import spooled

apscheduler = pytest.importorskip("apscheduler")

from apscheduler import events  # noqa: E402
from apscheduler.schedulers.background import BackgroundScheduler  # noqa: E402

from counterfoil.contrib import apscheduler as recording  # noqa: E402
from counterfoil.contrib.apscheduler import MASK  # noqa: E402

PATIENCE = 20
CARD = "4111111111111111"
NOW = dt.timedelta()


def send(payout: str = "", fail: bool = False) -> str:
    if fail:
        raise ValueError(f"card {CARD} refused")
    return CARD


class Desk:
    """A scheduler, what it told of, and the spool that was written meanwhile."""

    def __init__(self, spool: Path) -> None:
        self.spool = spool
        self.scheduler = BackgroundScheduler(timezone="UTC")
        self.told: list[Any] = []
        self._news = threading.Condition()
        recording.record(self.scheduler)
        # Behind the recorder, so that what is told here was recorded.
        self.scheduler.add_listener(self._hear, MASK)

    def _hear(self, event: Any) -> None:
        with self._news:
            self.told.append(event.code)
            self._news.notify_all()

    def add(self, function: Callable[..., Any], **options: Any) -> None:
        late = options.pop("late", NOW)
        due = dt.datetime.now(dt.timezone.utc) - late
        when = {"trigger": "interval"} if "seconds" in options else {"run_date": due}
        self.scheduler.add_job(function, **{"misfire_grace_time": 60, **when, **options})

    def await_told(self, code: int, count: int = 1) -> None:
        with self._news:
            found = self._news.wait_for(lambda: self.told.count(code) >= count, PATIENCE)
        assert found, self.told


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    subjects = {"*.send": {"payout": "kwargs.payout"}}
    return spooled.policy_file(tmp_path, each=["*"], subjects=subjects)


@pytest.fixture
def desk(spool: Path, policy: Path) -> Iterator[Desk]:
    with spooled.default_client(spool, policy=policy, digest_key=b"k", source="x/prod-1"):
        desk = Desk(spool)
        desk.scheduler.start()
        yield desk
        desk.scheduler.shutdown()


def test_a_run_is_recorded_from_its_submission_to_its_end(desk: Desk) -> None:
    desk.add(send, id="nightly", kwargs={"payout": "PO-1"})

    desk.await_told(events.EVENT_JOB_EXECUTED)

    [done] = spooled.receipts(desk.spool, kind="done")
    assert done["source"] == {"system": "apscheduler", "instance": "prod-1", "via": "signal"}
    assert done["job"]["task"].endswith("test_apscheduler.send")
    assert done["job"]["id"].startswith("nightly@2")
    assert done["subjects"] == [{"type": "payout", "id": "PO-1"}]
    assert done["data"] == {"event": "EVENT_JOB_EXECUTED", "schedule": "nightly"}
    for enqueue in spooled.receipts(desk.spool, kind="enqueue"):
        assert enqueue["job"] == done["job"]


def test_each_run_of_a_schedule_is_a_job_of_its_own(desk: Desk) -> None:
    desk.add(send, id="often", seconds=0.05)

    desk.await_told(events.EVENT_JOB_EXECUTED, 3)

    runs = [done["job"]["id"] for done in spooled.receipts(desk.spool, kind="done")]
    assert len(set(runs)) == len(runs) >= 3
    assert {run.split("@")[0] for run in runs} == {"often"}


def test_a_failure_has_the_type_of_its_error_and_not_its_text(desk: Desk) -> None:
    desk.add(send, id="bad", kwargs={"fail": True})

    desk.await_told(events.EVENT_JOB_ERROR)

    [fail] = spooled.receipts(desk.spool, kind="fail")
    assert fail["reason"] == "failed"
    assert fail["error"]["type"] == "builtins.ValueError"
    assert set(fail["error"]) == {"type", "size", "digest"}
    assert CARD not in spooled.text_of(desk.spool)


def test_a_run_that_comes_too_late_is_a_skip_by_a_rule(desk: Desk) -> None:
    desk.add(send, id="late", late=dt.timedelta(hours=1), misfire_grace_time=1)

    desk.await_told(events.EVENT_JOB_MISSED)

    [skip] = spooled.receipts(desk.spool, kind="skip")
    assert (skip["reason"], skip["rule"]) == ("expired", recording.MISFIRE)
    assert skip["job"]["id"].startswith("late@2")
    assert "original" not in skip


def test_a_run_that_is_held_back_names_the_run_that_holds_it(desk: Desk) -> None:
    begun, go = threading.Event(), threading.Event()

    def hold() -> None:
        begun.set()
        assert go.wait(PATIENCE)

    desk.add(hold, id="slow", seconds=0.2)
    assert begun.wait(PATIENCE)
    desk.await_told(events.EVENT_JOB_MAX_INSTANCES)
    desk.scheduler.remove_job("slow")
    go.set()
    desk.await_told(events.EVENT_JOB_EXECUTED)

    skip = spooled.receipts(desk.spool, kind="skip")[0]
    [done] = spooled.receipts(desk.spool, kind="done")
    assert skip["reason"] == "in_flight"
    assert skip["original"] == {"job": done["job"]["id"]}
    assert "id" not in skip["job"] and skip["job"]["task"] == done["job"]["task"]
    assert skip["data"]["due"] > done["job"]["id"].split("@")[1]


def test_recording_twice_writes_once(desk: Desk) -> None:
    recording.record(desk.scheduler)

    desk.add(send, id="one")
    desk.await_told(events.EVENT_JOB_EXECUTED)

    assert len(spooled.receipts(desk.spool, kind="done")) == 1


def test_an_ordinary_run_is_tallied_and_a_failed_one_is_not(spool: Path, ledger: Any) -> None:
    with spooled.default_client(spool, url=ledger.url, token=ledger.token) as client:
        desk = Desk(spool)
        desk.scheduler.start()
        desk.add(send, id="good")
        desk.add(send, id="bad", kwargs={"fail": True})
        desk.await_told(events.EVENT_JOB_EXECUTED)
        desk.await_told(events.EVENT_JOB_ERROR)
        desk.scheduler.shutdown()
        assert client.flush()

    [tally] = ledger.of_kind("tally")
    assert [row[1].split("@")[0] for row in tally["data"]["jobs"]] == ["good"]
    assert [fail["data"]["schedule"] for fail in ledger.of_kind("fail")] == ["bad"]
    assert not ledger.of_kind("done") and not ledger.of_kind("enqueue")


def test_the_policy_is_told_when_the_scheduler_starts(desk: Desk) -> None:
    desk.await_told(events.EVENT_SCHEDULER_STARTED)

    [policy] = spooled.receipts(desk.spool, kind="observe")
    assert policy["what"] == "policy" and policy["each"] == ["*"]
    assert policy["subject_fields"] == {"*.send": {"payout": "kwargs.payout"}}
    assert "subjects" not in policy


def test_trouble_in_recording_is_said_once_and_reaches_no_job(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError(CARD)

    monkeypatch.setattr(recording, "writer_of", broken)
    caplog.set_level(logging.WARNING, "counterfoil")

    desk.add(send, id="one")
    desk.add(send, id="two")
    desk.await_told(events.EVENT_JOB_EXECUTED, 2)

    said = [r.getMessage() for r in caplog.records if r.name == "counterfoil"]
    assert len(said) == len(set(said)) and CARD not in "".join(said)
    assert any("RuntimeError" in line for line in said)


def test_off_listens_to_nothing(spool: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERFOIL_OFF", "1")
    scheduler = BackgroundScheduler(timezone="UTC")

    recording.record(scheduler)

    assert scheduler._listeners == []
    assert not spool.exists()
