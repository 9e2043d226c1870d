from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.domain import words
from ledger.domain.pointers import (
    DEADLINE,
    Finding,
    answers,
    chip,
    find_pointer,
    is_unresolved,
    shown_state,
)
from ledger.domain.statement import Statement, done_id
from tests.unit.ledger.shelf import NOON, Shelf, at, key, make, skip

TOKEN = "0192f0c4-1111-7000-8000-000000000001"
OTHER_TOKEN = "0192f0c4-1111-7000-8000-000000000002"
V5 = "8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16"
V4 = "8ee956d2-4597-4fcf-8c6b-5f5f5c5bac16"
JOB = {"job": {"id": "101"}}
ROW = {"source": {"system": "oban", "instance": "prod-1", "via": "row"}}


def find(*statements: Statement, redacted: tuple[int, ...] = (), **more: Any) -> Finding:
    """Follow the pointer of the last statement given, on a shelf that holds them all."""
    found = find_pointer(statements[-1], Shelf(statements, redacted=redacted), **more)
    assert found is not None
    return found


def gist(found: Finding) -> tuple[str, int | None, int | None, str]:
    return found.state, found.target_leaf, found.terminal_leaf, found.outcome


CASES: dict[str, tuple[list[Statement], tuple[str, int | None, int | None, str]]] = {
    "a receipt that is done": (
        [make(0, "done", id="a"), skip(1, of="a")],
        ("resolved", 0, 0, "done"),
    ),
    "a receipt that arrives after the skip": (
        [make(1, "done", id="a"), skip(0, of="a")],
        ("resolved", 1, 1, "done"),
    ),
    "a job that is enqueued and done": (
        [
            make(0, "enqueue", **JOB),
            make(1, "start", **JOB),
            make(2, "done", **JOB),
            skip(3, of_job="101"),
        ],
        ("resolved", 0, 2, "done"),
    ),
    "a job that failed, was tried again and is done": (
        [
            make(0, "enqueue", **JOB),
            make(1, "fail", **JOB),
            make(2, "done", **JOB),
            skip(3, of_job="101"),
        ],
        ("resolved", 0, 2, "done"),
    ),
    "a job that failed last": (
        [make(0, "enqueue", **JOB), make(1, "fail", **JOB), skip(2, of_job="101")],
        ("resolved", 0, 1, "failed"),
    ),
    "a job that was cancelled": (
        [make(0, "enqueue", **JOB), make(1, "cancel", **JOB), skip(2, of_job="101")],
        ("resolved", 0, 1, "cancelled"),
    ),
    "a job that was given up": (
        [make(0, "enqueue", **JOB), make(1, "discard", **JOB), skip(2, of_job="101")],
        ("resolved", 0, 1, "failed"),
    ),
    "a job that has not ended": (
        [make(0, "enqueue", **JOB), make(1, "retry", **JOB), skip(2, of_job="101")],
        ("resolved", 0, None, "running"),
    ),
    "a job of which only a done is here": (
        [make(0, "done", **JOB), skip(1, of_job="101")],
        ("resolved", 0, 0, "done"),
    ),
    "a job of which only a retry is here": (
        [make(0, "retry", **JOB), skip(1, of_job="101")],
        ("resolved", 0, None, "running"),
    ),
    "a job that was tried again before its start was seen": (
        [make(0, "retry", **JOB), make(1, "start", **JOB), skip(2, of_job="101")],
        ("resolved", 1, None, "running"),
    ),
    "a job seen as a row": (
        [make(0, "observe", job={"id": "101", "state": "executing"}, **ROW), skip(1, of_job="101")],
        ("resolved", 0, None, "running"),
    ),
    "a job whose row says that it is completed": (
        [make(0, "observe", job={"id": "101", "state": "completed"}, **ROW), skip(1, of_job="101")],
        ("resolved", 0, None, "done"),
    ),
    "a job whose row is older than its done": (
        [
            make(0, "observe", job={"id": "101", "state": "executing"}, **ROW),
            make(1, "done", **JOB),
            skip(2, of_job="101"),
        ],
        ("resolved", 0, 1, "done"),
    ),
    "a job of which only heartbeats are here": (
        [make(0, "heartbeat", **JOB), skip(1, of_job="101")],
        ("wrong-kind", None, None, ""),
    ),
    "a job that heartbeats besides": (
        [make(0, "heartbeat", **JOB), make(1, "start", **JOB), skip(2, of_job="101")],
        ("resolved", 1, None, "running"),
    ),
    "a start receipt of a job that is done": (
        [make(0, "start", id="a", **JOB), make(1, "done", **JOB), skip(2, of="a")],
        ("resolved", 0, 1, "done"),
    ),
    "a done receipt of a job that failed later": (
        [make(0, "done", id="a", **JOB), make(1, "fail", **JOB), skip(2, of="a")],
        ("resolved", 0, 0, "done"),
    ),
    "a fail receipt of a job that is done later": (
        [make(0, "fail", id="a", **JOB), make(1, "done", **JOB), skip(2, of="a")],
        ("resolved", 0, 1, "done"),
    ),
    "a start whose done is known by its id": (
        [make(0, "start", id=TOKEN), make(1, "done", id=done_id(TOKEN)), skip(2, of=TOKEN)],
        ("resolved", 0, 1, "done"),
    ),
    "a start whose done is not here": (
        [make(0, "start", id=TOKEN), skip(1, of=TOKEN)],
        ("resolved", 0, None, "running"),
    ),
    "its own job, sent again": (
        [make(0, "start", **JOB), skip(1, of_job="101", reason="redelivery", **JOB)],
        ("resolved", 0, None, "running"),
    ),
    "both, and they agree": (
        [make(0, "enqueue", id="a", **JOB), skip(1, original={"receipt": "a", "job": "101"})],
        ("resolved", 0, None, "running"),
    ),
    "both, and only the job is here": (
        [make(0, "enqueue", **JOB), skip(1, original={"receipt": "a", "job": "101"})],
        ("resolved", 0, None, "running"),
    ),
    "both, and only the receipt is here": (
        [make(0, "done", id="a"), skip(1, original={"receipt": "a", "job": "101"})],
        ("resolved", 0, 0, "done"),
    ),
    "both, and neither is here": (
        [skip(0, original={"receipt": "a", "job": "101"})],
        ("waiting", None, None, ""),
    ),
    "both, and they disagree": (
        [
            make(0, "done", id="a", job={"id": "7"}),
            make(1, "done", **JOB),
            skip(2, original={"receipt": "a", "job": "101"}),
        ],
        ("ambiguous", None, None, ""),
    ),
    "a job of another source with the same number": (
        [
            make(0, "done", job={"id": "101"}, source={"system": "celery", "instance": "eu"}),
            skip(1, of_job="101"),
        ],
        ("waiting", None, None, ""),
    ),
    "a job of another source, named": (
        [
            make(0, "done", job={"id": "101"}, source={"system": "celery", "instance": "eu"}),
            skip(1, of_job="101", original={"source": {"system": "celery", "instance": "eu"}}),
        ],
        ("resolved", 0, 0, "done"),
    ),
    "a receipt that is not here": ([skip(0, of="a")], ("waiting", None, None, "")),
    "a job that is not here": ([skip(0, of_job="9")], ("waiting", None, None, "")),
    "only other skips of the job are here": (
        [skip(0, **JOB), skip(1, of_job="101")],
        ("waiting", None, None, ""),
    ),
    "itself": ([skip(0, id="a", of="a")], ("cycle", None, None, "")),
    "another spelling of itself": (
        [skip(0, id=V5, of=f"urn:uuid:{V5.upper()}")],
        ("cycle", None, None, ""),
    ),
    "a skip that points back": (
        [skip(0, id="a", of="b"), skip(1, id="b", of="a")],
        ("cycle", 0, None, "skipped"),
    ),
    "a circle further on": (
        [skip(0, id="a", of="b"), skip(1, id="b", of="a"), skip(2, of="a")],
        ("cycle", 0, None, "skipped"),
    ),
    "an id with two contents": (
        [make(0, "done", id="a"), make(1, "fail", id="a", state="conflict"), skip(2, of="a")],
        ("ambiguous", None, None, ""),
    ),
    "an id that was only set aside": (
        [make(0, "done", id="a", state="quarantined"), skip(1, of="a")],
        ("target-quarantined", None, None, ""),
    ),
    "an id that was set aside and then sent well": (
        [make(0, "done", id="a", state="quarantined"), make(1, "done", id="a"), skip(2, of="a")],
        ("resolved", 1, 1, "done"),
    ),
    "a skip that points to a done": (
        [make(0, "done", id="a"), skip(1, id="b", of="a"), skip(2, of="b")],
        ("resolved-chain", 1, 0, "done"),
    ),
    "a skip that finds its original by key": (
        [make(0, "done", key=key(n=1)), skip(1, id="b", key=key(n=1)), skip(2, of="b")],
        ("resolved-chain", 1, 0, "done"),
    ),
    "a skip that a rule explains": (
        [skip(0, id="b", reason="paused", rule={"name": "p"}), skip(1, of="b")],
        ("resolved-chain", 0, None, "skipped"),
    ),
    "a skip that names no original": (
        [skip(0, id="b", original=None), skip(1, of="b")],
        ("dangling", 0, None, "skipped"),
    ),
    "a skip whose original is not here": (
        [skip(0, id="b", of="a"), skip(1, of="b")],
        ("waiting", 0, None, "skipped"),
    ),
    "a skip that points to the wrong kind": (
        [make(0, "heartbeat", id="a"), skip(1, id="b", of="a"), skip(2, of="b")],
        ("wrong-kind", 1, None, "skipped"),
    ),
    "a skip whose original has two contents": (
        [
            make(0, "done", id="a"),
            make(1, "fail", id="a", state="conflict"),
            skip(2, id="b", of="a"),
            skip(3, of="b"),
        ],
        ("ambiguous", 2, None, "skipped"),
    ),
    "a skip whose original was set aside": (
        [make(0, "done", id="a", state="quarantined"), skip(1, id="b", of="a"), skip(2, of="b")],
        ("target-quarantined", 1, None, "skipped"),
    ),
    "nothing, stated": (
        [skip(0, reason="already_done", original=None)],
        ("missing-pointer", None, None, ""),
    ),
    "nothing, not stated": ([skip(0, reason="already_done")], ("missing-pointer", None, None, "")),
    "nothing, and no reason": ([skip(0)], ("missing-pointer", None, None, "")),
    "nothing for a lock, and no key": (
        [skip(0, reason="lock_contended", original=None)],
        ("missing-pointer", None, None, ""),
    ),
    "nothing, explained by a switch": (
        [skip(0, reason="paused", switch={"name": "payouts.paused"})],
        ("not-needed", None, None, ""),
    ),
    "nothing, a rule named but an original needed": (
        [skip(0, reason="already_done", rule={"name": "unique"})],
        ("missing-pointer", None, None, ""),
    ),
    "nothing, no reason but a rule": (
        [skip(0, rule={"name": "weekends"})],
        ("not-needed", None, None, ""),
    ),
    "nothing, and a rule without a name": (
        [skip(0, reason="paused", rule={"version": "7"})],
        ("missing-pointer", None, None, ""),
    ),
    "an original beside a rule": (
        [make(0, "done", id="a"), skip(1, of="a", reason="paused", rule={"name": "p"})],
        ("resolved", 0, 0, "done"),
    ),
    "a done that points to its start": (
        [make(0, "start", id="a"), make(1, "done", original={"receipt": "a"})],
        ("resolved", 0, None, "running"),
    ),
}


