from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ledger.domain import sentences, verdicts, words
from ledger.domain.pointers import find_pointer, shown_state
from ledger.domain.statement import Statement, done_id
from ledger.domain.verdicts import Verdict, code_when_due, judge, stored_verdict
from tests.unit.ledger import celery
from tests.unit.ledger.shelf import Shelf, at, key, make, skip

TOKEN = "0192f0c4-1111-7000-8000-000000000001"
JOB = {"job": {"id": "101"}}
START_KEY = {"key": {"recipe": "r", "fields": {"start": 4}}}
DONE = make(0, "done", id="a")
FAIL = make(0, "fail", id="a")
START = make(0, "start", id="a", **JOB)
SOON = at("09:01")
LATER = at("09:00") + timedelta(days=2)


def verdict_of(*statements: Statement, now: Any = SOON, redacted: tuple[int, ...] = ()) -> Verdict:
    """Judge the last statement given by all of them."""
    shelf = Shelf(statements, redacted=redacted)
    found = find_pointer(statements[-1], shelf)
    if found is None:
        return judge(statements[-1], None, None, None, shown="")
    shown = shown_state(found.state, found.due_at, now)
    original, terminal = shelf.at_leaf(found.target_leaf), shelf.at_leaf(found.terminal_leaf)
    return judge(statements[-1], found, original, terminal, shown=shown)


RULE = {"rule": {"name": "api-limit", "version": "7"}}
SWITCH = {
    "switch": {
        "name": "payouts.paused",
        "set_at": "2026-10-05T08:00:00Z",
        "actor": {"label": "Ann"},
    }
}

