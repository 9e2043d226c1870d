"""Each state of a pointer, reached by a real log and told by list, explanation and subject."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from access.models import ApiToken
from access.rows import ProjectRow
from kit import ids
from ledger import documents, ingest, keys, sequence
from ledger.domain.draft import Envelope
from ledger.domain.receipt_ids import read_id
from ledger.models import PointerEvent
from tests import factories, stories
from tests.databases import Database

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
DONE = "8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16"
MASKED_TWIN = "8ee956d2-4597-4fcf-8c6b-5f5f5c5bac16"
DAY = timedelta(hours=24)
Body = dict[str, Any]


@dataclass
class Bench:
    """A project to post to at chosen times, and to read from at others."""

    project: ProjectRow
    tokens: dict[str, int] = field(default_factory=dict)

    @property
    def project_id(self) -> int:
        return self.project.id

    def post(self, at: datetime, *bodies: Body | bytes, source: str = "oban/prod-1") -> list[str]:
        """Hand bodies in and derive them, all at one moment; gives their refs."""
        raws = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in bodies]
        given = Envelope(self.project_id, at, token_id=self.token(source))
        with time_machine.travel(at, tick=False):
            outcomes = ingest.ingest(raws, given)
            sequence.sequence(self.project_id)
            stories.derive_in(self.project_id, 500)
        return [ids.ref_of(one.receipt) for one in outcomes]

    def token(self, source: str) -> int:
        if source not in self.tokens:
            listing, _ = factories.make_token(self.project, name=source, source=source)
            self.tokens[source] = ApiToken.objects.get(prefix=listing.prefix).pk
        return self.tokens[source]

    def explain(self, ref: str, at: datetime) -> Body:
        with time_machine.travel(at, tick=False):
            return documents.explanation(self.project_id, ref)

    def listed(self, q: str, at: datetime) -> list[str]:
        with time_machine.travel(at, tick=False):
            asked = documents.asked(self.project_id, q)
            return [one["ref"] for one in documents.receipt_list(self.project_id, asked)["items"]]

    def item(self, ref: str, at: datetime) -> Body:
        with time_machine.travel(at, tick=False):
            found = documents.receipt_list(self.project_id, documents.asked(self.project_id, ref))
        (item,) = found["items"]
        return dict(item)

    def state(self, ref: str, at: datetime) -> str:
        """Give the pointer's state, once all who tell of it agree, verdict and level too."""
        told, item = self.explain(ref, at), self.item(ref, at)
        state: str = told["pointer"]["state"]
        assert item["pointer"]["state"] == state
        assert item["verdict"]["code"] == told["verdict"]["code"]
        assert item["level"] == told["verdict"]["level"]
        assert ref in self.listed(f"pointer:{state}", at)
        assert ref in self.listed(f"verdict:{item['verdict']['code']}", at)
        return state

    def is_unresolved(self, ref: str, at: datetime) -> bool:
        return ref in self.listed("pointer:unresolved", at)

    def verdict(self, ref: str, at: datetime) -> str:
        code: str = self.explain(ref, at)["verdict"]["code"]
        return code


@pytest.fixture
def bench(shared_database: Database) -> Iterator[Bench]:
    keys.forget()
    with time_machine.travel(NINE, tick=False):
        project = factories.make_project()
    yield Bench(project)
    keys.forget()


def skip(**members: Any) -> Body:
    return {"kind": "skip", "reason": "already_done", **members}


def after(**span: float) -> datetime:
    return NINE + timedelta(**span)


def test_a_done_and_a_skip_that_names_it_are_resolved_with_hops_and_a_sentence(
    bench: Bench,
) -> None:
    (done,) = bench.post(NINE, {"kind": "done", "id": DONE})
    (skipped,) = bench.post(after(seconds=30), skip(original={"receipt": DONE.upper()}))

    told = bench.explain(skipped, after(minutes=1))

    assert bench.state(skipped, after(minutes=1)) == "resolved"
    assert told["pointer"]["terminal"] == done
    assert [hop["ref"] for hop in told["pointer"]["hops"]] == [skipped, done]
    assert told["verdict"]["code"] == "skip.already_done"
    assert told["verdict"]["sentence"].endswith(".")
    assert not bench.is_unresolved(skipped, after(days=9))


def test_a_pointer_to_the_first_leaf_of_the_log_through_a_chain_names_that_leaf(
    bench: Bench,
) -> None:
    (first,) = bench.post(NINE, skip(id="s0", original={"receipt": "d1"}))
    bench.post(after(seconds=1), {"kind": "done", "id": "d1"})
    (last,) = bench.post(after(seconds=2), skip(original={"receipt": "s0"}))

    assert bench.explain(first, after(minutes=1))["leaf_index"] == "0"
    assert bench.state(last, after(minutes=1)) == "resolved-chain"
    assert bench.item(last, after(minutes=1))["pointer"]["target"] == first
    assert bench.explain(last, after(minutes=1))["original"]["ref"] == first


