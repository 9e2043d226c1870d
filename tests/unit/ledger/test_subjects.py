from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.domain.statement import Statement
from ledger.domain.subjects import RULE_WORDS, became, rule_words
from tests.unit.ledger.shelf import key, make, skip

ANSWERS = {"done", "skipped", "failed", "cancelled", "in_progress", "nothing_recorded"}


def job(number: str, **more: Any) -> dict[str, Any]:
    return {"job": {"id": number, **more}}


ROW = {"source": {"via": "row"}}
CELERY = {"source": {"system": "celery", "instance": "prod-1"}}
CASES: dict[str, tuple[list[Statement], str, str, str | None]] = {
    "nothing": ([], "nothing_recorded", "nothing", None),
    "only an observation": ([make(0, "observe")], "nothing_recorded", "nothing", None),
    "only what was set aside": (
        [make(0, "done", state="quarantined")],
        "nothing_recorded",
        "nothing",
        None,
    ),
    "only skips": ([skip(0), skip(1)], "skipped", "only-skips", "r1"),
    "enqueued": ([make(0, "enqueue", **job("1"))], "in_progress", "open", "r0"),
    "started": (
        [make(0, "enqueue", **job("1")), make(1, "start", **job("1"))],
        "in_progress",
        "open",
        "r1",
    ),
    "done": ([make(0, "start", **job("1")), make(1, "done", **job("1"))], "done", "done", "r1"),
    "delivered": ([make(0, "deliver", **job("1"))], "done", "done", "r0"),
    "handed to a worker of Celery": (
        [make(0, "deliver", **CELERY, **job("1"))],
        "in_progress",
        "open",
        "r0",
    ),
    "enqueued, then expired before it ran": (
        [
            make(0, "enqueue", **CELERY, **job("1")),
            skip(1, reason="expired", rule={"name": "celery.expires"}, **CELERY, **job("1")),
        ],
        "skipped",
        "last-end",
        "r1",
    ),
    "revoke asked for": (
        [
            make(0, "enqueue", **CELERY, **job("1")),
            make(1, "revoke", reason="asked", **CELERY, **job("1")),
        ],
        "in_progress",
        "open",
        "r0",
    ),
    "revoke effected": (
        [
            make(0, "enqueue", **CELERY, **job("1")),
            make(1, "revoke", reason="effected", **CELERY, **job("1")),
        ],
        "cancelled",
        "last-end",
        "r1",
    ),
    "done, and skipped since": (
        [make(0, "done", **job("1")), skip(1, of_job="1")],
        "done",
        "done",
        "r0",
    ),
    "started, and skipped since": (
        [make(0, "start", **job("1")), skip(1, of_job="1")],
        "in_progress",
        "open",
        "r0",
    ),
    "failed": (
        [make(0, "start", **job("1")), make(1, "fail", **job("1"))],
        "failed",
        "last-end",
        "r1",
    ),
    "given up": ([make(0, "discard", **job("1"))], "failed", "last-end", "r0"),
    "failed, to be tried again": (
        [make(0, "fail", **job("1")), make(1, "retry", **job("1"))],
        "in_progress",
        "open",
        "r1",
    ),
    "failed, then done by the same job": (
        [make(0, "fail", **job("1")), make(1, "done", **job("1"))],
        "done",
        "done",
        "r1",
    ),
    "failed, then done by another job": (
        [make(0, "fail", **job("1")), make(1, "done", **job("2"))],
        "done",
        "done",
        "r1",
    ),
    "done, then failed by the same job": (
        [make(0, "done", **job("1")), make(1, "fail", **job("1"))],
        "failed",
        "failed-since",
        "r1",
    ),
    "done, then failed by another job": (
        [make(0, "done", **job("1")), make(1, "fail", **job("2"))],
        "failed",
        "failed-since",
        "r1",
    ),
    "done, and another job opened since": (
        [make(0, "done", **job("1")), make(1, "enqueue", **job("2"))],
        "in_progress",
        "opened-since",
        "r1",
    ),
    "done, and the same work started since": (
        [make(0, "done", key=key(n=1)), make(1, "start", key=key(n=1))],
        "done",
        "done",
        "r0",
    ),
    "done by the clock of a host that is behind": (
        [make(0, "start", "09:00:01", **job("1")), make(1, "done", "09:00:00", **job("1"))],
        "done",
        "done",
        "r1",
    ),
    "done, and the other job was cancelled": (
        [make(0, "done", **job("1")), make(1, "cancel", **job("2"))],
        "done",
        "done",
        "r0",
    ),
    "a holder that never ended, and done by another": (
        [make(0, "start", **job("1")), make(1, "done", **job("2"))],
        "done",
        "done",
        "r1",
    ),
    "cancelled": (
        [make(0, "enqueue", **job("1")), make(1, "cancel", **job("1"))],
        "cancelled",
        "last-end",
        "r1",
    ),
    "revoked": ([make(0, "revoke", **job("1"))], "cancelled", "last-end", "r0"),
    "failed, then cancelled by another job": (
        [make(0, "fail", **job("1")), make(1, "cancel", **job("2"))],
        "cancelled",
        "last-end",
        "r1",
    ),
    "one cancelled, one still open": (
        [make(0, "enqueue", **job("1")), make(1, "cancel", **job("2"))],
        "in_progress",
        "open",
        "r0",
    ),
    "a row that is completed": (
        [make(0, "observe", **job("1", state="completed"), **ROW)],
        "done",
        "done",
        "r0",
    ),
    "a row that executes": (
        [make(0, "observe", **job("1", state="executing"), **ROW)],
        "in_progress",
        "open",
        "r0",
    ),
    "a row that was discarded": (
        [make(0, "observe", **job("1", state="discarded"), **ROW)],
        "failed",
        "last-end",
        "r0",
    ),
    "nothing but a task to tell work apart": (
        [make(0, "start", job={"task": "pay"}), make(1, "done", job={"task": "pay"})],
        "done",
        "done",
        "r1",
    ),
}