CASES: dict[str, tuple[list[Statement], Any, str, str]] = {
    "already done, and the original is done": (
        [DONE, skip(1, of="a", reason="already_done")],
        SOON,
        "skip.already_done",
        "Skipped because it was already done: №0 says that it is done.",
    ),
    "already done, the same start stored as a job": (
        [
            make(0, "enqueue", **JOB, **START_KEY),
            make(1, "done", **JOB),
            skip(2, of_job="101", reason="already_done", **START_KEY),
        ],
        SOON,
        "skip.already_done",
        "Skipped because it was asked for twice: the same start was stored as job 101, and "
        "job 101 is done.",
    ),
    "already done, but the original still runs": (
        [make(0, "enqueue", **JOB), skip(1, of_job="101", reason="already_done")],
        SOON,
        "skip.already_done",
        "Skipped because it was already done; job 101 has not ended, though, by all that is "
        "recorded.",
    ),
    "already done, and the original is not here yet": (
        [skip(0, of="a", reason="already_done")],
        SOON,
        "skip.already_done",
        "Skipped, said to be already done; the original it names has not arrived.",
    ),
    "already done, found by the key": (
        [make(0, "done", key=key(n=1)), skip(1, reason="already_done", key=key(n=1))],
        SOON,
        "skip.already_done",
        "Skipped because it was already done; found by its key: №0 says that it is done.",
    ),
    "already done, through another skip": (
        [DONE, skip(1, id="b", of="a"), skip(2, of="b", reason="already_done")],
        SOON,
        "skip.already_done",
        "Skipped because it was already done: its pointer leads through another skip to the "
        "work of №0, which is done.",
    ),
    "already done, and several could be meant": (
        [DONE, make(1, "fail", id="a", state="conflict"), skip(2, of="a", reason="already_done")],
        SOON,
        "skip.already_done",
        "Skipped because it was already done; 2 receipts could be the original, and nothing "
        "tells which.",
    ),
    "already done, and the original was set aside": (
        [make(0, "done", id="a", state="quarantined"), skip(1, of="a", reason="already_done")],
        SOON,
        "skip.already_done",
        "Skipped because it was already done; the receipt with id a was set aside, because it "
        "could not be taken as it came.",
    ),
    "already done by a job of another source": (
        [
            make(0, "done", job={"id": "9"}, source={"system": "celery", "instance": "eu"}),
            skip(
                1,
                reason="already_done",
                original={"job": "9", "source": {"system": "celery", "instance": "eu"}},
            ),
        ],
        SOON,
        "skip.already_done",
        "Skipped because it was already done: job 9 of celery/eu is done.",
    ),
    "in flight, and the original still runs": (
        [START, skip(1, of="a", reason="in_flight")],
        SOON,
        "skip.in_flight",
        "Skipped because it was in flight: job 101 is still running by all that is recorded.",
    ),
    "in flight, and the original is done since": (
        [START, make(1, "done", **JOB), skip(2, of="a", reason="in_flight")],
        SOON,
        "skip.in_flight",
        "Skipped because it was in flight; job 101 is done by now.",
    ),
    "superseded": (
        [START, skip(1, of="a", reason="superseded")],
        SOON,
        "skip.superseded",
        "Skipped because a newer call took over: job 101 is still running by all that is recorded.",
    ),
    "superseded by a call that was cancelled": (
        [START, make(1, "cancel", **JOB), skip(2, of="a", reason="superseded")],
        SOON,
        "skip.superseded",
        "Skipped because a newer call took over: job 101 was cancelled.",
    ),
    "holder lost": (
        [START, skip(1, of="a", reason="holder_lost")],
        SOON,
        "skip.holder_lost",
        "Skipped because another held the key, and that one was lost; job 101 has left no end on "
        "record.",
    ),
    "the same message again": (
        [START, skip(1, of_job="101", reason="redelivery", **JOB)],
        SOON,
        "dedup.redelivery",
        "Skipped because the same message was delivered again: job 101 is still running by all "
        "that is recorded.",
    ),
    "a lock held by another": (
        [START, skip(1, of="a", reason="lock_contended")],
        SOON,
        "dedup.lock_contended",
        "Skipped because another held the lock: job 101 is still running by all that is recorded.",
    ),
    "a lock whose holder is looked for": (
        [skip(0, "09:00", reason="lock_contended", original=None, key=key(n=1))],
        at("09:09:59"),
        "dedup.lock_contended",
        "Skipped, said to have met a lock that another held; it names no original, and none with "
        "its key has arrived.",
    ),
    "a lock whose holder was not found": (
        [skip(0, "09:00", reason="lock_contended", original=None, key=key(n=1))],
        at("09:10"),
        "dedup.lock_contended_lost",
        "Skipped because another held the lock, but nobody can be found who held it: it names "
        "none, and no enqueue, start or done with its key came before it or in the ten minutes "
        "after it.",
    ),
    "a lock, and the holder that it names never came": (
        [skip(0, of="a", reason="lock_contended")],
        LATER,
        "skip.original_missing",
        "Skipped, but its original is not recorded: the receipt with id a never arrived.",
    ),
    "what it depends on failed": (
        [FAIL, skip(1, of="a", reason="upstream_failed")],
        SOON,
        "skip.upstream_failed",
        "Skipped because what it depends on failed: №0 says that it failed.",
    ),
    "its generation was closed": (
        [START, skip(1, of="a", reason="wrong_generation")],
        SOON,
        "skip.wrong_generation",
        "Skipped because its generation was closed: job 101 is still running by all that is "
        "recorded.",
    ),
    "paused by a switch": (
        [skip(0, reason="paused", **SWITCH)],
        SOON,
        "skip.paused",
        "Skipped because the work was paused: the switch payouts.paused was set on 2026-10-05 at "
        "08:00:00 UTC by Ann.",
    ),
    "draining": (
        [skip(0, reason="draining", **RULE)],
        SOON,
        "skip.draining",
        "Skipped because the work was draining: rule api-limit, version 7.",
    ),
    "backlog full": (
        [skip(0, reason="backlog_full", **RULE)],
        SOON,
        "skip.backlog_full",
        "Skipped because the backlog was full: rule api-limit, version 7.",
    ),
    "rate limited": (
        [skip(0, reason="rate_limited", **RULE)],
        SOON,
        "skip.rate_limited",
        "Skipped because of a rate limit: rule api-limit, version 7.",
    ),
    "branch not taken": (
        [skip(0, reason="branch_not_taken", **RULE)],
        SOON,
        "skip.branch_not_taken",
        "Skipped because its branch was not taken: rule api-limit, version 7.",
    ),
    "condition false": (
        [skip(0, reason="condition_false", rule={"text": "amount > 0"})],
        SOON,
        "skip.condition",
        "Skipped because of a condition: “amount > 0”.",
    ),
    "expired": (
        [skip(0, reason="expired", rule={"decision": "ADR-7"})],
        SOON,
        "skip.expired",
        "Skipped because it had expired: decision ADR-7.",
    ),
    "a producer's own words and a rule": (
        [skip(0, reason="it rained", **RULE)],
        SOON,
        "skip.condition",
        "Skipped because of the rule api-limit, version 7 (“it rained”).",
    ),
    "no reason and a rule": (
        [skip(0, **RULE)],
        SOON,
        "skip.condition",
        "Skipped because of the rule api-limit, version 7.",
    ),
    "no reason and a rule with its text": (
        [skip(0, rule={"name": "api-limit", "text": "60 a minute"})],
        SOON,
        "skip.condition",
        "Skipped because of the rule api-limit: “60 a minute”.",
    ),
    "no reason and the text of a rule": (
        [skip(0, rule={"text": "60 a minute"})],
        SOON,
        "skip.condition",
        "Skipped because of a rule: “60 a minute”.",
    ),
    "no reason and a decision": (
        [skip(0, rule={"decision": "ADR-7"})],
        SOON,
        "skip.condition",
        "Skipped because of decision ADR-7.",
    ),
    "a producer's own words and a switch": (
        [skip(0, reason="it rained", **SWITCH)],
        SOON,
        "skip.condition",
        "Skipped because of the switch payouts.paused (“it rained”), set on 2026-10-05 at "
        "08:00:00 UTC by Ann.",
    ),
    "paused by a switch of which only the name was sent": (
        [skip(0, reason="paused", switch={"name": "payouts.paused"})],
        SOON,
        "skip.paused",
        "Skipped because the work was paused: the switch payouts.paused.",
    ),
    "no reason, and the original is not here yet": (
        [skip(0, of="a")],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it; the original it names has not arrived.",
    ),
    "already done, and the original of the skip that it names is not here yet": (
        [skip(0, id="b", of="a"), skip(1, of="b", reason="already_done")],
        SOON,
        "skip.already_done",
        "Skipped, said to be already done; the skips lead on to №0, whose original has not "
        "arrived.",
    ),
    "already done, and the original of the skip that it names was set aside": (
        [
            make(0, "done", id="a", state="quarantined"),
            skip(1, id="b", of="a"),
            skip(2, of="b", reason="already_done"),
        ],
        SOON,
        "skip.already_done",
        "Skipped because it was already done; the original of №1 was set aside, because it could "
        "not be taken as it came.",
    ),
    "the skip that it names leads to the wrong kind": (
        [
            make(0, "heartbeat", id="a"),
            skip(1, id="b", of="a"),
            skip(2, of="b", reason="already_done"),
        ],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: the skips lead on to №1, whose pointer leads to no "
        "possible original.",
    ),
    "paused, and the original is not here yet": (
        [skip(0, reason="paused", of="a")],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: the reason given is “paused”, but it names no rule and "
        "no switch.",
    ),
    "a condition without its rule": (
        [skip(0, reason="condition_false", condition={"result": False})],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: the reason given is “its condition was false”, but it "
        "names no rule, no switch and no original, only a condition.",
    ),
    "a condition without its rule, and an original": (
        [DONE, skip(1, of="a", reason="condition_false", condition={"result": False})],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: the reason given is “its condition was false”, but it "
        "names no rule and no switch, only a condition.",
    ),
    "already done, through more skips than are shown": (
        [DONE, skip(1, id="1", of="a"), *(skip(n, id=str(n), of=str(n - 1)) for n in range(2, 31))],
        SOON,
        "skip.already_done",
        "Skipped because it was already done: its pointer leads through 29 other skips to the "
        "work of №0, which is done.",
    ),
    "through more skips than are shown, and the original never came": (
        [skip(n, id=str(n), of=str(n - 1)) for n in range(1_000, 1_031)],
        LATER,
        "skip.original_missing",
        "Skipped, but its original is not recorded: the skips lead on to №1,000, whose original "
        "is not recorded.",
    ),
    "through more skips than are walked": (
        [skip(n, id=str(n), of=str(n - 1)) for n in range(300)],
        SOON,
        "skip.original_missing",
        "Skipped, but its original is not recorded: the walk stopped after 256 skips, and the "
        "chain goes on.",
    ),
    "paused by a rule, and an original that never came": (
        [skip(0, reason="paused", of="a", **RULE)],
        LATER,
        "skip.paused",
        "Skipped because the work was paused: rule api-limit, version 7.",
    ),
    "no reason, and the original is done": (
        [DONE, skip(1, of="a")],
        SOON,
        "skip.already_done",
        "Skipped because it was already done: №0 says that it is done.",
    ),
    "no reason, and the original still runs": (
        [START, skip(1, of="a")],
        SOON,
        "skip.in_flight",
        "Skipped because it was in flight: job 101 is still running by all that is recorded.",
    ),
    "no reason, and the original is a skip by a rule": (
        [skip(0, id="b", reason="paused", **RULE), skip(1, of="b")],
        SOON,
        "skip.condition",
        "Skipped: its pointer leads to another skip, which a rule explains.",
    ),
    "a producer's own words, and the original is done": (
        [DONE, skip(1, of="a", reason="it rained")],
        SOON,
        "skip.already_done",
        "Skipped because it was already done (“it rained”): №0 says that it is done.",
    ),
    "the original failed": (
        [FAIL, skip(1, of="a", reason="already_done")],
        SOON,
        "skip.original_failed",
        "Skipped, but its original did not succeed: №0 says that it failed.",
    ),
    "the original was cancelled": (
        [START, make(1, "cancel", **JOB), skip(2, of="a", reason="in_flight")],
        SOON,
        "skip.original_failed",
        "Skipped, but its original did not succeed: job 101 was cancelled.",
    ),
    "the holder was lost, and it failed": (
        [START, make(1, "fail", **JOB), skip(2, of="a", reason="holder_lost")],
        SOON,
        "skip.original_failed",
        "Skipped, but its original did not succeed: job 101 failed.",
    ),
    "the skip says that the original had been discarded, and no receipt says how it ended": (
        [START, skip(1, of="a", reason="already_done", original_state="discarded")],
        SOON,
        "skip.original_failed",
        "Skipped, but its original did not succeed; job 101 was discarded by then, as the skip "
        "says.",
    ),
    "the skip says that the original had been discarded, and a receipt says that it is done": (
        [
            START,
            make(1, "done", **JOB),
            skip(2, of="a", reason="already_done", original_state="discarded"),
        ],
        SOON,
        "skip.already_done",
        "Skipped because it was already done: job 101 is done.",
    ),
    "no reason, and the original failed": (
        [FAIL, skip(1, of="a")],
        SOON,
        "skip.original_failed",
        "Skipped, but its original did not succeed: №0 says that it failed.",
    ),
    "the original never came": (
        [skip(0, of="a", reason="already_done")],
        LATER,
        "skip.original_missing",
        "Skipped, but its original is not recorded: the receipt with id a never arrived.",
    ),
    "the job never came": (
        [skip(0, of_job="101", reason="in_flight")],
        LATER,
        "skip.original_missing",
        "Skipped, but its original is not recorded: job 101 never arrived.",
    ),
    "nothing has the key": (
        [skip(0, reason="already_done", key=key(n=1))],
        LATER,
        "skip.original_missing",
        "Skipped, but its original is not recorded: it names none, and no enqueue, start or done "
        "with its key came before it.",
    ),
    "what it depends on never came": (
        [skip(0, of="a", reason="upstream_failed")],
        LATER,
        "skip.original_missing",
        "Skipped, but its original is not recorded: the receipt with id a never arrived.",
    ),
    "a chain of skips that ends nowhere": (
        [skip(0, id="b"), skip(1, of="b", reason="already_done")],
        SOON,
        "skip.original_missing",
        "Skipped, but its original is not recorded: the skips lead on to №0, whose original is "
        "not recorded.",
    ),
    "a reason that needs an original, and none named": (
        [skip(0, reason="already_done")],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: the reason given is “already done”, but it names no "
        "original.",
    ),
    "a reason that needs an original, and none stated": (
        [skip(0, reason="already_done", original=None)],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: the reason given is “already done”, but it states "
        "that there is no original.",
    ),
    "a reason that needs a rule, and none named": (
        [skip(0, reason="paused")],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: the reason given is “paused”, but it names no rule, no "
        "switch and no original.",
    ),
    "a producer's own words, and nothing else": (
        [skip(0, reason="it rained")],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: the reason given is “it rained”, but it names no rule, "
        "no switch and no original.",
    ),
    "nothing at all": (
        [skip(0)],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: it gives no reason and names no original.",
    ),
    "a circle": (
        [skip(0, id="a", of="a", reason="already_done")],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: its pointer leads in a circle.",
    ),
    "a rule, and a circle": (
        [skip(0, id="a", of="a", **RULE)],
        SOON,
        "skip.condition",
        "Skipped because of the rule api-limit, version 7.",
    ),
    "the wrong kind": (
        [make(0, "heartbeat", id="a"), skip(1, of="a", reason="already_done")],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it: its pointer leads to a receipt that cannot be the "
        "original of a skip with the reason “already done”.",
    ),
    "no reason, and several could be meant": (
        [DONE, make(1, "fail", id="a", state="conflict"), skip(2, of="a")],
        SOON,
        "skip.unexplained",
        "Skipped, and nothing explains it; 2 receipts could be the original, and nothing tells "
        "which.",
    ),
    "a done": (
        [DONE],
        SOON,
        "done",
        "Done: the producer says that the work was carried out.",
    ),
    "a delivery": (
        [make(0, "deliver")],
        SOON,
        "done",
        "Done: the producer says that the work was delivered.",
    ),
    "a fail": (
        [FAIL],
        SOON,
        "fail",
        "Failed: the producer says that the work was tried and did not succeed.",
    ),
    "an enqueue": (
        [make(0, "enqueue")],
        SOON,
        "fresh",
        "New work: the producer says that the work was put on a queue.",
    ),
    "a start": (
        [START],
        SOON,
        "fresh",
        "New work: the producer says that job 101 was started.",
    ),
    "a cancel that counts": (
        [make(0, "cancel", jobs={"count": 2})],
        SOON,
        "cancel.swept",
        "Cancelled: 2 jobs.",
    ),
    "a cancel of one job": (
        [make(0, "cancel", **JOB)],
        SOON,
        "cancel.swept",
        "Cancelled: job 101.",
    ),
    "a cancel of nothing": (
        [make(0, "cancel", jobs={"count": 0})],
        SOON,
        "cancel.noop",
        "A cancel that found nothing to cancel.",
    ),
    "a cancel that tells nothing": (
        [make(0, "cancel")],
        SOON,
        "unknown",
        "A cancel: the producer neither names a job nor counts any.",
    ),
    "a discard": (
        [make(0, "discard", **JOB)],
        SOON,
        "discard.run_dead",
        "Discarded: the producer says that job 101 was discarded.",
    ),
    "a heartbeat": (
        [make(0, "heartbeat")],
        SOON,
        "unknown",
        "A heartbeat of a loop that is not named: the producer gives no state and names no "
        "channel.",
    ),
    "a word that we do not know": (
        [make(0, "beheld")],
        SOON,
        "unknown",
        "Kept as it came: a receipt of the kind “beheld”, for which there are no rules.",
    ),
    "a done that was set aside": (
        [make(0, "done", state="quarantined")],
        SOON,
        "unknown",
        "No verdict: it was set aside, because it could not be taken as it came.",
    ),
    **celery.CASES,
}