@pytest.mark.parametrize(("statements", "expected"), CASES.values(), ids=CASES)
def test_what_a_pointer_comes_to(statements, expected):
    assert gist(find(*statements)) == expected


def test_a_receipt_that_is_no_skip_and_names_no_original_has_no_finding():
    assert find_pointer(make(0, "done"), Shelf([])) is None
    assert find_pointer(make(0, "done", original=None), Shelf([])) is None


@pytest.mark.parametrize("kind", sorted(set(words.KIND_WORDS) - {"skip"}))
def test_only_what_is_about_a_job_can_be_an_original(kind):
    found = find(make(0, kind, id="a"), skip(1, of="a"))

    about_no_job = {"heartbeat", "observe", "tally", "decide", "act"}
    assert (found.state == "wrong-kind") == (kind in about_no_job)


TARGETS: dict[str, tuple[str, dict[str, Any], str]] = {
    "already done: a done": ("already_done", {"kind": "done"}, "resolved"),
    "already done: a delivery": ("already_done", {"kind": "deliver"}, "resolved"),
    "already done: a fail": ("already_done", {"kind": "fail"}, "resolved"),
    "already done: a start with a job": ("already_done", {"kind": "start", **JOB}, "resolved"),
    "already done: a start with the key": (
        "already_done",
        {"kind": "start", "key": key(n=1)},
        "resolved",
    ),
    "already done: a start with another key": (
        "already_done",
        {"kind": "start", "key": key(n=2)},
        "wrong-kind",
    ),
    "already done: a start with neither": ("already_done", {"kind": "start"}, "wrong-kind"),
    "already done: a prune": ("already_done", {"kind": "prune"}, "wrong-kind"),
    "in flight: a start": ("in_flight", {"kind": "start"}, "resolved"),
    "in flight: an enqueue": ("in_flight", {"kind": "enqueue"}, "resolved"),
    "in flight: a row": ("in_flight", {"kind": "observe", **JOB, **ROW}, "resolved"),
    "in flight: a done": ("in_flight", {"kind": "done"}, "wrong-kind"),
    "in flight: a done with a job": ("in_flight", {"kind": "done", **JOB}, "wrong-kind"),
    "in flight: a fail": ("in_flight", {"kind": "fail"}, "wrong-kind"),
    "holder lost: a start": ("holder_lost", {"kind": "start"}, "resolved"),
    "holder lost: a done": ("holder_lost", {"kind": "done"}, "resolved"),
    "upstream failed: a fail": ("upstream_failed", {"kind": "fail"}, "resolved"),
    "redelivery: a start": ("redelivery", {"kind": "start"}, "resolved"),
    "redelivery: an act": ("redelivery", {"kind": "act"}, "wrong-kind"),
    "wrong generation: a start": ("wrong_generation", {"kind": "start"}, "resolved"),
    "free text: a prune": ("we felt like it", {"kind": "prune"}, "resolved"),
}


