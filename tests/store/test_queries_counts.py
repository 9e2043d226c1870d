"""Counts from roll-ups: each row's own query lists just what the row counts."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import time_machine

from kit.http import ProblemError
from ledger import documents, keys
from ledger.queries import counts
from tests import stories
from tests.databases import Database

FACETS = ("kind", "task", "queue", "source", "reason")


@dataclass(frozen=True)
class Counted:
    """A story to be counted and listed at one clock."""

    story: stories.Story

    def count(self, by: str, q: str = "", bucket: str = "") -> dict[str, Any]:
        with self.clock():
            return documents.count_rows(self.story.project.id, q, by, bucket)

    def listed(self, q: str) -> int:
        with self.clock():
            asked = documents.asked(self.story.project.id, q)
            return int(documents.receipt_list(self.story.project.id, asked)["count"].value)

    def clock(self) -> time_machine.travel:
        return time_machine.travel(self.story.now + timedelta(hours=1), tick=False)


@pytest.fixture(scope="module")
def counted(shared_database: Database) -> Iterator[Counted]:
    keys.forget()
    yield Counted(stories.tell(61, 110))
    keys.forget()


def hold(counted: Counted, by: str, q: str = "", bucket: str = "") -> int:
    """Compare rows with the lists that they name, and give the sum of all rows."""
    rows = counted.count(by, q, bucket)["items"]
    picked = random.Random(1).sample(rows, min(len(rows), 5))
    told = [(row["q"], row["count"]) for row in picked]
    assert told == [(row["q"], counted.listed(row["q"])) for row in picked]
    return sum(row["count"] for row in rows)


@pytest.mark.parametrize("by", [*FACETS, "source,reason", "task,reason,kind"])
def test_each_row_counts_what_its_query_lists(counted: Counted, by: str) -> None:
    assert hold(counted, by) == counted.listed("")


@pytest.mark.parametrize("bucket", ["5m", "1h", "1d"])
def test_rows_by_time_count_what_their_query_lists(counted: Counted, bucket: str) -> None:
    assert hold(counted, "kind", bucket=bucket) == counted.listed("")


@pytest.mark.parametrize("bucket", ["", "5m", "1d"])
@pytest.mark.parametrize(
    "q",
    [
        "kind:skip,done",
        "source:oban",
        "source:oban/prod-1",
        "source:oban/",
        "after:5d before:1d",
        "after:9d after:2d before:1d before:3h",
        "after:9d,1d",
        "after:36h kind:skip",
        'task:"" kind:skip',
        "task:mail.send,payout reason:already_done",
        "kind:skip kind:done",
    ],
)
def test_rows_of_a_query_count_what_their_own_query_lists(
    counted: Counted, q: str, bucket: str
) -> None:
    hold(counted, "source", q, bucket)
    hold(counted, "kind,reason", q, bucket)


@pytest.mark.parametrize("q", ["kind:skip,done", "source:oban", "source:oban/prod-1"])
def test_a_query_without_times_is_counted_as_it_is_listed(counted: Counted, q: str) -> None:
    total = sum(row["count"] for row in counted.count("task", q)["items"])

    assert total == counted.listed(q) > 0


def test_the_most_frequent_come_first(counted: Counted) -> None:
    numbers = [row["count"] + row["tallied"] for row in counted.count("task")["items"]]

    assert numbers == sorted(numbers, reverse=True)


@pytest.mark.parametrize(
    ("by", "q", "bucket"),
    [
        ("", "", ""),
        ("kind,kind", "", ""),
        ("kind,task,queue,reason", "", ""),
        ("colour", "", ""),
        ("kind", "", "3m"),
        ("kind", "-kind:skip", ""),
        ("kind", "pointer:resolved", ""),
        ("kind", "data.event:stop", ""),
        ("kind", "101", ""),
        ("kind", "colour:red", ""),
    ],
)
def test_what_no_roll_up_holds_is_refused(counted: Counted, by: str, q: str, bucket: str) -> None:
    with pytest.raises(ProblemError) as raised:
        counted.count(by, q, bucket)

    assert raised.value.status == 400


def test_tasks_say_what_each_did_and_lead_to_the_lists_of_it(counted: Counted) -> None:
    with counted.clock():
        tasks = documents.task_list(counted.story.project.id)
    assert tasks["items"]

    for one in tasks["items"]:
        assert counted.listed(one["q"]) == one["receipts"] == sum(one["kinds"].values())
        with counted.clock():
            alone = documents.task(counted.story.project.id, one["task"])
        assert {name: alone[name] for name in one} == one


def test_why_jobs_were_skipped_is_counted_of_skips_alone(sqlite_database: Database) -> None:
    keys.forget()
    story = stories.tell(62, 0)
    story.post({"kind": "act", "reason": "month end"}, {"kind": "skip", "reason": "paused"})
    story.catch_up()

    since, until = story.now - timedelta(hours=1), story.now + timedelta(hours=1)
    facets = counts.facet_rows(story.project.id, since, until)

    assert [(row["reason"], row["count"]) for row in facets["reason"]] == [("paused", 1)]
    assert ("skip", 1) in [(row["kind"], row["count"]) for row in facets["kind"]]
