"""What the integrations beside Celery share: ids, policy, traces, and whose trouble is whose."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
import spooled

from counterfoil.contrib import rim, writing

JOB = {"task": "mail.send", "queue": "mail", "id": "7"}


def kinds(spool: Path) -> list[str]:
    return [r["kind"] for r in spooled.receipts(spool) if r["kind"] != "observe"]


@pytest.mark.parametrize(
    ("policy", "outcome", "written", "tallied"),
    [
        ({"each": ["mail.*"]}, "done", ["done"], False),
        ({"each": ["mail.*"]}, "retried", ["retry"], False),
        ({"tally": ["*"]}, "done", [], True),
        ({"tally": ["*"]}, "retried", [], True),
        ({"never": ["mail.*"]}, "done", [], False),
        ({}, "done", [], True),
    ],
)
def test_an_ordinary_outcome_is_kept_as_the_policy_says(
    tmp_path: Path, policy: dict[str, Any], outcome: str, written: list[str], tallied: bool
) -> None:
    spool = tmp_path / "spool"

    with spooled.default_client(spool, policy=spooled.policy_file(tmp_path, **policy)):
        writing.writer_of("rq").ordinary(outcome, "hook", {"job": JOB, "took_ms": 4})
        seen = spooled.text_of(spool)

    assert kinds(spool) == written
    assert ('"mail.send"' in seen) == bool(written or tallied)


def test_a_receipt_says_where_it_came_from_and_has_an_id_of_its_facts(spool: Path) -> None:
    with spooled.default_client(spool, source="shop/prod-1"):
        writing.writer_of("rq").write("start", "hook", {"job": JOB, "trace": None}, {"a": 1})

    [found] = spooled.receipts(spool, kind="start")
    assert found["source"] == {"system": "rq", "instance": "prod-1", "via": "signal"}
    assert found["id"] == writing.made_id("rq", "prod-1", "start", found["occurred_at"])
    assert found["data"] == {"event": "hook", "a": 1} and "trace" not in found


def test_an_original_of_none_is_said_and_other_members_without_a_value_are_not(spool: Path) -> None:
    with spooled.default_client(spool):
        writing.writer_of("rq").write("skip", "hook", {"original": None, "subjects": None})

    [found] = spooled.receipts(spool, kind="skip")
    assert found["original"] is None and "subjects" not in found


def test_the_current_span_is_kept_with_the_receipt(spool: Path) -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace")

    tracer = sdk.TracerProvider().get_tracer("shop")

    with spooled.default_client(spool), tracer.start_as_current_span("pay") as span:
        writing.writer_of("rq").write("start", "hook", {"job": JOB})

    [found] = spooled.receipts(spool, kind="start")
    ids = span.get_span_context()
    assert found["trace"] == {
        "trace_id": f"{ids.trace_id:032x}",
        "span_id": f"{ids.span_id:016x}",
    }


def test_an_id_is_made_of_any_text() -> None:
    assert writing.made_id("lone \ud800 surrogate") != writing.made_id("lone \ud801 surrogate")


def test_trouble_is_said_once_without_its_text_and_goes_no_further(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING, "counterfoil")

    for _ in range(2):
        with rim.contained("a thing of this test"):
            raise ValueError("4111111111111111")

    [said] = [r.getMessage() for r in caplog.records if "a thing of this test" in r.getMessage()]
    assert "ValueError" in said and "4111" not in said


def test_the_time_limit_of_a_job_goes_on_its_way() -> None:
    with pytest.raises(TimeoutError), rim.contained("a limit", (TimeoutError,)):
        raise TimeoutError