@pytest.mark.parametrize(("reason", "target", "expected"), TARGETS.values(), ids=TARGETS)
def test_what_the_reason_given_asks_of_its_original(reason, target, expected):
    body = {name: value for name, value in target.items() if name != "kind"}
    original = make(0, target["kind"], id="a", **body)

    found = find(original, skip(1, of="a", reason=reason, key=key(n=1)))

    assert found.state == expected
    assert found.candidates == ((0,) if expected == "wrong-kind" else ())


def test_already_done_may_name_a_start_whose_done_is_known_by_its_id():
    start, done = make(0, "start", id=TOKEN), make(1, "done", id=done_id(TOKEN))

    found = find(start, done, skip(2, of=TOKEN, reason="already_done"))

    assert gist(found) == ("resolved", 0, 1, "done")


@pytest.mark.parametrize(
    ("clock", "expected"),
    [("09:59:30", "resolved"), ("09:59:29.999999", "wrong-kind"), ("10:00:01", "resolved")],
    ids=["30 s older", "a moment more", "newer"],
)
def test_what_superseded_a_call_is_not_older_than_it_beyond_the_skew(clock, expected):
    newer = make(0, "start", clock, id="a")

    assert find(newer, skip(1, "10:00", of="a", reason="superseded")).state == expected


