from __future__ import annotations

import contextvars
import json
import os
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakeledger import FakeLedger

import counterfoil
from counterfoil import context

JOB = {"task": "mail.send", "id": "3f0c", "queue": "mail", "attempt": 1}
SOURCE = {"system": "celery", "instance": "prod-1", "via": "signal"}
TRACE = {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}


@pytest.fixture
def _running() -> Iterator[None]:
    token = context.begin(context.Current(JOB, SOURCE, TRACE, ({"type": "payout", "id": "1"},)))
    yield
    context.end(token)


@pytest.fixture
def written(client: counterfoil.Client, ledger: FakeLedger) -> Callable[[str], dict[str, Any]]:
    def read(receipt: str) -> dict[str, Any]:
        client.flush()
        found: dict[str, Any] = json.loads(ledger.receipts[receipt])
        return found

    return read


def a_span(*, is_valid: bool) -> types.ModuleType:
    about = types.SimpleNamespace(
        is_valid=is_valid, trace_id=int(TRACE["trace_id"], 16), span_id=int(TRACE["span_id"], 16)
    )
    module = types.ModuleType("opentelemetry.trace")
    module.get_current_span = lambda: types.SimpleNamespace(  # type: ignore[attr-defined]
        get_span_context=lambda: about
    )
    return module


@pytest.mark.usefixtures("_running")
def test_a_guards_skip_names_the_job_that_runs_by_itself(
    client: counterfoil.Client, written: Callable[[str], dict[str, Any]]
) -> None:
    found = written(client.skip(key="payout:1", reason="in_flight", holder="77"))

    assert found["job"] == JOB
    assert found["source"] == SOURCE
    assert found["trace"] == TRACE
    assert found["subjects"] == [{"type": "payout", "id": "1"}]
    assert found["original"] == {"job": "77"}


@pytest.mark.usefixtures("_running")
@pytest.mark.parametrize("reason", ["in_flight", "already_done"])
def test_inside_a_job_a_holder_is_a_job_even_when_its_id_is_a_uuid(
    client: counterfoil.Client, written: Callable[[str], dict[str, Any]], reason: str
) -> None:
    holder = "3f0c9f5e-6f0b-4b6e-9d6a-6a1f5d7c2b11"

    for name in (holder, holder.encode()):
        found = written(client.skip(key="payout:1", reason=reason, holder=name))
        assert found["original"] == {"job": holder}


@pytest.mark.usefixtures("_running")
def test_a_skip_of_once_names_the_job_that_runs_and_a_start_does_not(
    client: counterfoil.Client, ledger: FakeLedger
) -> None:
    for holder in (None, "77"):
        answer = counterfoil.MINE if holder is None else counterfoil.held(holder)
        counterfoil.once("payout:1", lambda key, token, answer=answer: answer, client=client).run(
            lambda: None
        )
    client.flush()

    [skip], [start] = ledger.of_kind("skip"), ledger.of_kind("start")
    assert skip["job"] == JOB
    assert skip["trace"] == TRACE
    assert skip["original"] == {"job": "77"}
    assert "job" not in start


def test_outside_of_a_job_a_uuid_is_a_token_of_once(
    client: counterfoil.Client, written: Callable[[str], dict[str, Any]]
) -> None:
    token = "3f0c9f5e-6f0b-4b6e-9d6a-6a1f5d7c2b11"

    assert written(client.skip(reason="in_flight", holder=token))["original"] == {"receipt": token}


@pytest.mark.usefixtures("_running")
def test_what_is_given_stands(
    client: counterfoil.Client, written: Callable[[str], dict[str, Any]]
) -> None:
    found = written(
        client.skip(task="other", source={"system": "x", "instance": "y"}, trace={"trace_id": "t"})
    )

    assert found["job"] == {"task": "other"}
    assert found["source"] == {"system": "x", "instance": "y"}
    assert found["trace"] == {"trace_id": "t"}
    assert "subjects" not in found


def test_outside_of_a_job_nothing_is_filled_in(
    client: counterfoil.Client, written: Callable[[str], dict[str, Any]]
) -> None:
    found = written(client.skip(reason="paused"))

    assert not {"job", "source", "trace", "subjects"} & set(found)


@pytest.mark.usefixtures("_running")
def test_another_thread_has_no_current_job() -> None:
    found: list[object] = []

    thread = threading.Thread(target=lambda: found.append(context.current_job()))
    thread.start()
    thread.join()

    assert found == [None]
    assert context.current_job() == JOB


def test_jobs_inside_jobs_end_in_order() -> None:
    outer = context.begin(context.Current({"id": "1"}))
    inner = context.begin(context.Current({"id": "2"}))
    assert context.current_job() == {"id": "2"}

    context.end(inner)

    assert context.current_job() == {"id": "1"}
    context.end(outer)
    assert context.current_job() is None
    assert context.current() is None


def test_the_end_of_a_job_of_another_context_leaves_none_behind() -> None:
    token = contextvars.Context().run(context.begin, context.Current({"id": "1"}))
    here = context.begin(context.Current({"id": "2"}))

    context.end(token)

    assert context.current_job() is None
    context.end(here)


def test_the_current_span_is_the_trace(
    client: counterfoil.Client,
    written: Callable[[str], dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", a_span(is_valid=True))

    assert written(client.skip(reason="paused"))["trace"] == TRACE


def test_a_span_of_the_real_library_is_taken(
    client: counterfoil.Client, written: Callable[[str], dict[str, Any]]
) -> None:
    trace = pytest.importorskip("opentelemetry.trace")
    about = trace.SpanContext(
        int(TRACE["trace_id"], 16), int(TRACE["span_id"], 16), is_remote=False
    )

    with trace.use_span(trace.NonRecordingSpan(about)):
        receipt = client.skip(reason="paused")

    assert written(receipt)["trace"] == TRACE
    assert context.current_trace() is None


def test_a_span_that_is_none_or_a_library_that_fails_gives_no_trace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", a_span(is_valid=False))
    assert context.current_trace() is None
    monkeypatch.setitem(sys.modules, "opentelemetry.trace", types.ModuleType("empty"))
    assert context.current_trace() is None


@pytest.mark.slow
def test_opentelemetry_is_never_imported() -> None:
    code = (
        "import sys, counterfoil; from counterfoil import context;"
        "assert context.current_trace() is None;"
        "assert not [name for name in sys.modules if name.startswith('opentelemetry')]"
    )
    env = {**os.environ, "PYTHONPATH": str(Path(counterfoil.__file__).parents[1])}

    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0