@pytest.mark.parametrize(("log", "now", "code", "sentence"), CASES.values(), ids=CASES)
def test_what_the_ledger_concludes(log, now, code, sentence):
    verdict = verdict_of(*log, now=now)

    assert (verdict.code, verdict.sentence) == (code, sentence)


def test_every_code_of_the_ledger_has_a_case():
    judged = {code for _, _, code, _ in CASES.values()}

    assert judged == {*sentences.CLAUSES, *sentences.PLAIN} - {"not_derived"}


def test_every_code_has_one_way_to_begin_its_sentence_and_a_badge():
    assert {*sentences.CLAUSES, *sentences.PLAIN} <= set(words.VERDICT_CODES)
    assert not set(sentences.CLAUSES) & set(sentences.PLAIN)
    assert {badge.tone for badge in words.VERDICT_BADGES.values()} <= {
        "done",
        "skip",
        "bad",
        "gap",
        "plain",
    }


def test_no_sentence_says_duplicate():
    said = [sentence for _, _, _, sentence in CASES.values()]

    assert not [sentence for sentence in said if "duplicate" in sentence.lower()]


def test_every_reason_has_words_and_a_code():
    assert set(words.REASON_WORDS) == set(verdicts.BY_REASON)
    assert set(verdicts.BY_REASON.values()) <= set(words.VERDICT_CODES)