def test_a_job_that_runs_may_be_named_by_number_when_only_its_done_is_here():
    done = make(0, "done", **JOB)

    assert find(done, skip(1, of_job="101", reason="in_flight")).outcome == "done"


def test_an_erased_original_is_said_to_be_erased():
    one, two = make(0, "done", id="a", **JOB), skip(1, of="a")

    assert find(one, two, redacted=(0,)).state == "target-redacted"
    assert find(one, skip(1, of_job="101"), redacted=(0,)).state == "target-redacted"


def test_a_job_of_which_only_some_receipts_are_erased_is_found_by_the_others():
    job = [make(0, "enqueue", **JOB), make(1, "start", **JOB), make(2, "done", **JOB)]

    found = find(*job, skip(3, of_job="101"), redacted=(0, 2))

    assert gist(found) == ("resolved", 1, None, "running")


def test_an_original_that_arrives_at_the_deadline_is_in_time_and_after_it_late():
    one = skip(0, "09:00", of="a")
    due = at("09:00") + DEADLINE

    in_time = make(1, "done", "08:00", id="a", received=due)
    late = make(1, "done", "08:00", id="a", received=due + timedelta(microseconds=1))

    assert find(in_time, one).state == "resolved"
    assert find(late, one).state == "resolved-late"


def test_a_job_that_was_here_in_time_is_not_late_when_an_older_receipt_of_it_comes_late():
    one = skip(0, "09:00", of_job="101")
    start = make(1, "start", "08:00", **JOB)
    enqueue = make(2, "enqueue", "07:00", received=at("10:00") + DEADLINE, **JOB)

    assert gist(find(start, enqueue, one)) == ("resolved", 2, None, "running")
    assert find(enqueue, one).state == "resolved-late"


def test_the_deadline_counts_from_arrival_and_can_be_set():
    one = skip(0, "03:00", of="a", received=at("09:00"))

    assert find(one).due_at == at("09:00") + timedelta(hours=24)
    assert find(one, deadline=timedelta(minutes=5)).due_at == at("09:05")


@pytest.mark.parametrize(
    ("now", "expected"),
    [("08:59:59", "pending"), ("09:00", "dangling"), ("09:00:01", "dangling")],
    ids=["one second before", "at the second", "one second after"],
)
def test_what_waits_is_pending_until_its_deadline_and_dangling_from_then_on(now, expected):
    assert shown_state("waiting", at("09:00"), at(now)) == expected


def test_other_states_do_not_depend_on_the_clock():
    assert shown_state("resolved", at("09:00"), at("10:00")) == "resolved"
    assert shown_state("dangling", None, at("10:00")) == "dangling"


def test_only_these_states_need_someone():
    needy = {state for state in words.POINTER_STATES if is_unresolved(state)}

    assert needy == {"dangling", "ambiguous", "cycle", "wrong-kind", "missing-pointer"}


