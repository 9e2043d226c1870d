"""Recording policies: which list a task falls into, which is in force, and what that hides."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from counterfoil import policy as clients
from hypothesis import given
from hypothesis import strategies as st

from ledger.domain import policies
from ledger.domain.pointers import Finding, find_pointer
from ledger.domain.policies import Policy, choice_of, in_force, policy_of
from ledger.domain.statement import Statement
from tests.unit.ledger.celery import SHOP, policy, tally, turned_away
from tests.unit.ledger.shelf import Shelf, at, make


def of(**lists: tuple[str, ...]) -> Policy:
    return Policy(0, "r0", "celery/shop", at("09:00"), "1", **lists)


CHOICES: dict[str, tuple[Policy, str, tuple[str, str]]] = {
    "a plain name before any pattern": (
        of(never=("mail.send",), each=("mail.*",)), "mail.send", ("never", "mail.send"),
    ),
    "more literal characters first": (
        of(each=("*",), never=("health.*",)), "health.ping", ("never", "health.*"),
    ),
    "of two that are alike, the one that keeps more": (
        of(each=("a.*",), tally=("a.*",), never=("a.*",)), "a.b", ("each", "a.*"),
    ),
    "tallied where nothing matches": (of(each=("a.*",)), "b", ("tally", "")),
    "capitals are told apart": (of(never=("Mail.*",)), "mail.send", ("tally", "")),
    "a set of characters is one wild card": (
        of(each=("job[12]",), never=("job?",)), "job1", ("each", "job[12]"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("one", "task", "expected"), CHOICES.values(), ids=CHOICES)
def test_which_list_a_task_falls_into(one: Policy, task: str, expected: tuple[str, str]) -> None:
    assert choice_of(one, task) == expected


PATTERNS = st.lists(st.sampled_from(["*", "a*", "a.b", "a.*", "?.b", "[ab].*", "b"]), max_size=3)


@given(PATTERNS, PATTERNS, PATTERNS, st.sampled_from(["a", "b", "a.b", "b.b", "c"]))
def test_the_ledger_chooses_as_the_client_does(
    each: list[str], tally: list[str], never: list[str], task: str
) -> None:
    given_lists = {"each": each, "tally": tally, "never": never}
    theirs = clients.made(given_lists)
    ours = of(**{name: tuple(getattr(theirs, name)) for name in given_lists})

    assert choice_of(ours, task)[0] == theirs.choice(task)


def test_a_policy_is_read_from_its_announcement() -> None:
    read = policy_of(policy(3, "09:30", version="3", each=["a.*"], never=["b"]))

    assert read == Policy(
        3, "r3", "celery/shop", at("09:30"), "3", each=("a.*",), tally=(), never=("b",),
        voice="oban/prod-1", token=1,
    )  # fmt: skip


def test_a_policy_is_in_force_no_longer_than_a_day_before_it_was_received() -> None:
    came = at("12:00") + timedelta(days=400)

    late = policy_of(policy(0, "09:30", received=came))
    soon = policy_of(policy(0, "09:30", received=at("09:30") + timedelta(hours=24)))

    assert late is not None and late.at == came - timedelta(hours=24)
    assert soon is not None and soon.at == at("09:30")


@pytest.mark.parametrize(
    ("known", "voice"),
    [
        ({"source_default": ("celery", "shop"), "token_id": 2}, "celery/shop"),
        ({"source_default": ("", ""), "token_id": 2}, "token:2"),
        ({"source_default": ("", ""), "token_id": None}, ""),
    ],
    ids=["a token made for a source", "a token made for none", "ourselves"],
)
def test_a_policy_speaks_for_its_token_or_for_all_of_one_source(
    known: dict[str, Any], voice: str
) -> None:
    read = policy_of(policy(0, **known))

    assert read is not None
    assert (read.voice, read.token) == (voice, known["token_id"])


@pytest.mark.parametrize(
    "other",
    [
        make(0, "observe", what="heads"),
        make(0, "done", body={"what": "policy"}),
        make(0, "observe", what="policy", state="quarantined"),
    ],
    ids=["another observation", "another kind", "set aside"],
)
def test_nothing_else_is_a_policy(other: Statement) -> None:
    assert policy_of(other) is None


def test_bad_lists_are_read_as_far_as_they_can_be() -> None:
    read = policy_of(policy(0, version=7, each="a.*", tally=["x", 5, None, {}], never={"a": 1}))

    assert read is not None
    assert (read.version, read.each, read.tally, read.never) == ("7", (), ("x", "5"), ())


def announced(*clocks: str) -> list[Policy]:
    made = (policy_of(policy(leaf, clock, version=clock)) for leaf, clock in enumerate(clocks))
    return [one for one in made if one is not None]


@pytest.mark.parametrize(
    ("clock", "expected"),
    [
        ("08:59", []),
        ("08:59:40", ["09:00"]),
        ("09:30", ["09:00"]),
        ("10:30", ["10:00", "09:00"]),
    ],
    ids=["before all", "by clocks that differ", "the first", "both within a day"],
)
def test_which_policies_were_in_force(clock: str, expected: list[str]) -> None:
    found = in_force(announced("10:00", "09:00"), at(clock))

    assert [one.version for one in found] == expected


def test_what_was_replaced_more_than_a_day_ago_does_not_count() -> None:
    found = in_force(announced("09:00", "10:00"), at("10:00") + timedelta(hours=25))

    assert [one.version for one in found] == ["10:00"]


NEVER = policy(0, version="1", never=["mail.*"])
TALLIED = policy(0, version="1", tally=["*"])
EACH = policy(0, version="1", each=["*"])
OF_9 = {"original": {"job": "9"}}
OWN = {"key": {"recipe": "own", "fields": {"n": 1}}}
ONCE = {"key": {"recipe": "celery.once", "fields": {"n": 1}}}
ELSEWHERE = {"original": {"job": "9", "source": {"system": "celery", "instance": "other"}}}
SomeCase = tuple[list[Statement], dict[str, Any], str, str]

LEFT_OUT: dict[str, SomeCase] = {
    "never": ([NEVER, turned_away(1, **OF_9)], {}, "unrecorded", "policy-never"),
    "tallied, and every tally lists its jobs": (
        [TALLIED, turned_away(1, **OF_9)], {}, "waiting", "",
    ),
    "tallied, and some tally lists none": (
        [TALLIED, turned_away(1, **OF_9)], {"lists_all": False}, "unrecorded",
        "tally-without-jobs",
    ),
    "kept singly": ([EACH, turned_away(1, **OF_9)], {}, "waiting", ""),
    "no policy": ([turned_away(1, **OF_9)], {}, "waiting", ""),
    "of another source, which announced nothing": (
        [NEVER, turned_away(1, **ELSEWHERE)], {}, "waiting", "",
    ),
    "a skip that tells no task, where some are never kept": (
        [NEVER, turned_away(1, job={}, **OF_9)], {}, "unrecorded", "policy-may",
    ),
    "a skip that tells no task, where all are kept": (
        [EACH, turned_away(1, job={}, **OF_9)], {}, "waiting", "",
    ),
    "a key, of a task that is tallied": (
        [TALLIED, turned_away(1, **OWN)], {}, "unrecorded", "policy-keyless",
    ),
    "a key, of a task that is never kept": (
        [NEVER, turned_away(1, **OWN)], {}, "unrecorded", "policy-never",
    ),
    "a key of a lock, whose enqueues are always kept": (
        [NEVER, turned_away(1, **ONCE)], {}, "waiting", "",
    ),
    "a receipt by its id is no outcome of a task": (
        [NEVER, turned_away(1, original={"receipt": "a"})], {}, "waiting", "",
    ),
    "announced after the skip arrived, and in force before": (
        [policy(2, "08:00", version="1", never=["mail.*"]), turned_away(1, **OF_9)], {},
        "unrecorded", "policy-never",
    ),
    "announced for a later time": (
        [policy(0, "11:00", version="1", never=["mail.*"]), turned_away(1, **OF_9)], {},
        "waiting", "",
    ),
    "a skip that leads on to what a policy left out": (
        [
            NEVER, turned_away(1, id="a", **OF_9),
            make(2, "skip", source=SHOP, reason="redelivery", original={"receipt": "a"}),
        ], {}, "unrecorded", "policy-never",
    ),
}  # fmt: skip


def by(token: int | None, source: str = "") -> dict[str, Any]:
    """Give what the ledger knows of a token, with the source that it was made for."""
    system, _, instance = source.partition("/")
    return {"token_id": token, "source_default": (system, instance)}


FORGED = {"version": "forged", "never": ["*"]}
LONG_AGO = {"received": at("09:00") + timedelta(days=2_000)}

VOICES: dict[str, tuple[Statement, Statement, str]] = {
    "another token": (policy(0, **FORGED, **by(2)), turned_away(1, **OF_9, **by(1)), "waiting"),
    "another token, by key": (
        policy(0, **FORGED, **by(2)), turned_away(1, **OWN, **by(1)), "waiting",
    ),
    "the same token": (policy(0, **FORGED, **by(1)), turned_away(1, **OF_9, **by(1)), "unrecorded"),
    "another token made for the same source": (
        policy(0, **FORGED, **by(2, "celery/shop")),
        turned_away(1, **OF_9, **by(1, "celery/shop")), "unrecorded",
    ),
    "a token made for the source, where the skip's is made for none": (
        policy(0, **FORGED, **by(2, "celery/shop")), turned_away(1, **OF_9, **by(1)), "waiting",
    ),
    "a token that is none": (
        policy(0, **FORGED, **by(2)), turned_away(1, **OF_9, **by(None)), "waiting",
    ),
    "the same token, backdated by years": (
        policy(0, **FORGED, **LONG_AGO, **by(1)), turned_away(1, **OF_9, **by(1)), "waiting",
    ),
    "of another source, by a token made for it": (
        make(
            0, "observe", what="policy", source=ELSEWHERE["original"]["source"], **FORGED,
            **by(2, "celery/other"),
        ), turned_away(1, job={}, **ELSEWHERE, **by(1)), "unrecorded",
    ),
    "of another source, by the skip's own token": (
        policy(0, **FORGED, **by(1)), turned_away(1, job={}, **ELSEWHERE, **by(1)), "waiting",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("told", "pointing", "state"), VOICES.values(), ids=VOICES)
def test_a_policy_explains_only_what_comes_by_its_own_token_or_source(
    told: Statement, pointing: Statement, state: str
) -> None:
    assert found_by([told, pointing]).state == state


def test_a_policy_of_another_token_does_not_replace_ones_own() -> None:
    before = {"body": {"occurred_at": "2026-10-01T08:00:00Z"}, "received": at("00:00")}
    own = policy(0, never=["mail.*"], **before, **by(1))
    forged = policy(1, "05:00", each=["*"], **by(2))
    next_day = {"body": {"occurred_at": "2026-10-06T09:00:00Z"}}

    found = found_by([own, forged, turned_away(2, **OF_9, **next_day, **by(1))])

    assert found.left_out is not None and found.left_out.policy.leaf == 0


def found_by(log: list[Statement], **shelf: Any) -> Finding:
    found = find_pointer(log[-1], Shelf(log, **shelf))
    assert found is not None
    return found


@pytest.mark.parametrize(("log", "shelf", "state", "rule"), LEFT_OUT.values(), ids=LEFT_OUT)
def test_what_a_policy_left_out_is_unrecorded_and_never_missing(
    log: list[Statement], shelf: dict[str, Any], state: str, rule: str
) -> None:
    found = found_by(log, **shelf)

    assert (found.state, found.left_out.rule if found.left_out else "") == (state, rule)


def test_every_rule_says_why() -> None:
    rules = {rule for *_, rule in LEFT_OUT.values()} - {""}

    assert rules == set(policies.WHY)


ROWS = {1: [["mail.send", "9", "done", 4], ["mail.send", 10, "retried", 4, 12], ["torn"], 7]}

TALLIES: dict[str, tuple[list[Statement], tuple[str, str, int | None, int | None]]] = {
    "done": ([tally(1), turned_away(2, **OF_9)], ("resolved", "done", 1, 1)),
    "retried": (
        [tally(1), turned_away(2, original={"job": "10"})], ("resolved", "running", 1, None),
    ),
    "not in it": (
        [tally(1), turned_away(2, original={"job": "11"})], ("waiting", "", None, None),
    ),
    "in it, though a policy leaves it out": (
        [NEVER, tally(1), turned_away(2, **OF_9)], ("resolved", "done", 1, 1),
    ),
    "after the skip": ([tally(1, "09:30"), turned_away(0, **OF_9)], ("resolved", "done", 1, 1)),
    "after the deadline": (
        [tally(1, received=at("09:00") + timedelta(days=2)), turned_away(0, **OF_9)],
        ("resolved-late", "done", 1, 1),
    ),
    "beside a start of its own": (
        [make(0, "start", source=SHOP, job={"id": "9"}), tally(1), turned_away(2, **OF_9)],
        ("resolved", "done", 0, 1),
    ),
    "and failed later": (
        [tally(1, "09:00"), make(2, "fail", "09:30", source=SHOP, job={"id": "9"}),
         turned_away(3, **OF_9)],
        ("resolved", "failed", 2, 2),
    ),
    "named as a receipt, which is of the wrong kind": (
        [tally(1, id="t"), turned_away(2, original={"receipt": "t"})],
        ("wrong-kind", "", None, None),
    ),
}  # fmt: skip


@pytest.mark.parametrize(("log", "expected"), TALLIES.values(), ids=TALLIES)
def test_a_job_that_only_a_tally_lists_is_found(
    log: list[Statement], expected: tuple[str, str, int | None, int | None]
) -> None:
    found = found_by(log, rows=ROWS)

    assert (found.state, found.outcome, found.target_leaf, found.terminal_leaf) == expected