@pytest.mark.parametrize("reason", [None, *words.REASON_WORDS, "it rained"])
@pytest.mark.parametrize(
    "shape",
    [
        {},
        {"original": None},
        {"of": "x"},
        {"of": "made-1"},
        {"of_job": "9"},
        {"of": "a"},
        {"key": key(n=1)},
        RULE,
        {"of": "a", **RULE},
    ],
    ids=["bare", "null", "missing", "self", "no job", "found", "key", "rule", "found and rule"],
)
@pytest.mark.parametrize("now", [SOON, LATER], ids=["soon", "later"])
def test_a_skip_never_gets_unknown_and_always_a_sentence(reason, shape, now):
    verdict = verdict_of(DONE, skip(1, reason=reason, **dict(shape)), now=now)

    assert verdict.code.startswith(("skip.", "dedup."))
    assert re.fullmatch(r"Skipped[^{}]*\.", verdict.sentence)
    assert "None" not in verdict.sentence


def test_an_erased_original_keeps_the_reason_that_was_sent():
    verdict = verdict_of(DONE, skip(1, of="a", reason="already_done"), redacted=(0,))

    assert verdict.code == "skip.already_done"
    assert "was erased, and only its place in the log is left" in verdict.sentence


def test_every_rule_that_speaks_is_said_in_words():
    spoke = {verdict_of(*log, now=now).rule for log, now, _, _ in CASES.values()}

    assert spoke <= set(words.RULE_WORDS)