def test_a_pointer_is_pending_until_it_is_due_and_dangles_from_that_moment(bench: Bench) -> None:
    (skipped,) = bench.post(NINE, skip(original={"receipt": "d1"}))
    due = NINE + DAY
    instant = timedelta(microseconds=1)

    assert bench.state(skipped, due - instant) == "pending"
    assert not bench.is_unresolved(skipped, due - instant)
    assert bench.verdict(skipped, due - instant) == "skip.already_done"
    assert bench.state(skipped, due) == "dangling"
    assert bench.is_unresolved(skipped, due)
    assert bench.verdict(skipped, due) == "skip.original_missing"
    assert PointerEvent.objects.filter(project_id=bench.project_id).count() == 1


@pytest.mark.parametrize(
    ("comes_after", "state"), [(DAY, "resolved"), (DAY + timedelta(seconds=1), "resolved-late")]
)
def test_an_original_that_comes_later_resolves_what_waited_for_it(
    bench: Bench, comes_after: timedelta, state: str
) -> None:
    (skipped,) = bench.post(NINE, skip(original={"receipt": "d1"}))
    (done,) = bench.post(NINE + comes_after, {"kind": "done", "id": "d1"})
    now = NINE + comes_after + timedelta(minutes=1)

    assert bench.state(skipped, now) == state
    assert bench.explain(skipped, now)["pointer"]["terminal"] == done
    assert not bench.is_unresolved(skipped, now)
    with time_machine.travel(now, tick=False):
        then = documents.explanation(bench.project_id, skipped, "n0")
    assert then["pointer"]["state"] == "pending"


def test_skips_that_point_to_each_other_are_a_cycle_and_so_is_one_that_points_to_itself(
    bench: Bench,
) -> None:
    refs = bench.post(
        NINE,
        skip(id="a", original={"receipt": "b"}),
        skip(id="b", original={"receipt": "a"}),
        skip(id="c", original={"receipt": "c"}),
    )

    assert [bench.state(ref, after(minutes=1)) for ref in refs] == ["cycle"] * 3
    assert all(bench.is_unresolved(ref, after(minutes=1)) for ref in refs)
    assert {bench.verdict(ref, after(minutes=1)) for ref in refs} == {"skip.unexplained"}


def test_an_id_that_holds_two_contents_is_ambiguous_from_the_second_on(bench: Bench) -> None:
    (first,) = bench.post(NINE, {"kind": "done", "id": "d1"})
    (skipped,) = bench.post(after(seconds=1), skip(original={"receipt": "d1"}))
    assert bench.state(skipped, after(minutes=1)) == "resolved"

    (second,) = bench.post(after(minutes=2), {"kind": "done", "id": "d1", "task": "other"})

    assert bench.state(skipped, after(minutes=3)) == "ambiguous"
    assert bench.is_unresolved(skipped, after(minutes=3))
    told = bench.explain(skipped, after(minutes=3))
    assert {one["ref"] for one in told["pointer"]["candidates"]} == {first, second}


def test_an_original_that_was_set_aside_is_told_as_that(bench: Bench) -> None:
    bench.post(NINE, b'{"id": "d1", "kind": 5}')
    (skipped,) = bench.post(after(seconds=1), skip(original={"receipt": "d1"}))

    assert bench.state(skipped, after(minutes=1)) == "target-quarantined"
    assert not bench.is_unresolved(skipped, after(minutes=1))

    bench.post(after(minutes=2), {"kind": "done", "id": "d1"})
    assert bench.state(skipped, after(minutes=3)) == "resolved"


@pytest.mark.parametrize("kind", ["heartbeat", "observe", "tally", "decide", "act"])
def test_what_is_no_work_is_the_wrong_kind_of_original(bench: Bench, kind: str) -> None:
    bench.post(NINE, {"kind": kind, "id": "d1"})
    (skipped,) = bench.post(after(seconds=1), skip(original={"receipt": "d1"}))

    assert bench.state(skipped, after(minutes=1)) == "wrong-kind"
    assert bench.is_unresolved(skipped, after(minutes=1))


@pytest.mark.parametrize("members", [{"original": None}, {}], ids=["null", "absent"])
def test_a_skip_with_neither_original_nor_rule_is_unexplained_and_unresolved(
    bench: Bench, members: Body
) -> None:
    (skipped,) = bench.post(NINE, skip(**members))

    assert bench.state(skipped, after(minutes=1)) == "missing-pointer"
    assert bench.verdict(skipped, after(minutes=1)) == "skip.unexplained"
    assert bench.is_unresolved(skipped, after(minutes=1))