CHIPS = {
    ("resolved", "done"): "found, done",
    ("resolved", "failed"): "found, failed",
    ("resolved", "cancelled"): "found, cancelled",
    ("resolved", "running"): "found, still running",
    ("resolved-chain", "done"): "found, done",
    ("resolved-late", "done"): "found, done",
    ("resolved-by-key", "done"): "found by key",
    ("not-needed", ""): "explained by a rule",
    ("unrecorded", ""): "not recorded by policy",
    ("pending", ""): "not here yet",
    ("dangling", ""): "not found",
    ("missing-pointer", ""): "names no original",
    ("cycle", "skipped"): "points in a circle",
    ("ambiguous", ""): "several candidates",
    ("wrong-kind", ""): "points to the wrong kind",
    ("target-quarantined", ""): "original set aside",
    ("target-redacted", ""): "original erased",
}


@pytest.mark.parametrize(("pair", "expected"), CHIPS.items(), ids=lambda pair: str(pair))
def test_a_chip_says_what_was_found(pair, expected):
    assert chip(*pair) == expected


def test_every_state_has_a_chip_and_none_says_just_resolved():
    assert {state for state, _ in CHIPS} == set(words.POINTER_STATES)
    assert not any("resolved" in text for text in CHIPS.values())


def test_the_masked_hint_names_the_one_receipt_that_differs_in_its_version_digit():
    found = find(make(0, "done", id=V4), skip(1, of=V5))

    assert found.state == "waiting"
    assert found.hint == "one receipt matches except for the version digit: №0"


def test_the_masked_hint_counts_when_several_match():
    found = find(
        make(0, "done", id=V4), make(1, "done", id=V5.replace("-5fcf", "-8fcf")), skip(2, of=V5)
    )

    assert found.hint == "2 receipts match except for the version digit: №0, №1"


def test_without_a_near_id_there_is_no_hint():
    assert find(make(0, "done", id=OTHER_TOKEN), skip(1, of=V5)).hint is None
    assert find(skip(1, of="order 7")).hint is None
    assert find(skip(1, id=V4, of=V5)).hint is None


def chain(length: int, end: Statement) -> list[Statement]:
    """Make `length` skips after an end with the id "0", each pointing to the one before."""
    return [end, *(skip(n, id=str(n), of=str(n - 1)) for n in range(1, length + 1))]


def test_a_chain_of_sixteen_hops_is_walked_to_its_end():
    found = find(*chain(16, make(0, "done", id="0")))

    assert (found.state, found.terminal_leaf, len(found.hops)) == ("resolved-chain", 0, 17)


def test_a_longer_chain_is_walked_to_its_end_and_shown_for_sixteen_hops():
    found = find(*chain(70, make(0, "done", id="0")))

    assert (found.state, found.terminal_leaf, found.outcome) == ("resolved-chain", 0, "done")
    assert len(found.hops) == 17
    assert found.hint == "54 more skips on the way are not shown"


def test_a_long_chain_whose_end_never_came_waits_as_its_last_skip_does():
    found = find(*chain(70, make(99, "done", id="elsewhere"))[1:])

    assert found.state == "waiting"


@pytest.mark.parametrize("size", [16, 17, 18, 20, 200])
def test_a_ring_of_any_size_is_a_circle(size):
    ring = [skip(n, id=str(n), of=str((n + 1) % size)) for n in range(size)]

    assert find(*ring).state == "cycle"


@pytest.mark.parametrize(("skips", "unshown"), [(17, None), (18, "1 more skip on the way is")])
def test_a_chain_that_comes_to_nothing_shows_its_last_skip_as_its_end(skips, unshown):
    found = find(*chain(skips, make(99, "done", id="elsewhere"))[1:])

    assert (len(found.hops), found.hops[-1].leaf, found.skips) == (17, 1, skips - 1)
    assert found.hint == (unshown and f"{unshown} not shown")


@pytest.mark.parametrize(("skips", "state"), [(256, "resolved-chain"), (257, "dangling")])
def test_no_more_than_256_hops_are_walked(skips, state):
    assert find(*chain(skips, make(0, "done", id="0"))).state == state


def test_a_chain_beyond_all_measure_counts_as_not_found_and_says_so():
    found = find(*chain(300, make(0, "done", id="0")))

    assert (found.state, found.rule, found.terminal_leaf) == ("dangling", "hop-cap", None)
    assert found.hint == "the walk stopped after 256 hops; the chain goes on"


def test_the_sixteenth_skip_of_a_chain_may_still_explain_itself():
    found = find(*chain(16, skip(0, id="0", reason="paused", rule={"name": "p"})))

    assert (found.state, found.rule) == ("resolved-chain", "explained")