DUE: dict[str, tuple[Statement, str, str]] = {
    "a named original": (
        skip(0, of="a", reason="already_done"),
        "skip.already_done",
        "skip.original_missing",
    ),
    "a named original and no reason": (
        skip(0, of="a"),
        "skip.unexplained",
        "skip.original_missing",
    ),
    "a lost lock": (
        skip(0, reason="lock_contended", key=key(n=1)),
        "dedup.lock_contended",
        "dedup.lock_contended_lost",
    ),
    "a lock whose holder is named": (
        skip(0, of="a", reason="lock_contended", key=key(n=1)),
        "dedup.lock_contended",
        "skip.original_missing",
    ),
    "a skip by a rule that names an original too": (
        skip(0, of="a", reason="paused", **RULE),
        "skip.paused",
        "skip.paused",
    ),
    "no reason, a rule, and a named original": (
        skip(0, of="a", **RULE),
        "skip.condition",
        "skip.original_missing",
    ),
    "a skip by a rule": (skip(0, reason="paused", **RULE), "skip.paused", "skip.paused"),
    "a done": (make(0, "done"), "done", "done"),
}


@pytest.mark.parametrize(("one", "before", "after"), DUE.values(), ids=DUE)
def test_the_code_that_is_stored_is_that_of_a_pointer_before_its_deadline(one, before, after):
    found = find_pointer(one, Shelf([one]))

    assert stored_verdict(one, found, None, None).code == before
    assert code_when_due(one, found) == after