@pytest.mark.parametrize(("log", "answer", "rule", "ref"), CASES.values(), ids=CASES)
def test_what_became_of_an_object(log, answer, rule, ref):
    found = became(log)

    assert (found.answer, found.rule, found.ref) == (answer, rule, ref)


def test_every_answer_has_a_case():
    assert {answer for _, answer, _, _ in CASES.values()} == ANSWERS


KINDS = st.sampled_from(["enqueue", "start", "done", "fail", "cancel", "retry", "skip", "observe"])


@st.composite
def logs(draw: st.DrawFn) -> list[Statement]:
    """Draw up to eight receipts of two jobs."""
    kinds = draw(st.lists(KINDS, max_size=8))
    return [
        make(leaf, kind, **job(draw(st.sampled_from(["1", "2"]))))
        for leaf, kind in enumerate(kinds)
    ]


@settings(deadline=None)
@given(log=logs(), shuffled=st.randoms(use_true_random=False))
def test_the_order_in_which_receipts_are_given_does_not_matter(log, shuffled):
    mixed = log.copy()
    shuffled.shuffle(mixed)

    assert became(mixed) == became(log)


@settings(deadline=None)
@given(log=logs())
def test_a_skip_never_changes_what_became_of_work(log):
    before, after = became(log), became([*log, skip(99)])

    assert after == before or before.answer in ("nothing_recorded", "skipped")


def test_every_rule_is_said_in_words_and_no_other():
    spoke = {became(log).rule for log, _, _, _ in CASES.values()}

    assert spoke == set(RULE_WORDS)
    assert all(rule_words(rule) != rule for rule in spoke)


def test_a_rule_of_a_later_release_shows_as_itself():
    assert rule_words("by-the-moon") == "by-the-moon"
