"""What lists say of feeds is what folding the log up to a leaf, at a clock, comes to."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from access.models import ApiToken
from access.rows import ProjectRow
from config import follower
from ledger import documents, ingest, keys, rebuild, waive
from ledger.domain import arrivals, feed_disputes, feed_lines, feed_states
from ledger.domain.draft import Envelope
from ledger.domain.feeds import Spool
from ledger.models import FeedSpool, TreeHead
from ledger.projectors.feeds import FeedsProjector
from ledger.queries.as_of import AsOf
from ledger.queries.feed_items import feed_items
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
            spools[line.spool] = feed_disputes.take(spools.get(line.spool), line)
        elif arrivals.is_own(one, key) and (came := arrivals.read(one)):
            spools[came.spool] = feed_disputes.take(spools.get(came.spool), came)
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
        "disputed": sum(spool.disputed_at is not None for spool in left),
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

    def deliver(self, spool: str, *numbers: int, by: int = 0) -> None:
        for number in numbers:
            body = {"kind": "done", "id": f"{spool}-{number}-{by}"}
            self.post(body, by or self.one, spool, number)

    def report(self, spool: str, written: int, by: int = 0, **more: Any) -> None:
        line = {"kind": "observe", "what": "feed", "spool": spool, "written": written, "unsent": 0}
        self.post({**line, **more}, by or self.one)

    def spool(self, name: str) -> Document:
        with time_machine.travel(self.now, tick=False):
            return documents.spool(self.project.id, name)

    def judge(self, spool: str, word: str) -> None:
        """Let a person say who spoke for a spool."""
        with time_machine.travel(self.now, tick=False):
            waive.waive(self.project.id, spool, "", factories.TESTER, "known", word)

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
        "complete_until": None, "silent": 0, "gaps": 0, "dropped": 0, "disputed": 0,
        "unnumbered": 0, "incomplete": 0,
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


def test_a_token_that_numbers_what_it_sends_is_unnumbered_for_what_it_sends_without(
    sqlite_database: Database,
) -> None:
    shop = Shop()
    shop.deliver("a", 1)
    shop.report("a", 1)
    shop.wait(1)
    before = shop.answer()
    shop.post({"kind": "done"}, shop.one)
    shop.wait(90)
    ApiToken.objects.update(revoked_at=shop.now)

    assert before["unnumbered"] == 0, "in the first minute, nothing of it has arrived by number"
    assert (shop.answer()["unnumbered"], shop.answer()["complete_until"]) == (1, None)


@pytest.mark.parametrize("way", ["numbers", "line"])
def test_another_token_changes_nothing_of_a_spool_but_that_it_is_disputed(
    sqlite_database: Database, way: str
) -> None:
    shop = Shop()
    shop.deliver("a", 1, 3)
    shop.wait(61)
    if way == "numbers":
        shop.deliver("a", 2, by=shop.two)
    else:
        shop.report("a", 1, by=shop.two, closed=True)
    shop.wait(61)

    found = shop.spool("a")
    assert [gap["gap"] for gap in found["gaps"]] == ["2-2"]
    assert (found["arrived"], found["closed_at"], found["disputed_by"]) == (2, None, ["two"])
    assert (shop.answer()["disputed"], shop.answer()["incomplete"]) == (1, 1)
    assert not shop.listed()["window"]["complete"]
    assert "feed.disputed" in [one.code for one in feed_items(shop.project.id, shop.now)]


@pytest.mark.parametrize(("word", "arrived"), [("same", 3), ("other", 2)])
def test_a_person_says_whether_another_token_is_the_same_producer(
    sqlite_database: Database, word: str, arrived: int
) -> None:
    shop = Shop()
    shop.deliver("a", 1, 3)
    shop.deliver("a", 2, by=shop.two)
    shop.wait(61)
    shop.judge("a", word)
    shop.wait(1)

    found = shop.spool("a")
    assert (found["arrived"], found["disputed_by"], shop.answer()["disputed"]) == (arrived, [], 0)
    assert rebuild.rebuild([FeedsProjector()], batch=1).differing == 0
    shop.deliver("a", 4, by=shop.two)
    shop.wait(61)
    assert shop.answer()["disputed"] == (word == "other")


def test_a_token_of_the_same_declared_source_goes_on_with_a_spool(
    sqlite_database: Database,
) -> None:
    shop = Shop()
    ApiToken.objects.update(source_system="celery", source_instance="prod")
    shop.deliver("a", 1)
    shop.deliver("a", 2, by=shop.two)
    shop.report("a", 2, by=shop.two)
    shop.wait(61)

    assert (shop.spool("a")["arrived"], shop.answer()["disputed"]) == (2, 0)


def test_a_number_that_came_as_a_conflict_is_told_until_somebody_knows_of_it(
    sqlite_database: Database,
) -> None:
    shop = Shop()
    shop.post({"kind": "done", "id": "feed:a:1"}, shop.two)
    shop.post({"kind": "fail", "id": "feed:a:1"}, shop.one, "a", 1)
    shop.wait(61)

    assert shop.spool("a")["conflicts"] == 1
    assert (shop.spool("a")["rule"], shop.answer()["incomplete"]) == ("came_as_conflicts", 1)
    shop.judge("a", "other")
    shop.wait(1)
    assert shop.answer()["incomplete"] == 0


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