LOG = {"source": {"via": "log"}}
LEVELS: dict[str, tuple[list[Statement], str]] = {
    "all recorded": ([DONE, skip(1, of="a", reason="already_done")], "recorded"),
    "a done from a log": (
        [make(0, "done", id="a", **LOG), skip(1, of="a", reason="already_done")],
        "reconstructed",
    ),
    "a skip from a log": ([DONE, skip(1, of="a", reason="already_done", **LOG)], "reconstructed"),
    "in flight, and the end does not count": (
        [START, make(1, "done", **JOB, **LOG), skip(2, of="a", reason="in_flight")],
        "recorded",
    ),
    "already done, and the end counts": (
        [START, make(1, "done", **JOB, **LOG), skip(2, of="a", reason="already_done")],
        "reconstructed",
    ),
    "the failed end counts": (
        [START, make(1, "fail", **JOB, **LOG), skip(2, of="a", reason="in_flight")],
        "reconstructed",
    ),
    "by key": ([make(0, "done", key=key(n=1)), skip(1, key=key(n=1))], "reconstructed"),
    "a rule decides, not the original": (
        [make(0, "done", id="a", **LOG), skip(1, of="a", reason="paused", **RULE)],
        "recorded",
    ),
    "nothing to compare with": ([skip(0, reason="already_done")], "recorded"),
    "a chain, all of it": (
        [
            make(0, "done", id="a", **LOG),
            skip(1, id="b", of="a"),
            skip(2, of="b", reason="in_flight"),
        ],
        "reconstructed",
    ),
    "a chain": (
        [DONE, skip(1, id="b", of="a", evidence="asserted"), skip(2, of="b")],
        "asserted",
    ),
}