def test_a_waiting_chain_waits_for_the_original_of_its_last_skip():
    found = find(skip(0, "08:00", id="b", of="a"), skip(1, "09:00", of="b"))

    assert found.due_at == at("08:00") + DEADLINE
    assert ("id", "a") in found.asked


def test_hops_tell_the_walk_from_the_skip_to_the_end():
    found = find(make(0, "enqueue", **JOB), make(1, "done", **JOB), skip(2, of_job="101"))

    assert [(hop.ref, hop.kind, hop.state, hop.via) for hop in found.hops] == [
        ("r2", "skip", "as sent", ""),
        ("r0", "enqueue", "found", "job"),
        ("r1", "done", "found, done", "job"),
    ]


def test_hops_by_key_say_so():
    found = find(make(0, "done", key=key(n=1)), skip(1, key=key(n=1)))

    assert [(hop.ref, hop.state, hop.via) for hop in found.hops] == [
        ("r1", "by its key", ""),
        ("r0", "found, done", "key"),
    ]


BY_KEY: dict[str, tuple[list[Statement], tuple[str, int | None, int | None, str]]] = {
    "one done": (
        [make(0, "done", key=key(n=1)), skip(1, key=key(n=1))],
        ("resolved-by-key", 0, 0, "done"),
    ),
    "one done, stated that there is none": (
        [make(0, "done", key=key(n=1)), skip(1, key=key(n=1), original=None)],
        ("resolved-by-key", 0, 0, "done"),
    ),
    "one job with start and done": (
        [
            make(0, "enqueue", key=key(n=1), **JOB),
            make(1, "start", key=key(n=1), **JOB),
            make(2, "done", **JOB),
            skip(3, key=key(n=1), reason="already_done"),
        ],
        ("resolved-by-key", 0, 2, "done"),
    ),
    "a start and its done by the once rule": (
        [
            make(0, "start", id=TOKEN, key=key(n=1)),
            make(1, "done", id=done_id(TOKEN), key=key(n=1)),
            skip(2, key=key(n=1), reason="already_done"),
        ],
        ("resolved-by-key", 0, 1, "done"),
    ),
    "a start and a done that points to it": (
        [
            make(0, "start", id="a", key=key(n=1)),
            make(1, "done", key=key(n=1), original={"receipt": "a"}),
            skip(2, key=key(n=1)),
        ],
        ("resolved-by-key", 0, 1, "done"),
    ),
    "a start and a done that points to its job": (
        [
            make(0, "start", key=key(n=1), **JOB),
            make(1, "done", key=key(n=1), original={"job": "101"}),
            skip(2, key=key(n=1)),
        ],
        ("resolved-by-key", 0, 1, "done"),
    ),
    "one enqueue, start and done that nothing links": (
        [
            make(0, "enqueue", key=key(n=1)),
            make(1, "start", key=key(n=1)),
            make(2, "done", key=key(n=1)),
            skip(3, key=key(n=1)),
        ],
        ("resolved-by-key", 0, 2, "done"),
    ),
    "a done and a later start that nothing links": (
        [make(0, "done", key=key(n=1)), make(1, "start", key=key(n=1)), skip(2, key=key(n=1))],
        ("ambiguous", None, None, ""),
    ),
    "two dones that nothing links": (
        [make(0, "done", key=key(n=1)), make(1, "done", key=key(n=1)), skip(2, key=key(n=1))],
        ("ambiguous", None, None, ""),
    ),
    "a start without an end": (
        [make(0, "start", key=key(n=1)), skip(1, key=key(n=1), reason="in_flight")],
        ("resolved-by-key", 0, None, "running"),
    ),
    "two jobs": (
        [
            make(0, "done", key=key(n=1), **JOB),
            make(1, "done", key=key(n=1), job={"id": "102"}),
            skip(2, key=key(n=1)),
        ],
        ("ambiguous", None, None, ""),
    ),
    "two runs by the once rule": (
        [
            make(0, "start", id=TOKEN, key=key(n=1)),
            make(1, "start", id=OTHER_TOKEN, key=key(n=1)),
            skip(2, key=key(n=1)),
        ],
        ("ambiguous", None, None, ""),
    ),
    "two runs, one outside the window": (
        [
            make(0, "done", "08:00", key=key(n=1), **JOB),
            make(1, "done", "08:59", key=key(n=1), job={"id": "102"}),
            skip(2, "09:00", key=key(n=1, window_s=300)),
        ],
        ("resolved-by-key", 1, 1, "done"),
    ),
    "another value": (
        [make(0, "done", key=key(n=2)), skip(1, key=key(n=1))],
        ("waiting", None, None, ""),
    ),
    "another recipe": (
        [make(0, "done", key={"recipe": "x", "fields": {"n": 1}}), skip(1, key=key(n=1))],
        ("waiting", None, None, ""),
    ),
    "another version of the recipe": (
        [make(0, "done", key={**key(n=1), "version": "2"}), skip(1, key=key(n=1))],
        ("resolved-by-key", 0, 0, "done"),
    ),
    "another source": (
        [make(0, "done", key=key(n=1), source={"system": "celery"}), skip(1, key=key(n=1))],
        ("waiting", None, None, ""),
    ),
    "only a fail": (
        [make(0, "fail", key=key(n=1)), skip(1, key=key(n=1))],
        ("waiting", None, None, ""),
    ),
    "only another skip": (
        [skip(0, key=key(n=1)), skip(1, key=key(n=1))],
        ("waiting", None, None, ""),
    ),
    "a receipt that was set aside": (
        [make(0, "done", key=key(n=1), state="quarantined"), skip(1, key=key(n=1))],
        ("waiting", None, None, ""),
    ),
    "a paused skip, which needs no original": (
        [make(0, "done", key=key(n=1)), skip(1, key=key(n=1), reason="paused")],
        ("missing-pointer", None, None, ""),
    ),
    "no reason and a rule, and the original found": (
        [make(0, "done", key=key(n=1)), skip(1, key=key(n=1), rule={"name": "once"})],
        ("resolved-by-key", 0, 0, "done"),
    ),
    "no reason and a rule, and no original": (
        [skip(1, key=key(n=1), rule={"name": "once"})],
        ("not-needed", None, None, ""),
    ),
}