def test_a_skip_for_a_rule_explains_itself_and_is_never_unresolved(bench: Bench) -> None:
    rule = {"name": "per-customer limit", "version": "7"}
    (skipped,) = bench.post(NINE, {"kind": "skip", "reason": "rate_limited", "rule": rule})

    assert bench.state(skipped, after(minutes=1)) == "not-needed"
    assert bench.verdict(skipped, after(minutes=1)) == "skip.rate_limited"
    assert not bench.is_unresolved(skipped, after(days=9))


def test_an_overdue_original_does_not_take_the_word_from_a_rule_that_explains(
    bench: Bench,
) -> None:
    body = {"kind": "skip", "reason": "rate_limited", "rule": {"name": "limit"}}
    (skipped,) = bench.post(NINE, {**body, "original": {"receipt": "never"}})

    assert bench.state(skipped, after(days=2)) == "dangling"
    assert bench.verdict(skipped, after(days=2)) == "skip.rate_limited"


def test_an_overdue_pointer_of_a_done_leaves_it_a_done(bench: Bench) -> None:
    (done,) = bench.post(NINE, {"kind": "done", "original": {"receipt": "never"}})

    assert bench.state(done, after(days=2)) == "dangling"
    assert bench.verdict(done, after(days=2)) == "done"


def test_a_skip_with_a_key_finds_its_original_by_it_and_says_reconstructed(bench: Bench) -> None:
    key = {"recipe": "calls", "fields": {"call": 1}}
    (start,) = bench.post(NINE, {"kind": "start", "key": key, "job": {"id": "7"}})
    (skipped,) = bench.post(after(seconds=9), skip(reason="in_flight", key=key))

    assert bench.state(skipped, after(minutes=1)) == "resolved-by-key"
    told = bench.explain(skipped, after(minutes=1))
    assert told["verdict"]["level"] == "reconstructed"
    assert told["original"]["ref"] == start


@pytest.mark.parametrize(
    ("comes_after", "state"),
    [(timedelta(minutes=10), "resolved-by-key"), (timedelta(minutes=10, seconds=1), "dangling")],
)
def test_a_lost_lock_finds_the_claim_up_to_ten_minutes_after_it(
    bench: Bench, comes_after: timedelta, state: str
) -> None:
    key = {"recipe": "calls", "fields": {"call": 1}}
    at = NINE.isoformat()
    (skipped,) = bench.post(NINE, skip(reason="lock_contended", key=key, occurred_at=at))
    assert bench.state(skipped, after(minutes=1)) == "pending"

    claimed = NINE + comes_after
    bench.post(claimed, {"kind": "start", "key": key, "occurred_at": claimed.isoformat()})

    assert bench.state(skipped, after(minutes=20)) == state
    lost = bench.verdict(skipped, after(minutes=20)) == "dedup.lock_contended_lost"
    assert lost == (state == "dangling")


def test_a_key_that_fits_several_originals_is_ambiguous(bench: Bench) -> None:
    key = {"recipe": "calls", "fields": {"call": 1}}
    starts = [{"kind": "start", "key": key, "job": {"id": number}} for number in ("7", "8")]
    refs = bench.post(NINE, *starts)
    (skipped,) = bench.post(after(seconds=9), skip(reason="in_flight", key=key))

    assert bench.state(skipped, after(minutes=1)) == "ambiguous"
    told = bench.explain(skipped, after(minutes=1))
    assert {one["ref"] for one in told["pointer"]["candidates"]} == set(refs)


def test_an_original_by_key_stays_found_however_often_the_key_is_used_later(bench: Bench) -> None:
    key = {"recipe": "calls", "fields": {"call": 1}, "window_s": 60}
    old = [
        {
            "kind": "start",
            "key": key,
            "occurred_at": after(hours=at).isoformat(),
            "job": {"id": "a"},
        }
        for at in range(-50, -2)
    ]
    bench.post(NINE, *old)
    (start,) = bench.post(NINE, {"kind": "start", "key": key, "job": {"id": "b"}})
    (skipped,) = bench.post(after(seconds=9), skip(reason="in_flight", key=key))
    bench.post(
        after(hours=1),
        *[{"kind": "start", "key": key, "job": {"id": f"c{at}"}} for at in range(60)],
    )

    assert bench.state(skipped, after(hours=2)) == "resolved-by-key"
    assert bench.explain(skipped, after(hours=2))["original"]["ref"] == start


def test_a_skip_found_through_another_that_is_found_by_key_follows_it(bench: Bench) -> None:
    key = {"recipe": "calls", "fields": {"call": 1}}
    (first,) = bench.post(NINE, skip(original={"receipt": "later"}))
    bench.post(after(hours=1), skip(id="later", reason="in_flight", key=key))
    assert bench.state(first, after(hours=1, minutes=1)) == "pending"

    at = after(minutes=50).isoformat()
    (start,) = bench.post(after(hours=2), {"kind": "start", "key": key, "occurred_at": at})

    assert bench.state(first, after(hours=3)) == "resolved-chain"
    assert bench.explain(first, after(hours=3))["pointer"]["hops"][-1]["ref"] == start


