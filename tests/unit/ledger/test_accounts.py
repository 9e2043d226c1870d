"""What is told of receipts that are no skips: what they state, and no more than was sent."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ledger.domain import accounts, act_accounts, words
from ledger.domain.statement import Statement
from ledger.domain.verdicts import judge
from tests.unit.ledger.shelf import key, make

ALICE: dict[str, Any] = {"type": "person", "id": "u-17", "label": "Alice"}
JOB: dict[str, Any] = {"job": {"id": "101", "task": "mail.send", "queue": "mailers", "attempt": 2}}


def own(verb: str, target: str = "", **act: Any) -> Statement:
    """Make an act that the ledger itself wrote down: it has no token."""
    told = {"verb": verb, "target": target, **act}
    return replace(make(0, "act", act=told, actor=ALICE), token_id=None)


CASES: dict[str, tuple[Statement, str, str]] = {
    "an enqueue": (
        make(0, "enqueue", key=key(account=7, month="10"), **JOB),
        "New work: the producer says that job 101 (mail.send) was put on the queue mailers.",
        "A skip that names no original finds it by its key: account and month.",
    ),
    "a start without a job": (
        make(0, "start", job={"task": "mail.send"}),
        "New work: the producer says that the work mail.send was started.",
        "Its kind decides: start.",
    ),
    "a done": (
        make(0, "done", **JOB),
        "Done: the producer says that job 101 (mail.send) was carried out, attempt 2.",
        "Its kind decides: done.",
    ),
    "a fail": (
        make(0, "fail", reason="timeout", **JOB),
        "Failed: the producer says that job 101 (mail.send) was tried and did not succeed, "
        "attempt 2.",
        "The reason given: “timeout”.",
    ),
    "a cancel of one job": (
        make(0, "cancel", job={"id": "101"}, reason="superseded"),
        "Cancelled: job 101.",
        "The reason given: “superseded by a newer call”.",
    ),
    "a cancel that counts": (
        make(0, "cancel", jobs=["1", "2"]),
        "Cancelled: 2 jobs.",
        "It counts 2 jobs.",
    ),
    "a cancel that tells nothing": (
        make(0, "cancel"),
        "A cancel: the producer neither names a job nor counts any.",
        "",
    ),
    "a discard in a run": (
        make(0, "discard", invoke={"scope": "exec_a1"}, **JOB),
        "Discarded: the producer says that job 101 (mail.send) of the run exec_a1 was discarded.",
        "Its kind decides: discard.",
    ),
    "a delivery": (
        make(0, "deliver", job={"id": "101"}),
        "Done: the producer says that job 101 was delivered.",
        "Its kind decides: delivery.",
    ),
    "a retry": (
        make(0, "retry", **JOB),
        "To run again: the producer says that job 101 (mail.send) is tried again, attempt 2.",
        "Its kind decides: retry.",
    ),
    "a prune": (
        make(0, "prune", jobs={"count": 1}),
        "A prune: the producer says that 1 job was pruned.",
        "It counts 1 job.",
    ),
    "a rescue": (
        make(0, "rescue", jobs=["1", "2", "3"]),
        "A rescue: the producer says that 3 jobs were rescued.",
        "It counts 3 jobs.",
    ),
    "a revoke": (
        make(0, "revoke", job={"id": "101"}),
        "A revoke: the producer says that job 101 was revoked.",
        "Its kind decides: revoke.",
    ),
    "a heartbeat of one channel": (
        make(0, "heartbeat", loop="sweep", beat="ok", channels=[
            {"channel": "lobby", "from": 90, "to": "100", "outcome": "clean"},
        ]),
        "A heartbeat of the loop sweep: the producer says “ok” and tells how far it read lobby: "
        "after 90 through 100, clean.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "a heartbeat of two channels": (
        make(0, "heartbeat", loop="sweep", beat="fail", channels=[{"channel": "a"}, {}]),
        "A heartbeat of the loop sweep: the producer says “fail” and tells how far it read 2 "
        "channels.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "heads": (
        make(0, "observe", what="heads", heads=[{"channel": "a", "head": 9}]),
        "An observation: how far 1 channel reached, sampled by the producer.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "a resume": (
        make(0, "observe", what="resume", cursor="4711", answer="refuse"),
        "An observation: a resume at 4711 was answered with “refuse”.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "a row": (
        make(0, "observe", job={"id": "101", "state": "executing"}, source={"via": "row"}),
        "An observation: job 101 stood in its table as “executing”.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "an observation of something else": (
        make(0, "observe", what="weather"),
        "An observation of “weather”.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "a tally": (
        make(0, "tally", counts=[
            {"task": "mail.send", "done": 1200, "retried": 3}, {"task": "x", "done": 1},
        ]),
        "A tally: the producer counts 1,201 done and 3 retried, in one receipt.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "a move": (
        make(0, "decide", decision="st/ADR-0051", move="approve", actor=ALICE),
        "A move: the producer says that Alice gave “approve” on st/ADR-0051.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "a word that we do not know": (
        make(0, "beheld"),
        "Kept as it came: a receipt of the kind “beheld”, for which there are no rules.",
        "Kept as it is: receipts of this kind are not judged.",
    ),
    "an act of a producer": (
        make(0, "act", act={"verb": "pause", "target": "queue:payouts"}, reason="month end",
             actor={**ALICE, "authority": "CHG-2231", "on_behalf_of": {"id": "finance"}}),
        "An act: the producer says that Alice paused queue:payouts on behalf of finance, on the "
        "authority of CHG-2231.",
        "The reason given: “month end”.",
    ),
    "an act that tells nothing": (
        make(0, "act"),
        "An act: the producer says that somebody did something to something that is not named.",
        "No reason was given.",
    ),
    "an act with a verb of its own": (
        make(0, "act", act={"verb": "defrost", "target": "fridge"}, actor={"id": "u-17"}),
        "An act: the producer says that u-17 did “defrost” to fridge.",
        "No reason was given.",
    ),
    "an act of ours": (
        own("redrive", "receipt:r17", reason="the validator was wrong"),
        "An act in this ledger: Alice sent through again receipt:r17.",
        "The reason given: “the validator was wrong”.",
    ),
    "an act that was refused": (
        own("right.redrive", "POST /p/acme/quarantine/r1/redrive", outcome="denied"),
        "Refused: Alice asked for POST /p/acme/quarantine/r1/redrive without the right to redrive.",
        "No reason was given.",
    ),
    "receipts that were judged again": (
        own("judged again", "verdicts", counts=[
            {"from": "fresh", "to": "done", "count": 2}, {"from": "fail", "to": "done", "count": 1},
        ]),
        "Judged again: after a change of rules, 3 receipts are judged otherwise by this ledger.",
        "2 from fresh to done; 1 from fail to done.",
    ),
    "what was set aside": (
        make(0, "done", state="quarantined"),
        "No verdict: it was set aside, because it could not be taken as it came.",
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "sentence", "decisive"), CASES.values(), ids=CASES)
def test_what_a_receipt_states_and_what_decides(
    one: Statement, sentence: str, decisive: str
) -> None:
    verdict = judge(one, None, None, None, shown="")

    assert (verdict.sentence, verdict.decisive) == (sentence, decisive)


def test_every_kind_that_is_no_skip_has_an_account() -> None:
    kinds = set(words.KIND_WORDS) - {"skip"}

    assert {kind for kind in kinds if accounts.account(make(0, kind))} == kinds


@pytest.mark.parametrize("kind", sorted(set(words.KIND_WORDS) - {"skip"}))
@pytest.mark.parametrize("value", [None, 5, "", "x" * 300, [], [None, 5], {}, {"channel": {}}])
def test_nothing_that_is_sent_keeps_a_receipt_from_being_told(kind: str, value: Any) -> None:
    names = ("job", "jobs", "act", "actor", "channels", "counts", "heads", "window", "loop", "what")
    names += ("tasks", "each", "error", "revoked", "workflow", "took_ms")
    one = make(0, kind, **dict.fromkeys(names, value))

    sentence = judge(one, None, None, None, shown="").sentence

    assert sentence.endswith(".")
    assert all(name and text for name, text in accounts.fields(one))


def test_the_parts_of_an_act_stand_in_the_order_in_which_they_are_asked_for() -> None:
    told = {"verb": "deploy", "target": "web", "commit": "4a6a748"}

    one = make(0, "act", act=told, actor={**ALICE, "authority": "CHG-1"}, reason="fix")

    assert accounts.fields(one) == [
        ("who", "Alice"), ("account", "u-17"), ("authority", "CHG-1"), ("verb", "deploy"),
        ("target", "web"), ("commit", "4a6a748"), ("why", "fix"),
    ]  # fmt: skip


def test_many_channels_are_cut_and_the_rest_is_counted() -> None:
    channels = [{"channel": f"c{number}", "from": 1, "to": 1} for number in range(20)]

    told = accounts.fields(make(0, "heartbeat", loop="sweep", channels=channels))

    assert told[1] == ("c0", "nothing new after 1")
    assert told[-1] == ("more channels", "8")


def test_a_policy_states_its_patterns_and_the_tasks_their_ways() -> None:
    lists = {"version": "3", "each": ["a.*", "b"], "never": [f"c{n}" for n in range(14)]}
    tasks = [{"task": "a", "sees": ["signals", "once"]}, {"task": "b"}, 5]

    policy = accounts.fields(make(0, "observe", what="policy", **lists))
    seen = accounts.fields(make(0, "observe", what="tasks", celery="5.6.0", tasks=tasks))

    assert policy[1:3] == [("version", "3"), ("each", "a.* b")]
    assert policy[-1] == ("never", "c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 c10 c11 and 2 more")
    assert seen[1:] == [("celery", "5.6.0"), ("a", "signals, once"), ("b", "nothing")]


def test_only_an_act_without_a_token_is_the_ledgers_own() -> None:
    claimed = make(0, "act", act={"verb": "redrive", "target": "receipt:r1"}, actor=ALICE)

    assert not act_accounts.is_ours(claimed)
    assert act_accounts.is_ours(replace(claimed, token_id=None))
    assert act_accounts.document(claimed)["said_by"] == "producer"  # type: ignore[index]