@pytest.mark.parametrize(("statements", "expected"), BY_KEY.values(), ids=BY_KEY)
def test_a_skip_that_names_no_original_is_looked_up_by_its_key(statements, expected):
    assert gist(find(*statements)) == expected


def test_what_is_found_by_key_is_reconstructed_and_keeps_a_lower_level():
    one = skip(2, key=key(n=1))

    assert find(make(0, "done", key=key(n=1)), one).level == "reconstructed"
    assert find(make(0, "done", key=key(n=1), evidence="asserted"), one).level == "asserted"


def test_several_by_key_are_all_listed():
    found = find(
        make(0, "start", key=key(n=1), **JOB),
        make(1, "done", key=key(n=1), **JOB),
        make(2, "done", key=key(n=1), job={"id": "102"}),
        skip(3, key=key(n=1)),
    )

    assert found.candidates == (0, 2)


@pytest.mark.parametrize(
    ("reason", "clock", "expected"),
    [
        ("already_done", "09:00", "resolved-by-key"),
        ("already_done", "09:00:00.000001", "waiting"),
        ("lock_contended", "09:10", "resolved-by-key"),
        ("lock_contended", "09:10:00.000001", "waiting"),
    ],
    ids=["at the same time", "after it", "10 minutes after a lock", "later than that"],
)
def test_an_original_by_key_comes_before_the_skip_or_soon_after_a_lock(reason, clock, expected):
    original = make(0, "done", clock, key=key(n=1))

    assert find(original, skip(1, "09:00", key=key(n=1), reason=reason)).state == expected


@pytest.mark.parametrize(
    ("window_s", "expected"),
    [(60, "resolved-by-key"), (59.9, "waiting"), (0, "waiting"), (None, "resolved-by-key")],
)
def test_an_original_by_key_lies_inside_the_window(window_s, expected):
    window = {} if window_s is None else {"window_s": window_s}
    original = make(0, "done", "08:59", key=key(n=1))

    assert find(original, skip(1, "09:00", key=key(n=1, **window))).state == expected


def test_a_lost_lock_is_given_ten_minutes_and_all_else_the_deadline():
    lock = skip(0, "09:00", key=key(n=1), reason="lock_contended", original=None)
    done = skip(0, "09:00", key=key(n=1), reason="already_done")

    assert find(lock).due_at == at("09:10")
    assert find(done).due_at == at("09:00") + DEADLINE


def test_the_level_is_the_lowest_on_the_way():
    done = make(0, "done", id="a", source={"via": "log"})

    assert find(done, skip(1, of="a")).level == "reconstructed"
    assert find(done, skip(1, of="a", evidence="unknown")).level == "unknown"


RULES = {
    "receipt": [make(0, "done", id="a"), skip(1, of="a")],
    "job": [make(0, "done", **JOB), skip(1, of_job="101")],
    "key": [make(0, "done", key=key(n=1)), skip(1, key=key(n=1))],
    "self": [skip(0, id="a", of="a")],
    "loop": [skip(0, id="a", of="b"), skip(1, id="b", of="a")],
    "not-here": [skip(0, of="a")],
    "key-none": [skip(0, key=key(n=1))],
    "set-aside": [make(0, "done", id="a", state="quarantined"), skip(1, of="a")],
    "id-conflict": [make(0, "done", id="a"), make(1, "fail", id="a"), skip(2, of="a")],
    "kind": [make(0, "act", id="a"), skip(1, of="a")],
    "kind-for-reason": [make(0, "done", id="a"), skip(1, of="a", reason="in_flight")],
    "older-than-skip": [make(0, "done", "07:00", id="a"), skip(1, of="a", reason="superseded")],
    "names-none": [skip(0)],
    "explained": [skip(0, reason="paused", rule={"name": "p"})],
}