def test_a_version_digit_that_differs_is_a_hint_and_never_a_match(bench: Bench) -> None:
    (skipped,) = bench.post(NINE, skip(original={"receipt": DONE}))
    (twin,) = bench.post(after(hours=1), {"kind": "done", "id": MASKED_TWIN})

    assert read_id(DONE).masked == read_id(MASKED_TWIN).masked
    assert bench.state(skipped, after(days=2)) == "dangling"
    hint = bench.explain(skipped, after(days=2))["pointer"]["hint"]
    number = int(bench.explain(twin, after(days=2))["leaf_index"])
    assert hint == f"one receipt matches except for the version digit: №{number:,}"


def test_one_number_at_two_sources_is_two_jobs(bench: Bench) -> None:
    done = {"kind": "done", "job": {"id": "101"}}
    (here,) = bench.post(NINE, done, source="oban/prod-1")
    (there,) = bench.post(NINE, done, source="oban/prod-2")
    body = skip(original={"job": "101"})
    (first,) = bench.post(after(seconds=1), {**body, "id": "1"}, source="oban/prod-1")
    (second,) = bench.post(after(seconds=1), {**body, "id": "2"}, source="oban/prod-2")
    (third,) = bench.post(after(seconds=1), {**body, "id": "3"}, source="oban/prod-3")

    now = after(minutes=1)
    assert bench.explain(first, now)["original"]["ref"] == here
    assert bench.explain(second, now)["original"]["ref"] == there
    assert bench.state(third, now) == "pending"
    assert set(bench.listed("job:101 kind:done", now)) == {here, there}
    assert bench.listed("job:oban/prod-1/101 kind:done", now) == [here]


def test_a_job_named_with_another_source_is_found_there(bench: Bench) -> None:
    (done,) = bench.post(NINE, {"kind": "done", "job": {"id": "101"}}, source="oban/prod-2")
    named = {"job": "101", "source": {"system": "oban", "instance": "prod-2"}}
    (skipped,) = bench.post(after(seconds=1), skip(original=named), source="oban/prod-1")

    assert bench.state(skipped, after(minutes=1)) == "resolved"
    assert bench.explain(skipped, after(minutes=1))["original"]["ref"] == done


def test_a_job_that_was_skipped_for_is_followed_to_how_it_ended(bench: Bench) -> None:
    bench.post(NINE, {"kind": "start", "job": {"id": "101"}})
    (skipped,) = bench.post(
        after(seconds=1), skip(reason="in_flight", original={"job": "101"}, job={"task": "t"})
    )
    assert bench.explain(skipped, after(minutes=1))["pointer"]["terminal"] is None

    (failed,) = bench.post(after(minutes=2), {"kind": "fail", "job": {"id": "101"}})

    told = bench.explain(skipped, after(minutes=3))
    assert told["pointer"]["terminal"] == failed
    assert told["verdict"]["code"] == "skip.original_failed"
    assert bench.state(skipped, after(minutes=3)) == "resolved"


def test_a_subject_tells_what_became_of_it(bench: Bench) -> None:
    payout = {"subjects": [{"type": "payout", "id": "PO-88213"}]}
    (started,) = bench.post(NINE, {"kind": "start", "job": {"id": "9"}, **payout})
    (skipped,) = bench.post(
        after(seconds=1), skip(reason="in_flight", original={"job": "9"}, **payout)
    )

    def told(at: datetime, as_of: str = "") -> Body:
        with time_machine.travel(at, tick=False):
            return documents.subject(bench.project_id, "payout", "PO-88213", as_of)

    assert told(after(minutes=1))["became"] == "in_progress"
    (done,) = bench.post(after(minutes=2), {"kind": "done", "job": {"id": "9"}, **payout})
    last = told(after(minutes=3))
    assert (last["became"], last["by"]) == ("done", done)
    assert last["rule_words"].startswith("work on it is done")
    assert [one["ref"] for one in last["items"]] == [started, skipped, done]
    assert last["watched_since"] == NINE
    before = int(bench.explain(skipped, after(minutes=3))["leaf_index"])
    assert told(after(minutes=3), f"n{before}")["became"] == "in_progress"


def test_a_subject_that_nobody_named_has_nothing_recorded(bench: Bench) -> None:
    with time_machine.travel(NINE, tick=False):
        told = documents.subject(bench.project_id, "payout", "PO-1")
    assert (told["became"], told["items"]) == ("nothing_recorded", [])
