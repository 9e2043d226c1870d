"""What lists say of feeds is what folding the log up to a leaf, at a clock, comes to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from access.rows import ProjectRow
from config import follower
from ledger import documents, ingest, keys
from ledger.domain import arrivals, feed_lines, feed_states, feeds
from ledger.domain.draft import Envelope
from ledger.domain.feeds import Spool
from ledger.models import FeedSpool, TreeHead
from ledger.queries.as_of import AsOf
from ledger.queries.feeds import feed_at, now_of
from ledger.statements import Item, load_range
from tests import factories
from tests.databases import Database
from tests.store.test_feed_rows import tell

Document = dict[str, Any]


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()


def fold(items: Iterable[Item], key: bytes) -> dict[str, Spool]:
    """Fold a log in the plainest way."""
    spools: dict[str, Spool] = {}
    for item in items:
        one = item.statement
        if feed_lines.is_line(one) and (line := feed_lines.read_line(one)):
            begun = spools.get(line.spool) or feeds.begin(line.spool, line.received_at)
            spools[line.spool] = feeds.feed(begun, line)
        elif arrivals.is_own(one, key) and (came := arrivals.read(one)):
            begun = spools.get(came.spool) or feeds.begin(came.spool, came.runs[0].at)
            spools[came.spool] = feeds.arrive(begun, came)
    return spools


def told(spools: Iterable[Spool], at: datetime) -> Document:
    """Count the states of spools, one by one."""
    left = [spool for spool in spools if not spool.is_settled]
    states = [feed_states.standings(spool, at) for spool in left]
    holes = [hole for spool in left for hole in spool.holes]
    holes += [spool.tail for spool in left if spool.tail is not None]
    return {
        "silent": sum(one[0].state == "silent" for one in states),
        "gaps": sum(feed_states.is_open_gap(hole, at) for hole in holes),
        "dropped": sum(spool.lost for spool in left),
        "incomplete": sum(one[0].is_incomplete for one in states),
    }


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_answer_as_of_any_leaf_and_clock_is_that_of_a_plain_fold(
    database: Database, seed: int
) -> None:
    story = tell(seed, 80)
    key = keys.project_key(story.project.id)
    items = load_range(story.project.id, 0, 10_000)
    told_apart = set()

    for n in range(len(items)):
        at = TreeHead.objects.filter(size__gt=n).order_by("size")[0].committed_at
        for later in (timedelta(0), timedelta(minutes=3), timedelta(hours=2)):
            expected = told(fold(items[: n + 1], key).values(), at + later)
            found = feed_at(story.project.id, AsOf(n, at + later, is_now=False))
            assert {name: found[name] for name in expected} == expected, n
            told_apart.add(tuple(expected.values()))

    now = now_of(story.now)
    assert feed_at(story.project.id, now) == feed_at(
        story.project.id, AsOf(len(items) - 1, story.now, is_now=False)
    )
    assert len(told_apart) > 20


NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)


@dataclass
class Shop:
    """A project whose producers post at exact times."""

    project: ProjectRow = field(default_factory=factories.make_project)
    now: datetime = NINE

    def __post_init__(self) -> None:
        made = [factories.make_token(self.project, name=name)[0] for name in ("one", "two")]
        self.one, self.two = (token.id for token in made)

    def post(self, body: Document, token: int, spool: str = "", number: int | None = None) -> None:
        given = Envelope(self.project.id, self.now, token, feed_spool=spool, feed_number=number)
        ingest.ingest([json.dumps(body).encode()], given)

    def deliver(self, spool: str, *numbers: int) -> None:
        for number in numbers:
            self.post({"kind": "done", "id": f"{spool}-{number}"}, self.one, spool, number)

    def report(self, spool: str, written: int, **more: Any) -> None:
        line = {"kind": "observe", "what": "feed", "spool": spool, "written": written, "unsent": 0}
        self.post({**line, **more}, self.one)

    def wait(self, seconds: float) -> None:
        """Let time pass, and the follower do its work."""
        self.now += timedelta(seconds=seconds)
        with time_machine.travel(self.now, tick=False):
            follower.catch_up()

    def answer(self, minutes: float = 0) -> Document:
        return feed_at(self.project.id, now_of(self.now + timedelta(minutes=minutes)))

    def listed(self, minutes: float = 0) -> Document:
        """Give the list of receipts as it is some minutes later."""
        with time_machine.travel(self.now + timedelta(minutes=minutes), tick=False):
            return documents.receipt_list(self.project.id, documents.asked(self.project.id, ""))


def test_where_nothing_was_ever_sent_nothing_is_known(sqlite_database: Database) -> None:
    assert Shop().answer() == {
        "complete_until": None, "silent": 0, "gaps": 0, "dropped": 0, "unnumbered": 0,
        "incomplete": 0,
    }  # fmt: skip


def test_all_is_complete_until_the_spool_that_is_furthest_behind(
    sqlite_database: Database,
) -> None:
    shop = Shop()
    shop.deliver("a", 1, 2)
    shop.deliver("b", 1, 2)
    shop.wait(30)
    shop.report("a", 2)
    shop.wait(20)
    shop.report("b", 2)
    shop.wait(40)

    assert shop.answer()["complete_until"] == NINE + timedelta(seconds=30)
    assert shop.answer()["unnumbered"] == 0


def test_a_token_without_numbers_leaves_completeness_unknown(sqlite_database: Database) -> None:
    shop = Shop()
    shop.deliver("a", 1)
    shop.report("a", 1)
    shop.wait(90)
    before = shop.answer()
    shop.post({"kind": "done"}, shop.two)
    shop.wait(1)

    assert before["complete_until"] == NINE
    assert (shop.answer()["complete_until"], shop.answer()["unnumbered"]) == (None, 1)


def test_no_list_is_called_complete_while_something_comes_without_numbers(
    sqlite_database: Database,
) -> None:
    shop = Shop()
    shop.deliver("a", 1)
    shop.report("a", 1)
    shop.wait(90)
    before = shop.listed()
    shop.post({"kind": "done"}, shop.two)
    shop.wait(1)

    assert before["window"]["complete"]
    assert shop.listed()["feed"]["incomplete"] == 0
    assert not shop.listed()["window"]["complete"]


def test_a_token_without_numbers_is_silent_after_ten_of_its_intervals(
    sqlite_database: Database,
) -> None:
    shop = Shop()
    for _ in range(20):
        shop.now += timedelta(minutes=5)
        shop.post({"kind": "done"}, shop.two)
    shop.wait(0)

    assert shop.answer(50)["silent"] == 0
    assert (shop.answer(51)["silent"], shop.answer(51)["incomplete"]) == (1, 1)


def test_thousands_of_closed_spools_are_passed_by(sqlite_database: Database) -> None:
    shop = Shop()
    for child in range(40):
        shop.deliver(f"child-{child}", 1, 2)
        shop.report(f"child-{child}", 2, closed=True)
    shop.wait(120)

    found = shop.answer(900)

    assert (found["silent"], found["gaps"], found["incomplete"]) == (0, 0, 0)
    assert found["complete_until"] == NINE
    assert not FeedSpool.objects.filter(span=None).exists()


def test_a_list_with_a_hole_is_not_called_complete(sqlite_database: Database) -> None:
    shop = Shop()
    shop.deliver("a", 1, 3)
    shop.wait(120)

    assert shop.listed()["window"]["complete"]
    assert not shop.listed(10)["window"]["complete"]
    assert shop.listed(10)["feed"]["gaps"] == 1
