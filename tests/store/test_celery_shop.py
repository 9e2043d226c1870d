"""An hour of a Celery shop through the store: what each fact comes to, singly and in tallies."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine

from access.rows import ProjectRow
from jobs import documents as job_documents
from kit import bulk
from ledger import documents, ingest, keys, rebuild, sequence, tallied
from ledger.domain.draft import Envelope
from ledger.models import Entry, PolicyVersion, Tally, TallyJob
from ledger.registry import registry
from tests import factories, stories
from tests.databases import Database

DATA = Path(__file__).parents[1] / "data" / "celery_shop.ndjson"
LINES: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text().splitlines()]
NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)
SOURCE = {"system": "celery", "instance": "shop", "via": "signal"}
ROUNDS = (1, 7, 2_000)

VERDICTS: dict[str, tuple[str, str, str]] = {
    "p1-enqueue": ("fresh", "", ""),
    "p1-deliver": ("delivery.first", "", ""),
    "p1-start": ("fresh", "", ""),
    "p1-done": ("done", "", ""),
    "r1-deliver-2": ("delivery.again", "", ""),
    "r1-start-2": ("start.again", "", ""),
    "m1-deliver-2": ("delivery.again", "", ""),
    "m1-start-2": ("start.again", "", ""),
    "p2-retry": ("retry", "", ""),
    "p2-deliver-2": ("delivery.first", "", ""),
    "p2-start-2": ("fresh", "", ""),
    "s1-retry": ("retry.swallowed", "", ""),
    "s1-skip": ("skip.original_failed", "resolved", "failed"),
    "s2-skip": ("skip.in_flight", "resolved", "done"),
    "s2-skip-2": ("skip.already_done", "resolved", "done"),
    "s3-revoke": ("revoke.asked", "", ""),
    "s3-revoked": ("revoke.effected", "", ""),
    "s3-skip": ("skip.original_failed", "resolved", "cancelled"),
    "c1-skip": ("skip.in_flight", "resolved-by-key", "done"),
    "c2-skip": ("skip.in_flight", "resolved-by-key", "running"),
    "x1-skip": ("skip.in_flight", "resolved", "done"),
    "x3-skip": ("skip.in_flight", "resolved", "done"),
    "ping-skip": ("skip.in_flight", "unrecorded", ""),
    "key-skip": ("skip.in_flight", "unrecorded", ""),
    "lost-skip": ("skip.in_flight", "waiting", ""),
    "late-skip": ("skip.in_flight", "waiting", ""),
    "e1-expired": ("skip.expired", "not-needed", ""),
    "i1-ignored": ("skip.unexplained", "missing-pointer", ""),
    "j1-rejected": ("discard.rejected", "", ""),
    "j2-requeued": ("retry.requeued", "", ""),
    "u1-unknown": ("discard.unknown_task", "", ""),
    "undecodable": ("discard.undecodable", "", ""),
    "w1-lost": ("fail.worker_lost", "", ""),
    "w2-time": ("fail.time_limit", "", ""),
    "w3-failed": ("fail", "", ""),
    "ping-skip-2": ("skip.in_flight", "unrecorded", ""),
}
JOBS: dict[str, tuple[str, int | None, int]] = {
    "p1": ("done", 1, 1),
    "r1": ("done", 2, 2),
    "m1": ("done", 2, 2),
    "p2": ("done", 1, 2),
    "s1": ("retry.swallowed", 0, 0),
    "s2": ("done", None, 1),
    "s3": ("revoke.effected", 0, 0),
    "c1": ("done", None, 1),
    "e1": ("skip.expired", 0, 0),
    "i1": ("skip.unexplained", 0, 1),
    "x1": ("done", None, 1),
}
"""What a job came to, its deliveries where they were told, and its executions."""


@dataclass
class Shop:
    """A project that the history is handed in to."""

    project: ProjectRow

    def tell(self, *bodies: dict[str, Any], at: datetime = NOON, token: int | None = None) -> None:
        """Hand receipts in, and let them follow into the log."""
        envelope = Envelope(project_id=self.project.id, received_at=at, token_id=token)
        with time_machine.travel(at, tick=False):
            ingest.ingest([json.dumps(one).encode() for one in bodies], envelope)
            while sequence.sequence(self.project.id, 500):
                pass

    def derive(self, batch: int = 500) -> None:
        stories.derive_in(self.project.id, batch)

    def entry(self, name: str) -> Entry:
        return Entry.objects.get(project_id=self.project.id, id_text=name)

    def verdict(self, name: str) -> tuple[str, str, str]:
        entry = self.entry(name)
        return entry.verdict, entry.pointer_state, entry.outcome

    def explain(self, name: str, as_of: str = "", at: datetime = NOON) -> dict[str, Any]:
        with time_machine.travel(at, tick=False):
            leaf = self.entry(name).leaf_index
            return documents.explanation(self.project.id, f"n{leaf}", as_of)

    def job(self, number: str, as_of: str = "") -> dict[str, Any]:
        with time_machine.travel(NOON, tick=False):
            return job_documents.job(self.project.id, "celery", "shop", number, as_of)

    def dump(self) -> dict[str, list[str]]:
        return {table: stories_dump(table) for table in TABLES}


TABLES = (
    "tally", "tally_job", "policy_version", "task_sight", "entry", "pointer_event", "job",
    "attempt", "roll_up", "key_holder",
)  # fmt: skip


def stories_dump(table: str) -> list[str]:
    from ledger.dump import dump
    from ledger.shadow import live_name

    return list(dump(table, live_name(table)))


@pytest.fixture
def shop(database: Database) -> Iterator[Shop]:
    keys.forget()
    with time_machine.travel(NOON - timedelta(days=1), tick=False):
        project = factories.make_project("shop")
    yield Shop(project)
    keys.forget()


def told(shop: Shop, lines: Sequence[dict[str, Any]] = LINES, batch: int = 500) -> Shop:
    shop.tell(*lines)
    shop.derive(batch)
    return shop


def test_every_fact_of_the_shop_comes_to_its_verdict(shop: Shop) -> None:
    told(shop)

    assert {name: shop.verdict(name) for name in VERDICTS} == VERDICTS


def test_deliveries_and_executions_of_each_job_are_counted_apart(shop: Shop) -> None:
    told(shop)

    found = {number: shop.job(number) for number in JOBS}

    assert {
        number: (one["verdict"]["code"], one["deliveries"], one["executions"])
        for number, one in found.items()
    } == JOBS


@pytest.mark.parametrize("batch", [1, 2_000])
def test_the_order_of_arrival_and_the_size_of_batches_change_no_verdict(
    shop: Shop, batch: int
) -> None:
    told(shop, LINES[::-1], batch)

    assert {name: shop.verdict(name) for name in VERDICTS} == VERDICTS


def test_a_rebuild_gives_the_same_rows_in_batches_of_any_size(shop: Shop) -> None:
    told(shop)

    reports = [rebuild.rebuild(registry.projectors, batch=batch) for batch in ROUNDS]

    assert [(one.differing, one.first) for one in reports] == [(0, [])] * len(ROUNDS)
    assert all(shop.dump().values())


def test_the_hop_to_a_tally_says_so(shop: Shop) -> None:
    told(shop)

    pointer = shop.explain("x1-skip")["pointer"]

    assert [hop["state"] for hop in pointer["hops"]] == ["as sent", "tallied, done"]
    assert pointer["hops"][-1]["kind"] == "tally"
    assert pointer["chip"] == "found, done"


def test_a_job_that_ran_again_is_followed_from_one_tally_to_the_next(shop: Shop) -> None:
    told(shop)

    hops = shop.explain("x3-skip")["pointer"]["hops"]

    assert [hop["state"] for hop in hops] == ["as sent", "tallied", "tallied, done"]


def test_a_start_that_was_kept_singly_walks_on_to_a_done_in_a_tally(shop: Shop) -> None:
    told(shop)

    hops = shop.explain("c1-skip")["pointer"]["hops"]

    assert [hop["state"] for hop in hops] == ["by its key", "found", "tallied, done"]


def test_what_a_policy_left_out_is_explained_by_the_policy(shop: Shop) -> None:
    told(shop)

    told_of = shop.explain("ping-skip")

    assert told_of["pointer"]["chip"] == "not recorded by policy"
    assert told_of["pointer"]["policy"] == {
        "source": "celery/shop",
        "version": "1",
        "since": "2026-10-05T09:00:00.000000Z",
        "ref": told_of["pointer"]["policy"]["ref"],
        "leaf_index": "0",
        "token": None,
        "choice": "never",
        "pattern": "health.*",
        "task": "health.ping",
        "rule": "policy-never",
    }
    assert told_of["verdict"]["decisive"] == (
        "Because the policy in force says “never” for “health.*”."
    )
    assert told_of["will_run"]["answer"] == "unknown"


FORGED = {
    "id": "forged", "kind": "observe", "occurred_at": "2020-01-01T00:00:00Z", "source": SOURCE,
    "what": "policy", "version": "forged", "never": ["*"],
}  # fmt: skip
MISSED = {
    "id": "missed", "kind": "skip", "occurred_at": "2026-10-05T11:00:00Z", "source": SOURCE,
    "job": {"task": "payouts.send"}, "reason": "in_flight", "original": {"job": "never-came"},
}  # fmt: skip
SHORT_TALLY = {
    "id": "short", "kind": "tally", "occurred_at": "2026-10-05T11:00:00Z", "source": SOURCE,
    "counts": [{"task": "payouts.send", "done": 3}],
}  # fmt: skip
TALLYING = {**FORGED, "id": "tallying", "version": "1", "never": [], "tally": ["*"]}


def token_of(shop: Shop, name: str, source: str = "") -> int:
    return factories.make_token(shop.project, name=name, source=source)[0].id


def test_a_token_explains_nothing_that_another_misses(shop: Shop) -> None:
    own, other = token_of(shop, "own"), token_of(shop, "other")

    shop.tell(FORGED, token=other)
    shop.tell(MISSED, token=own)
    shop.derive()
    before = shop.verdict("missed")
    shop.tell({**FORGED, "id": "again", "version": "again"}, token=other)
    shop.derive()

    assert before == shop.verdict("missed") == ("skip.in_flight", "waiting", "")


def test_a_tally_without_jobs_of_another_token_explains_nothing_either(shop: Shop) -> None:
    own, other = token_of(shop, "own"), token_of(shop, "other")

    shop.tell(SHORT_TALLY, token=other)
    shop.tell(TALLYING, MISSED, token=own)
    shop.derive()
    before = shop.verdict("missed")
    shop.tell({**SHORT_TALLY, "id": "own"}, token=own)
    shop.derive()

    assert before == ("skip.in_flight", "waiting", "")
    assert shop.verdict("missed") == ("skip.in_flight", "unrecorded", "")


def test_tokens_of_one_source_speak_for_each_other_and_are_named(shop: Shop) -> None:
    one, two = token_of(shop, "worker", "celery/shop"), token_of(shop, "web", "celery/shop")

    shop.tell(FORGED, token=one)
    shop.tell(MISSED, token=two)
    shop.tell({**FORGED, "id": "alone", "never": []}, token=token_of(shop, "alone"))
    shop.derive()

    assert shop.verdict("missed") == ("skip.in_flight", "unrecorded", "")
    assert shop.explain("missed")["pointer"]["policy"]["token"] == "worker"
    with time_machine.travel(NOON, tick=False):
        items = documents.policy_list(shop.project.id)["items"]
    assert [(one["token"], one["until"]) for one in items] == [("worker", None), ("alone", None)]
    reports = [rebuild.rebuild(registry.projectors, batch=batch) for batch in ROUNDS]
    assert [(one.differing, one.first) for one in reports] == [(0, [])] * len(ROUNDS)


def test_a_backdated_policy_counts_from_a_day_before_it_came(shop: Shop) -> None:
    late = NOON + timedelta(hours=30)
    shop.tell(MISSED, {**MISSED, "id": "later", "occurred_at": "2026-10-05T19:00:00Z"})
    shop.tell(FORGED, at=late)
    shop.derive()

    assert shop.verdict("missed") == ("skip.in_flight", "waiting", "")
    assert shop.verdict("later") == ("skip.in_flight", "unrecorded", "")


def test_a_later_policy_leaves_nothing_out_from_a_day_on(shop: Shop) -> None:
    told(shop)
    late = {**LINES[-1], "id": "ping-skip-3", "occurred_at": "2026-10-06T09:40:01Z"}

    shop.tell(late, at=NOON + timedelta(days=1))
    shop.derive()

    assert shop.verdict("ping-skip-3") == ("skip.in_flight", "waiting", "")


def test_a_policy_that_arrives_after_the_skip_still_counts(shop: Shop) -> None:
    policy, rest = LINES[0], LINES[1:]
    told(shop, rest)
    before = shop.verdict("ping-skip")

    shop.tell(policy)
    shop.derive()

    assert before == ("skip.in_flight", "waiting", "")
    assert shop.verdict("ping-skip") == VERDICTS["ping-skip"]


def test_a_job_that_is_recorded_after_all_is_found_though_a_policy_leaves_it_out(
    shop: Shop,
) -> None:
    told(shop)
    job = {"task": "health.ping", "id": "h1"}
    at = "2026-10-05T09:11:02Z"

    shop.tell({"kind": "fail", "id": "h1-fail", "occurred_at": at, "source": SOURCE, "job": job})
    shop.derive()

    assert shop.verdict("ping-skip") == ("skip.original_failed", "resolved", "failed")


def test_a_tally_that_comes_before_the_deadline_is_found_like_any_other(shop: Shop) -> None:
    told(shop)

    shop.tell(tally_of("x9"), at=NOON + timedelta(hours=23))
    shop.derive()

    assert shop.verdict("late-skip") == ("skip.already_done", "resolved", "done")


def test_a_tally_that_comes_after_the_deadline_is_found_late(shop: Shop) -> None:
    told(shop)
    before = shop.explain("late-skip", at=NOON + timedelta(hours=25))["pointer"]["state"]

    shop.tell(tally_of("x9"), at=NOON + timedelta(hours=26))
    shop.derive()

    assert before == "dangling"
    assert shop.verdict("late-skip") == ("skip.already_done", "resolved-late", "done")


def tally_of(number: str, **more: Any) -> dict[str, Any]:
    counts = [{"task": "mail.send", "queue": "mail", "done": 1, "retried": 0}]
    at, rows = "2026-10-05T09:12:00Z", [["mail.send", number, "done", 3]]
    body = {"kind": "tally", "occurred_at": at, "source": SOURCE, "counts": counts}
    return {**body, "data": {"jobs": rows}, **more}


def test_a_tally_without_its_jobs_makes_a_pointer_unrecorded(shop: Shop) -> None:
    told(shop)

    shop.tell(tally_of("x9", data={}))
    shop.derive()

    assert shop.verdict("late-skip") == ("skip.in_flight", "unrecorded", "")
    assert shop.explain("late-skip")["pointer"]["policy"]["rule"] == "tally-without-jobs"


def test_a_page_of_the_past_knows_no_later_tally_and_no_later_policy(shop: Shop) -> None:
    told(shop)
    leaf = shop.entry("x1-skip").leaf_index
    tally = Tally.objects.order_by("leaf_index").first()
    assert tally is not None
    shop.tell(tally_of("x9"))
    shop.derive()

    then = shop.explain("late-skip", as_of=f"n{shop.entry('late-skip').leaf_index}")
    now = shop.explain("late-skip")

    assert leaf > tally.leaf_index
    assert (then["pointer"]["state"], now["pointer"]["state"]) == ("pending", "resolved")


def test_two_jobs_that_share_a_hash_are_told_apart_by_reading_the_tally(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tallied, "job_hash", lambda project_id, name: 7)

    told(shop)

    assert {name: shop.verdict(name) for name in VERDICTS} == VERDICTS
    assert {row.job for row in TallyJob.objects.all()} == {7}


def test_a_tallied_job_has_a_page_and_no_row(shop: Shop) -> None:
    told(shop)

    document = shop.job("x1")

    assert not job_is_stored("celery/shop/x1")
    assert document["verdict"]["sentence"] == "It was done, as a tally tells."
    assert [one["state"] for one in document["states"]] == ["tally"]
    assert document["states"][0]["reason"] == "done"


def job_is_stored(name: str) -> bool:
    return bool(bulk.select_rows("SELECT 1 FROM job WHERE name = %s", [name]))


def test_a_job_of_the_past_does_not_know_a_later_tally(shop: Shop) -> None:
    told(shop)
    enqueued = shop.entry("c1-enqueue").leaf_index

    assert shop.job("c1", as_of=f"n{enqueued}")["job"]["state"] is None
    assert shop.job("c1")["job"]["state"] == "completed"


def test_executions_that_overlapped_are_shown_as_they_were(shop: Shop) -> None:
    told(shop)

    runs = shop.job("r1")["runs"]

    assert [(one["attempt"], one["ended"], one["overlaps"]) for one in runs] == [
        (1, "done", True), (1, "done", True),
    ]  # fmt: skip


def test_an_execution_whose_worker_was_killed_has_no_end_on_record(shop: Shop) -> None:
    told(shop)

    runs = shop.job("m1")["runs"]

    assert [(one["attempt"], one["ended"], one["overlaps"]) for one in runs] == [
        (1, None, False), (1, "done", False),
    ]  # fmt: skip


def test_tasks_count_tallied_outcomes_beside_single_ones(shop: Shop) -> None:
    told(shop)

    with time_machine.travel(NOON, tick=False):
        found = {one["task"]: one for one in documents.task_list(shop.project.id)["items"]}

    mail = found["mail.send"]
    assert (mail["done"], mail["tallied"]) == (0, {"done": 3, "retried": 1})
    assert found["payouts.send"]["tallied"] == {"done": 0, "retried": 0}
    assert (found["report.build"]["deliveries"], found["report.build"]["executions"]) == (2, 2)


def test_each_task_says_what_is_seen_of_it(shop: Shop) -> None:
    told(shop)

    with time_machine.travel(NOON, tick=False):
        found = {
            name: documents.task(shop.project.id, name)["sees"]
            for name in ("cart.sweep", "sync.user", "mail.send", "report.build")
        }

    assert found == {
        "cart.sweep": "Seen by the locks of celery-once and signals. Skips are told by the locks "
        "of celery-once and signals.",
        "sync.user": "Seen by signals and the locks of celery-singleton. Skips are told by "
        "signals and the locks of celery-singleton.",
        "mail.send": "Seen by its own calls and signals. Skips are told by its own calls and "
        "signals.",
        "report.build": "Seen by signals. Nothing is seen of skips: none on record does not mean "
        "that there are none.",
    }


def test_the_policy_in_force_is_told_for_each_task(shop: Shop) -> None:
    told(shop)

    with time_machine.travel(NOON, tick=False):
        (recording,) = documents.task(shop.project.id, "health.ping")["recording"]

    assert (recording["choice"], recording["pattern"], recording["version"]) == ("each", "*", "2")


def test_the_policies_are_listed_with_the_time_in_which_each_was_in_force(shop: Shop) -> None:
    told(shop)
    told(shop, [{**LINES[-2], "id": "policy-2-again", "occurred_at": "2026-10-05T10:00:00Z"}])

    with time_machine.travel(NOON, tick=False):
        items = documents.policy_list(shop.project.id)["items"]

    assert PolicyVersion.objects.count() == 2
    assert [(one["version"], one["since"].hour, one["until"] and one["until"].minute)
            for one in items] == [("2", 9, None), ("1", 9, 40)]  # fmt: skip


def test_a_swallowed_retry_needs_someone(shop: Shop) -> None:
    told(shop)

    with time_machine.travel(NOON, tick=False):
        items = documents.attention_list(shop.project.id)["items"]

    assert "A job asked to run again, and nothing was published." in [
        one["sentence"] for one in items
    ]


def test_jobs_that_were_handed_out_again_are_listed_by_their_count(shop: Shop) -> None:
    told(shop)

    with time_machine.travel(NOON, tick=False):
        again = job_documents.job_list(shop.project.id, "deliveries:>1 executions:>1", 50, "")

    assert sorted(one["job"]["id"] for one in again["items"]) == ["m1", "r1"]


def test_a_release_that_brings_tallies_reads_the_log_from_its_first_leaf(shop: Shop) -> None:
    told(shop)
    before = shop.dump()
    bulk.update_rows("DELETE FROM tally_job", [[]])
    bulk.update_rows("DELETE FROM tally", [[]])
    bulk.update_rows("DELETE FROM projector_cursor WHERE projector = 'tallies'", [[]])
    bulk.update_rows(
        "UPDATE projector_cursor SET rules_version = 0 WHERE projector = 'receipts'", [[]]
    )

    rebuild.rebuild_outdated(shop.project.id)
    shop.derive()

    assert shop.dump() == before