@pytest.mark.parametrize(("log", "expected"), LEVELS.values(), ids=LEVELS)
def test_the_level_is_the_lowest_that_the_decisive_term_compares(log, expected):
    assert verdict_of(*log).level == expected


def test_the_telling_field_of_a_key_is_the_decisive_term():
    fields = key(scope="exec_a1", invoke_id="resolve", macrostep=4)
    original = make(0, "enqueue", key=fields, **JOB)
    one = skip(1, of_job="101", reason="already_done", key=fields, invoke={"generation": "4"})

    assert verdict_of(original, one).decisive == "Because macrostep is equal: 4 and 4."


def test_without_a_telling_field_all_equal_fields_are_the_decisive_term():
    original = make(0, "done", id="a", key=key(file="a.csv", n=1))

    verdict = verdict_of(original, skip(1, of="a", key=key(file="a.csv", n=1)))

    assert verdict.decisive == "Because file and n are equal: a.csv, 1."


def test_a_field_that_differs_is_named_against_the_claim():
    original = make(0, "done", id="a", key=key(file="a.csv", n=1))

    verdict = verdict_of(original, skip(1, of="a", key=key(file="a.csv", n=2)))

    assert verdict.decisive == "Although n differs: 2 here, 1 there."


@pytest.mark.parametrize(
    "original",
    [make(0, "done", id="a"), make(0, "done", id="a", key={"recipe": "x", "fields": {"n": 1}})],
    ids=["no key", "another recipe"],
)
def test_keys_that_cannot_be_compared_decide_nothing(original):
    assert verdict_of(original, skip(1, of="a", key=key(n=1))).decisive == ""


