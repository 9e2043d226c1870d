"""Contradictions are found as receipts arrive, in any order, and are gone when one settles them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from jobs import documents
from jobs.domain import contradictions
from jobs.models import Contradiction
from jobs.projectors.checks.skips import ABOUT
from ledger import documents as ledger_documents
from ledger import keys
from ledger.domain import pointers, words
from ledger.projectors.book import Book
from tests import stories
from tests.databases import Database
from tests.desk import Desk

Body = dict[str, Any]
NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
OBAN = {"system": "oban", "instance": "prod-1", "via": "telemetry"}
READ = {**OBAN, "via": "row"}


def at(seconds: float) -> str:
    return (NINE + timedelta(seconds=seconds)).isoformat()


def body(kind: str, seconds: float = 0, **members: Any) -> Body:
    return {"kind": kind, "occurred_at": at(seconds), "source": OBAN, **members}


def row(number: int, state: str = "available", **job: Any) -> Body:
    named = {"id": str(number), "state": state, "attempt": 1, **job}
    return {"kind": "observe", "what": "row", "source": READ, "job": named}


def tell(desk: Desk, *bodies: Body) -> list[str]:
    """Post receipts one by one, each derived before the next; give their refs."""
    refs = []
    for one in bodies:
        refs.append(desk.post(one).document["ref"])
        desk.catch_up()
    return refs


@contextmanager
def later(**span: float) -> Iterator[None]:
    with time_machine.travel(datetime.now(UTC) + timedelta(**span), tick=False):
        yield


def standing(desk: Desk, as_of: str = "", **given: Any) -> list[tuple[str, list[str]]]:
    """Give what stands, as invariants with their receipts."""
    found = documents.contradiction_list(desk.project.id, as_of_text=as_of, **given)
    return [(one["invariant"], one["refs"]) for one in found["items"]]


def check(desk: Desk, invariant: str) -> Body:
    found = documents.contradiction_list(desk.project.id)["checks"]
    return next(one for one in found if one["invariant"] == invariant)


START = body("start", 3_600, id="s", job={"id": "101"})
SKIP = body("skip", id="k", reason="already_done", original={"job": "101"})


@pytest.mark.parametrize("bodies", [[START, SKIP], [SKIP, START]], ids=["in order", "skip first"])
def test_an_original_that_began_after_its_skip_is_found_whichever_comes_first(
    desk: Desk, bodies: list[Body]
) -> None:
    refs = dict(zip([one["id"] for one in bodies], tell(desk, *bodies), strict=True))

    assert standing(desk) == [("original_older", [refs["k"], refs["s"]])]


def test_a_skip_of_another_generation_is_found_as_the_lost_re_entry_that_it_is(desk: Desk) -> None:
    call = {"scope": "exec_b0", "id": "resolve"}
    key = {
        "recipe": "statifier.invoke",
        "version": "1",
        "fields": {"scope": "exec_b0", "invoke_id": "resolve"},
        "ignored": {"macrostep": 5},
    }
    stored, skip = tell(
        desk,
        body("enqueue", job={"id": "102"}, invoke={**call, "generation": "2"}),
        body("skip", 60, reason="in_flight", original={"job": "102"}, key=key,
             invoke={**call, "generation": "5"}),
    )  # fmt: skip

    assert standing(desk) == [("same_generation", [skip, stored])]
    explained = ledger_documents.explanation(desk.project.id, skip)
    assert explained["verdict"]["code"] == "dedup.lost_reentry"
    assert [one["refs"] for one in explained["contradictions"]] == [[stored]]


def test_a_pointer_that_comes_to_another_original_takes_its_contradiction_with_it(
    desk: Desk,
) -> None:
    skip, younger = tell(desk, SKIP, START)
    before = standing(desk)
    leaf = desk.read(f"receipts/{younger}")["leaf_index"]

    (older,) = tell(desk, body("enqueue", -60, job={"id": "101"}))

    assert before == [("original_older", [skip, younger])]
    assert standing(desk) == []
    assert standing(desk, f"n{leaf}") == before
    assert ledger_documents.explanation(desk.project.id, older)["contradictions"] == []


def test_a_skip_for_what_had_failed_is_found_when_the_failure_is_told(desk: Desk) -> None:
    _, skip, failed = tell(
        desk,
        body("start", -600, job={"id": "101"}),
        SKIP,
        body("fail", -300, job={"id": "101"}),
    )
    before = standing(desk)
    tell(desk, body("done", 60, job={"id": "101"}))

    assert before == [("original_succeeded", [skip, failed])]
    assert standing(desk) == []


KEY = {"recipe": "payouts", "fields": {"payout": "PO-1"}}


def test_each_further_done_of_a_key_stands_beside_the_one_before(desk: Desk) -> None:
    first, second, third = tell(desk, *(body("done", n, id=f"d{n}", key=KEY) for n in range(3)))

    assert standing(desk) == [("one_done", [third, second]), ("one_done", [second, first])]
    assert (check(desk, "one_done")["checked"], check(desk, "one_done")["not_checked"]) == (3, 0)


def test_a_hot_key_done_once_a_window_contradicts_nothing(desk: Desk) -> None:
    key = {**KEY, "window_s": 60}
    dones = [body("done", 61 * n, id=f"d{n}", key=key) for n in range(30)]
    desk.post_lines(*dones)
    desk.catch_up()

    assert standing(desk) == []


def test_a_window_counts_from_when_each_job_was_asked_for(desk: Desk) -> None:
    key = {**KEY, "window_s": 60}
    tell(
        desk,
        body("enqueue", 0, job={"id": "1"}),
        body("done", 58, job={"id": "1"}, key=key),
        body("enqueue", 61, job={"id": "2"}),
        body("done", 63, job={"id": "2"}, key=key),
    )

    assert standing(desk) == []


def test_a_retry_of_one_job_and_a_replay_contradict_nothing(desk: Desk) -> None:
    job = {"id": "101", "attempt": 1}
    done = body("done", id="d", key=KEY, job=job)
    tell(desk, done, done, body("done", 9, id="d2", key=KEY, job={**job, "attempt": 2}))
    tell(desk, body("skip", 10, reason="redelivery", original={"receipt": "d"}))

    assert standing(desk) == []


def test_a_key_that_was_released_may_be_done_again(desk: Desk) -> None:
    from ledger import ingest
    from ledger.domain.statement import key_digest

    digest = key_digest("oban", "prod-1", "payouts", (("payout", '"PO-1"'),))
    act = {"kind": "act", "occurred_at": at(60), "source": {"system": "counterfoil"},
           "actor": {"type": "person", "id": "u-17"},
           "act": {"verb": "release", "target": f"key:payouts/{digest}"}}  # fmt: skip
    tell(desk, body("done", key=KEY))
    ingest.record(desk.project.id, act, datetime.now(UTC))
    tell(desk, body("done", 120, key=KEY))

    assert standing(desk) == []


def test_a_done_without_a_start_counts_after_ten_minutes_and_not_when_its_start_comes(
    desk: Desk,
) -> None:
    task = {"task": "payout"}
    tell(desk, body("start", job={"id": "1", **task}))
    (done,) = tell(desk, body("done", job={"id": "2", **task}))

    with later(minutes=9):
        early, waiting = standing(desk), check(desk, "done_has_start")["waiting"]["count"]
    with later(minutes=11):
        found = standing(desk)
    tell(desk, body("start", job={"id": "2", **task}))
    with later(minutes=11):
        settled = standing(desk)

    assert (early, waiting) == ([], 1)
    assert found == [("done_has_start", [done])]
    assert settled == []


@pytest.mark.parametrize(
    "beginning",
    [
        body("start", id="0190a5e0-0000-7000-8000-000000000001"),
        body("start", key=KEY),
        body("enqueue", job={"id": "2"}),
        row(2, "completed"),
    ],
    ids=["the id that its own was made of", "its key", "its job, enqueued", "its job's row"],
)
@pytest.mark.parametrize("is_late", [False, True])
def test_a_done_is_begun_by_any_receipt_that_tells_of_its_beginning(
    desk: Desk, beginning: Body, is_late: bool
) -> None:
    from ledger.domain.statement import done_id

    own = done_id("0190a5e0-0000-7000-8000-000000000001")
    done = body("done", id=own, key=KEY, job={"id": "2", "task": "payout"},
                original={"receipt": "0190a5e0-0000-7000-8000-000000000001"})  # fmt: skip
    tell(desk, body("start", job={"id": "1", "task": "payout"}))

    tell(desk, *([done, beginning] if is_late else [beginning, done]))

    with later(minutes=11):
        assert "done_has_start" not in dict(standing(desk))


def test_dones_of_a_task_that_sends_no_starts_are_said_to_be_unchecked(desk: Desk) -> None:
    tell(
        desk,
        body("start", job={"id": "1", "task": "payout"}),
        body("done", job={"id": "2", "task": "mail"}),
    )

    found = check(desk, "done_has_start")

    with later(minutes=11):
        assert standing(desk) == []
    assert (found["state"], found["checked"]) == ("not_checked", 0)
    left_out = [(one["source"], one["task"], one["unchecked"]) for one in found["left_out"]]
    assert left_out == [("oban/prod-1", "mail", 1)]
    assert found["because"] == "No source sends starts of what it does."


def test_an_act_of_nobody_is_found(desk: Desk) -> None:
    act = {"verb": "pause", "target": "queue:payouts"}
    _, nobody = tell(desk, body("act", act=act, actor={"id": "u-17"}), body("act", act=act))

    assert standing(desk) == [("mutation_has_actor", [nobody])]


def test_numbers_that_never_come_are_a_hole_that_later_ones_split_and_fill(desk: Desk) -> None:
    def numbered(seq: int) -> Body:
        return body("start", invoke={"scope": "run", "id": "pay", "generation": "1", "seq": seq})

    first, fifth = tell(desk, numbered(1), numbered(5))
    with later(minutes=4):
        early = standing(desk)
    with later(minutes=6):
        whole = standing(desk)
        (third,) = tell(desk, numbered(3))
        split = standing(desk)
    tell(desk, numbered(2), numbered(4), numbered(4))
    with later(minutes=20):
        filled = standing(desk)

    assert early == filled == []
    assert whole == [("no_holes", [fifth, first])]
    assert sorted(split) == sorted([("no_holes", [fifth, third]), ("no_holes", [third, first])])


def test_scopes_and_generations_are_numbered_each_for_itself(desk: Desk) -> None:
    places = [("a", "1", 1), ("a", "2", 9), ("b", "1", 5)]
    tell(
        desk,
        *(body("start", invoke={"scope": scope, "id": "pay", "generation": generation, "seq": seq})
          for scope, generation, seq in places),
    )  # fmt: skip

    with later(minutes=6):
        assert standing(desk) == []


def test_without_any_numbers_holes_are_said_to_be_unchecked(desk: Desk) -> None:
    tell(desk, body("start", invoke={"scope": "run", "id": "pay", "generation": "1"}))

    found = check(desk, "no_holes")

    assert (found["state"], found["not_checked"]) == ("not_checked", 1)
    assert found["because"] == "No receipt carries a number of its scope and generation."


@pytest.mark.parametrize("is_row_first", [False, True])
def test_a_row_that_says_otherwise_than_a_done_is_found(desk: Desk, is_row_first: bool) -> None:
    done = body("done", job={"id": "101", "attempt": 1})
    other = row(101, "discarded", discarded_at=at(5))
    tell(desk, row(1))

    refs = tell(desk, *([other, done] if is_row_first else [done, other]))

    expected = refs[::-1] if is_row_first else refs
    assert standing(desk) == [("row_agrees", expected)]


def enqueue(number: int) -> Body:
    now = datetime.now(UTC).isoformat()
    return {"kind": "enqueue", "occurred_at": now, "source": OBAN, "job": {"id": str(number)}}


def test_a_job_that_the_reader_passed_and_never_saw_counts_after_ten_minutes(desk: Desk) -> None:
    _, told, passed = tell(desk, row(1), enqueue(101), row(102))

    with later(minutes=9):
        early = standing(desk)
    with later(minutes=11):
        found = standing(desk)
        tell(desk, row(101))
        settled = standing(desk)

    assert (early, settled) == ([], [])
    assert found == [("row_agrees", [told, passed])]
    held = check(desk, "row_agrees")
    assert (held["checked"], held["not_checked"]) == (1, 0)


@pytest.mark.parametrize(
    ("bodies", "why"),
    [
        ([enqueue(101), row(102)], "no reader had been heard of"),
        ([row(1), enqueue(101), row(100)], "the reader is not as far"),
        ([row(1), {**enqueue(101), "occurred_at": at(0)}, row(102)], "told long after it happened"),
        ([row(1), enqueue(101), body("deliver", job={"id": "101"}), row(102)], "it ran"),
        ([row(1), enqueue(101), {**body("prune"), "jobs": {"ids": ["101"]}}, row(102)], "pruned"),
    ],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_row_that_could_not_be_seen_is_no_contradiction(
    desk: Desk, bodies: list[Body], why: str
) -> None:
    tell(desk, *bodies)

    with later(minutes=11):
        assert standing(desk) == [], why


def test_without_a_reader_rows_are_said_to_be_unchecked(desk: Desk) -> None:
    tell(desk, enqueue(101), body("done", job={"id": "101"}))

    found = check(desk, "row_agrees")

    assert (found["state"], found["checked"], found["not_checked"]) == ("not_checked", 0, 2)


def test_a_row_that_was_passed_late_may_have_been_pruned(desk: Desk) -> None:
    tell(desk, row(1), enqueue(101))

    with later(minutes=2):
        tell(desk, row(102))
    with later(minutes=20):
        assert standing(desk) == []


def test_skips_are_counted_as_checked_once_their_original_tells_enough(desk: Desk) -> None:
    def counted() -> dict[str, tuple[str, int, int]]:
        found = documents.contradiction_list(desk.project.id)["checks"][:4]
        return {
            one["invariant"]: (one["state"], one["checked"], one["not_checked"]) for one in found
        }

    call = {"invoke": {"scope": "run", "id": "pay", "generation": "1"}}
    tell(desk, {**SKIP, **call})
    lost = counted()
    tell(desk, body("enqueue", -60, job={"id": "101"}, **call))
    running = counted()
    tell(desk, body("done", -30, job={"id": "101"}), body("skip", reason="rate_limited"))
    ended = counted()

    assert set(lost.values()) == {("not_checked", 0, 1)}
    assert running == {**dict.fromkeys(lost, ("holds", 1, 0)),
                       "original_succeeded": ("not_checked", 0, 1)}  # fmt: skip
    assert set(ended.values()) == {("holds", 1, 0)}


def test_without_scopes_none_are_said_to_agree(desk: Desk) -> None:
    tell(desk, body("enqueue", -60, job={"id": "101"}), SKIP)

    found = check(desk, "same_scope")

    assert (found["state"], found["checked"], found["not_checked"]) == ("not_checked", 0, 1)
    assert found["because"] == "No skip and its original both named a scope."


def test_pages_hold_each_contradiction_once_and_no_other_projects(
    desk: Desk, shared_database: Database
) -> None:
    other = Desk(shared_database, desk.loop)
    bodies = [body("done", n, id=f"d{n}", key=KEY) for n in range(6)]
    desk.post_lines(*bodies)
    desk.catch_up()
    other.post_lines(*bodies[:2])
    other.catch_up()

    pages = []
    cursor: str | None = ""
    while cursor is not None:
        page = documents.contradiction_list(desk.project.id, limit=2, cursor=cursor)
        pages.append([one["id"] for one in page["items"]])
        cursor = page["next"]

    assert [len(one) for one in pages] == [2, 2, 1]
    assert len({one for page in pages for one in page}) == 5
    assert len(standing(other)) == 1


@pytest.mark.slow
@pytest.mark.parametrize("seed", [51, 52, 53])
def test_what_stands_between_skips_and_originals_is_what_comparing_all_of_them_finds(
    sqlite_database: Database, seed: int
) -> None:
    keys.forget()
    story = stories.tell(seed, 120)
    leaves = stories.leaves_of(story)
    book = Book(story.project.id, len(leaves))

    expected = set()
    for leaf in leaves:
        one = book.get(leaf)
        found = pointers.find_pointer(one, book)
        if one.kind != "skip" or found is None or found.target_leaf is None:
            continue
        if found.state in words.FOUND:
            end = None if found.terminal_leaf is None else book.get(found.terminal_leaf)
            pairs = contradictions.find_of_skip(one, book.get(found.target_leaf), end)
            expected |= {(pair.invariant, pair.leaf, pair.other) for pair in pairs}

    rows = Contradiction.objects.filter(gone_leaf=None, invariant__in=ABOUT)
    assert set(rows.values_list("invariant", "leaf_index", "other_leaf")) == expected
    assert expected