@pytest.mark.parametrize(("rule", "statements"), RULES.items(), ids=RULES)
def test_a_finding_names_the_rule_that_spoke(rule, statements):
    assert find(*statements).rule == rule


def test_what_was_asked_is_what_an_arrival_can_answer():
    waiting = skip(0, original={"receipt": V5, "job": "101"})

    asked = find(waiting).asked

    assert asked == {
        ("id", V5),
        ("job", "oban/prod-1/101"),
        ("masked", V5[:14] + "xfcf-0c6b" + V5[23:]),
        ("policy", "oban/prod-1"),
    }
    for arrival in (make(1, "done", id=V5), make(1, "done", **JOB), make(1, "done", id=V4)):
        assert answers(arrival) & asked


def test_an_outcome_that_is_still_to_come_is_asked_for():
    start = make(0, "start", id=TOKEN)

    assert ("id", done_id(TOKEN)) in find(start, skip(1, of=TOKEN)).asked


def test_a_receipt_without_an_id_answers_no_question_about_ids():
    assert not answers(make(0, "done", id_default=""))


UNHURRIED = settings(deadline=None)
IDENTITIES = st.sampled_from(["a", "b", "c", "d"])
NUMBERS = st.sampled_from(["1", "2"])
POINTERS = st.fixed_dictionaries({}, optional={"receipt": IDENTITIES, "job": NUMBERS})


@st.composite
def logs(draw: st.DrawFn) -> list[Statement]:
    """Draw a log of up to twelve receipts over few ids, jobs and keys, so that they do meet."""
    count = draw(st.integers(1, 12))
    return [make(leaf, **draw(bodies())) for leaf in range(count)]


@st.composite
def bodies(draw: st.DrawFn) -> dict[str, Any]:
    """Draw the body of one receipt; half of them are skips."""
    kinds = ["done", "start", "enqueue", "fail", "heartbeat", *["skip"] * 5]
    body: dict[str, Any] = {"kind": draw(st.sampled_from(kinds)), "id": draw(IDENTITIES)}
    body["state"] = draw(st.sampled_from(["accepted", "accepted", "conflict", "quarantined"]))
    reasons = [None, "already_done", "in_flight", "superseded", "lock_contended", "paused", "rain"]
    body["reason"] = draw(st.sampled_from(reasons))
    for name, values in (
        ("original", st.none() | POINTERS),
        ("job", NUMBERS.map(lambda number: {"id": number})),
        ("key", st.integers(1, 2).map(lambda n: key(n=n))),
        ("rule", st.just({"name": "p"})),
    ):
        if draw(st.booleans()):
            body[name] = draw(values)
    body["received"] = NOON + timedelta(hours=draw(st.integers(0, 60)))
    return body


@UNHURRIED
@given(log=logs())
def test_every_walk_ends_in_a_state_that_has_a_name(log):
    shelf = Shelf(log)

    for statement in log:
        found = find_pointer(statement, shelf)
        if found is not None:
            assert shown_state(found.state, found.due_at, NOON) in words.POINTER_STATES
            assert len(found.hops) <= 18
            assert (found.state == "waiting") <= (found.due_at is not None)


@UNHURRIED
@given(log=logs(), body=bodies())
def test_an_arrival_that_answers_nothing_asked_changes_no_finding(log, body):
    arrival = make(99, **body)
    before, after = Shelf(log), Shelf([*log, arrival])

    for statement in log:
        found = find_pointer(statement, before)
        if found is not None and not found.asked & answers(arrival):
            assert find_pointer(statement, after) == found


@UNHURRIED
@given(log=logs(), cut=st.integers(0, 11))
def test_a_finding_over_a_prefix_is_the_finding_over_the_whole_cut_to_it(log, cut):
    prefix, whole = Shelf(log[: cut + 1]), Shelf(log, up_to=cut)

    for statement in prefix.statements:
        assert find_pointer(statement, prefix) == find_pointer(statement, whole)


@UNHURRIED
@given(log=logs())
def test_an_unrelated_receipt_changes_nothing(log):
    stranger = make(99, "done", id="stranger", job={"id": "77"}, key=key(n=77))

    for statement in log:
        assert find_pointer(statement, Shelf(log)) == find_pointer(
            statement, Shelf([*log, stranger])
        )