def test_a_condition_is_its_own_decisive_term():
    one = skip(0, reason="condition_false", **RULE, condition={"result": False, "inputs": {"n": 0}})

    assert verdict_of(one).decisive == 'Because the condition came out false, with {"n":0}.'


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        (
            {"result": False, "inputs": {"n": 0}},
            'Although a condition was sent, which came out false, with {"n":0}.',
        ),
        ({"inputs": {"n": 0}}, "Although a condition was sent, which has no result."),
    ],
    ids=["a result", "no result"],
)
def test_a_condition_without_its_rule_is_named_and_explains_nothing(condition, expected):
    assert verdict_of(skip(0, reason="condition_false", condition=condition)).decisive == expected


@pytest.mark.parametrize("reason", ["paused", "already_done"])
def test_equal_keys_decide_nothing_where_nothing_explains_or_a_skip_is_named(reason):
    named = skip(0, id="a", of="b", key=key(n=1))

    assert verdict_of(named, skip(1, of="a", reason=reason, key=key(n=1))).decisive == ""


@pytest.mark.parametrize("missing", ["scope", "id", "generation"])
def test_half_a_name_of_an_invoke_does_not_make_two_calls_the_same_start(missing):
    invoke = {"scope": "s", "id": "i", "generation": "4"}
    invoke.pop(missing)
    first = make(0, "enqueue", invoke=invoke, **JOB)

    verdict = verdict_of(
        first,
        make(1, "done", **JOB),
        skip(2, of_job="101", reason="already_done", invoke=invoke),
    )

    assert verdict.sentence == "Skipped because it was already done: job 101 is done."


def test_a_failed_original_is_the_decisive_term():
    verdict = verdict_of(START, make(1, "fail", **JOB), skip(2, of="a", reason="in_flight"))

    assert verdict.decisive == "Because №1 says that it failed."


def test_the_start_of_a_claim_leads_to_the_done_of_that_claim():
    start, done = make(0, "start", id=TOKEN), make(1, "done", id=done_id(TOKEN))

    verdict = verdict_of(start, done, skip(2, of=TOKEN, reason="in_flight"))

    assert verdict.sentence == "Skipped because it was in flight; the work of №0 is done by now."


def test_the_reference_has_an_entry_for_every_code_and_no_other():
    text = Path("docs/reference/verdicts.md").read_text(encoding="utf-8")

    listed = re.findall(r"^### `([a-z_.]+)`$", text, re.MULTILINE)

    assert sorted(listed) == sorted(words.VERDICT_CODES)


@pytest.mark.parametrize("code", words.VERDICT_CODES)
def test_the_reference_quotes_how_the_sentence_of_a_code_begins(code):
    text = Path("docs/reference/verdicts.md").read_text(encoding="utf-8")
    entry = text.split(f"### `{code}`\n", 1)[1].split("\n### ", 1)[0]

    begins = sentences.CLAUSES.get(code) or sentences.PLAIN.get(code, "").split("{")[0]

    assert f"> {begins}" in entry
    assert f"Shown as “{words.badge(code).word}”." in entry


@pytest.mark.parametrize("reason", sorted(words.NEEDS_RULE))
def test_what_only_a_rule_explains_is_not_explained_by_an_original(reason: str):
    verdict = verdict_of(make(0, "done", id="a"), skip(1, of="a", reason=reason))

    assert verdict.code == "skip.unexplained"
    assert verdict.sentence.endswith("but it names no rule and no switch.")


def test_a_switch_is_not_called_a_condition():
    verdict = verdict_of(skip(0, switch={"name": "mail.paused"}))

    assert verdict.sentence == "Skipped because of the switch mail.paused."


def test_a_job_without_the_same_key_was_not_asked_for_twice():
    verdict = verdict_of(
        make(0, "enqueue", **JOB),
        make(1, "done", **JOB),
        skip(2, of_job="101", reason="already_done"),
    )

    assert verdict.sentence == "Skipped because it was already done: job 101 is done."
