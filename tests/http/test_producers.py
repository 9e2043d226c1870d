"""Forty spools over HTTP: the pages say what is not complete, name it, and say since when."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from kit import ids
from ledger.domain.leaf import rfc3339
from tests import factories
from tests.desk import Desk

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
SPOOLS = [f"w{n}:payouts-d-{n:010x}:4711:1759654800" for n in range(40)]
KILLED, HOLED, CLOSED, *HEALTHY = SPOOLS
Document = dict[str, Any]


@dataclass
class Floor:
    """Forty workers, the desk that they post to, and a clock that is ours."""

    desk: Desk
    now: datetime = NINE
    written: dict[str, int] = field(default_factory=dict)

    def work(self, spools: Iterable[str], lines: int = 1, *, but: Iterable[int] = ()) -> None:
        """Let each spool write lines and send them; of some only the number is used up."""
        with self.at():
            for spool in spools:
                for _ in range(lines):
                    number = self.written[spool] = self.written.get(spool, 0) + 1
                    if number not in but:
                        body = {"kind": "done", "id": f"{spool}/{number}",
                                "occurred_at": rfc3339(self.now)}  # fmt: skip
                        reply = self.desk.post(body, counterfoil_feed=f"{spool}; first={number}")
                        assert reply.status == 201

    def report(self, spools: Iterable[str], **more: Any) -> None:
        """Let each spool say how far it is, as a forwarder does: without a number."""
        with self.at():
            lines = [
                {"kind": "observe", "what": "feed", "spool": spool, "unsent": 0, "dropped": 0,
                 "written": self.written[spool], "occurred_at": rfc3339(self.now), **more}
                for spool in spools
            ]  # fmt: skip
            assert self.desk.post_lines(*lines).status == 200

    def wait(self, minutes: float) -> None:
        """Let time pass, and the follower do its work."""
        self.now += timedelta(minutes=minutes)
        with self.at():
            self.desk.catch_up()

    def at(self) -> time_machine.travel:
        return time_machine.travel(self.now, tick=False)

    def read(self, tail: str) -> Document:
        with self.at():
            found: Document = self.desk.read(tail)
            return found

    def page(self, tail: str, role: str = "viewer") -> str:
        """Give the text of a page as somebody reads it."""
        with self.at():
            response = self.browser(role).get(f"/p/{self.desk.project.slug}/{tail}")
        assert response.status_code == 200, response.content
        text = re.sub(r"<[^>]+>", " ", response.content.decode())
        return " ".join(html.unescape(text).split())

    def browser(self, role: str) -> Client:
        member = factories.make_member(self.desk.project, role)
        client = Client()
        client.force_login(factories.get_user_model_of(member))
        return client


def worked(desk: Desk, spools: list[str]) -> Floor:
    """Let spools work for twelve minutes: one is killed, one lacks receipt 7, one closes."""
    floor = Floor(desk)
    for minute in range(12):
        alive = [one for one in spools if minute < 3 or one not in (KILLED, CLOSED)]
        floor.work([one for one in alive if one != HOLED])
        floor.work([HOLED], but=[7])
        floor.report(alive)
        if minute == 2:
            floor.report([CLOSED], closed=True, end="in_order")
        floor.wait(1)
    return floor


@pytest.fixture
def floor(desk: Desk) -> Floor:
    """Give the three and two healthy ones, which is enough for most."""
    return worked(desk, SPOOLS[:5])


def test_two_of_forty_spools_are_not_complete_and_are_named_with_since_when(desk: Desk) -> None:
    floor = worked(desk, SPOOLS)

    listed = floor.read("receipts?limit=1")
    shown = floor.page("producers")

    assert (listed["feed"]["silent"], listed["feed"]["gaps"]) == (1, 1)
    assert (listed["feed"]["incomplete"], listed["window"]["complete"]) == (2, False)
    assert "2 not complete" in shown
    assert f"silent {KILLED} since 2026-10-05 09:02:00 UTC" in shown
    assert f"gap {HOLED} since 2026-10-05 09:06:00 UTC" in shown
    assert "2 not complete" in floor.page("receipts")
    assert len(floor.read("producers")["items"]) == 40


def test_only_what_is_not_complete_is_listed_when_that_is_asked_for(floor: Floor) -> None:
    broken = floor.page("producers?incomplete=1")
    items = floor.read("producers?incomplete=1")["items"]

    assert KILLED in broken and HOLED in broken
    assert CLOSED not in broken and not any(one in broken for one in HEALTHY)
    assert [(one["producer"], one["state"], one["since"]) for one in items] == [
        ("w0:payouts", "silent", "2026-10-05T09:02:00.000000Z"),
        ("w1:payouts", "gap", "2026-10-05T09:06:00.000000Z"),
    ]


def test_the_list_of_producers_counts_what_each_wrote_and_what_came(floor: Floor) -> None:
    document = floor.read("producers")

    by_name = {one["producer"]: one for one in document["items"]}
    counted = {
        name: (by_name[name]["written"], by_name[name]["arrived"], by_name[name]["spools"])
        for name in ("w0:payouts", "w1:payouts", "w2:payouts", "w3:payouts")
    }
    assert document["count"]["value"] == len(by_name) == 5
    assert counted == {
        "w0:payouts": (3, 3, {"open": 1, "closed": 0}),
        "w1:payouts": (12, 11, {"open": 1, "closed": 0}),
        "w2:payouts": (3, 3, {"open": 0, "closed": 1}),
        "w3:payouts": (12, 12, {"open": 1, "closed": 0}),
    }


def test_every_answer_says_how_complete_it_is_and_to_when(floor: Floor) -> None:
    tails = (
        "receipts", "receipts/n5/explain", "receipts/counts?by=kind", "subjects/payout/PO-1",
        "jobs", "keys", "contradictions", "quarantine", "tasks", "producers",
        f"producers/{HOLED}",
    )  # fmt: skip

    feeds = {tail: floor.read(tail)["feed"] for tail in tails}

    assert {one["incomplete"] for one in feeds.values()} == {2}
    assert {one["complete_until"] for one in feeds.values()} == {"2026-10-05T09:02:00.000000Z"}


def test_an_answer_as_of_an_earlier_number_says_what_was_known_then(floor: Floor) -> None:
    then = floor.read("receipts?as_of=2026-10-05T09:05:30Z")["feed"]

    assert (then["silent"], then["gaps"], then["incomplete"]) == (0, 0, 0)


def test_the_page_of_a_spool_tells_its_gap_and_its_last_words(floor: Floor) -> None:
    document = floor.read(f"producers/{HOLED}")
    shown = floor.page(f"producers/{HOLED}")

    assert document["gaps"] == [
        {"gap": "7-7", "first": "7", "last": "7", "missing": 1,
         "since": "2026-10-05T09:06:00.000000Z", "is_open": True}
    ]  # fmt: skip
    assert (document["written"], document["arrived"], document["sender"]) == (12, 11, "a token")
    assert "Gap since 2026-10-05 09:06:00 UTC" in shown
    assert floor.page(f"producers/{CLOSED}").count("closed in order") == 0
    assert "Closed at" in floor.page(f"producers/{CLOSED}")


def test_a_twin_gives_what_the_api_gives(floor: Floor) -> None:
    with floor.at():
        reader = floor.browser("viewer")
        for tail in ("producers", f"producers/{HOLED}"):
            twin = reader.get(f"/p/{floor.desk.project.slug}/{tail}.json")
            assert twin.content == floor.desk.get(tail).content


def test_a_gap_closes_when_the_number_comes_and_stays_named(floor: Floor) -> None:
    with floor.at():
        late = {"kind": "done", "id": f"{HOLED}/7"}
        floor.desk.post(late, counterfoil_feed=f"{HOLED}; first=7")
    floor.wait(1.1)

    document = floor.read(f"producers/{HOLED}")

    assert (document["gaps"], document["state"]) == ([], "complete")
    (closed,) = document["closed_gaps"]
    assert (closed["gap"], closed["closed_by"]) == ("7-7", "arrived")
    assert floor.read("receipts")["feed"]["incomplete"] == 1


def test_a_gap_is_waived_with_a_reason_that_stays_in_the_log(floor: Floor) -> None:
    _, operator = factories.make_token(floor.desk.project, "operate")
    with floor.at():
        client = Client(headers={"authorization": f"Bearer {operator}"})
        body = {"reason": "the disk was lost", "gap": "7-7"}
        answer = client.post(
            f"/api/v1/producers/{HOLED}/waive", body, content_type="application/json"
        )
    floor.wait(0)

    assert answer.json() == {"spool": HOLED, "gap": "7-7", "state": "waived"}
    document = floor.read(f"producers/{HOLED}")
    (closed,) = document["closed_gaps"]
    assert (closed["closed_by"], closed["reason"]) == ("waived", "the disk was lost")
    assert (document["state"], document["waived"], document["arrived"]) == ("complete", 1, 11)
    assert floor.read("receipts")["feed"]["gaps"] == 0
    assert "the disk was lost" in floor.page(f"producers/{HOLED}")


def test_a_killed_spool_is_given_up_on_its_page_and_counts_as_closed(floor: Floor) -> None:
    address = f"/p/{floor.desk.project.slug}/producers/{KILLED}"
    with floor.at():
        operator = floor.browser("operator")
        assert "Why nothing more will come" in operator.get(address).content.decode()
        answer = operator.post(f"{address}/waive", {"reason": "its machine is gone"})
    floor.wait(0)

    assert (answer.status_code, answer.headers["Location"]) == (302, address)
    document = floor.read(f"producers/{KILLED}")
    assert (document["state"], document["rule"]) == ("closed", "closed_by_a_person")
    assert floor.read("receipts")["feed"]["silent"] == 0


@pytest.mark.parametrize(
    ("spool", "body", "status", "code"),
    [
        (HOLED, {"reason": "why", "gap": "6-7"}, 404, "not_found"),
        (HOLED, {"reason": "why", "gap": "x"}, 404, "not_found"),
        (HOLED, {"reason": "", "gap": "7-7"}, 400, "reason"),
        (HOLED, {"gap": "7-7"}, 422, "invalid"),
        (CLOSED, {"reason": "why"}, 409, "nothing_missing"),
        ("w9", {"reason": "why"}, 404, "not_found"),
        ("~!", {"reason": "why"}, 404, "segment"),
    ],
)
def test_what_cannot_be_waived_is_told(
    floor: Floor, spool: str, body: Document, status: int, code: str
) -> None:
    _, operator = factories.make_token(floor.desk.project, "operate")
    with floor.at():
        client = Client(headers={"authorization": f"Bearer {operator}"})
        answer = client.post(
            f"/api/v1/producers/{spool}/waive", body, content_type="application/json"
        )

    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_who_may_only_read_cannot_waive(floor: Floor) -> None:
    with floor.at():
        reader = Client(headers={"authorization": f"Bearer {floor.desk.reader}"})
        by_token = reader.post(
            f"/api/v1/producers/{HOLED}/waive", {"reason": "x"}, content_type="application/json"
        )
        address = f"/p/{floor.desk.project.slug}/producers/{HOLED}"
        viewer = floor.browser("viewer")
        by_hand = viewer.post(f"{address}/waive", {"reason": "x"})
        page = viewer.get(address).content.decode()

    assert (by_token.status_code, by_hand.status_code) == (403, 403)
    assert "Waive" not in page


def test_a_producers_own_word_of_arrivals_or_waivers_changes_nothing(floor: Floor) -> None:
    with floor.at():
        floor.desk.post_lines(
            {"kind": "observe", "what": "arrived", "spool": HOLED, "ranges": [["7", "7"]]},
            {"kind": "act", "act": {"verb": "waive", "target": f"feed:{HOLED}", "spool": HOLED}},
            {"kind": "act", "act": {"verb": "waive", "target": f"feed:{HOLED}", "spool": HOLED,
                                    "first": "7", "last": "7"}},
        )  # fmt: skip
    floor.wait(0)

    assert floor.read("receipts")["feed"]["gaps"] == 1


def test_the_overview_names_what_is_silent_and_what_is_missing(floor: Floor) -> None:
    items = {one["code"]: one for one in floor.read("attention")["items"]}
    shown = floor.page("")

    assert items["feed.silent"]["since"] == "2026-10-05T09:02:00.000000Z"
    assert items["feed.gap"]["since"] == "2026-10-05T09:06:00.000000Z"
    assert "token.silent" not in items
    assert "w0:payouts" in items["feed.silent"]["small"] and "w0:payouts" in shown
    assert "feed.dropped" not in items


def test_a_loss_that_a_producer_reports_is_shown_until_it_is_waived(floor: Floor) -> None:
    floor.report([HEALTHY[0]], dropped=2, outcomes={"waiting": 0, "lost": 3})
    floor.wait(0)

    before = floor.read("attention")["items"]
    shown = floor.page("producers")
    _, operator = factories.make_token(floor.desk.project, "operate")
    with floor.at():
        client = Client(headers={"authorization": f"Bearer {operator}"})
        client.post(f"/api/v1/producers/{HEALTHY[0]}/waive", {"reason": "known"},
                    content_type="application/json")  # fmt: skip
    floor.wait(0)

    assert "feed.dropped" in [one["code"] for one in before]
    assert "feed.dropped" not in [one["code"] for one in floor.read("attention")["items"]]
    assert "lost some" in shown and "(5 missing)" in shown
    assert floor.read("receipts")["feed"]["dropped"] == 0


def test_a_token_without_numbers_is_named_apart(floor: Floor) -> None:
    _, bare = factories.make_token(floor.desk.project, name="by hand")
    with floor.at():
        floor.desk.post({"kind": "done"}, token=bare)
    floor.wait(0)

    document = floor.read("producers")

    assert [(one["token"], one["state"]) for one in document["unnumbered"]] == [
        ("by hand", "unknown")
    ]
    assert document["feed"]["complete_until"] is None
    assert "1 producer sends without numbers" in floor.page("receipts")


def test_a_disputed_spool_is_named_and_judged_on_its_page(floor: Floor) -> None:
    _, other = factories.make_token(floor.desk.project, name="a stranger")
    with floor.at():
        line = {"kind": "observe", "what": "feed", "spool": HOLED, "written": 6, "closed": True}
        floor.desk.post(line, token=other)
    floor.wait(0)
    address = f"/p/{floor.desk.project.slug}/producers/{HOLED}"

    shown = floor.page(f"producers/{HOLED}", "operator")
    listed = floor.page("receipts")
    with floor.at():
        operator = floor.browser("operator")
        nonsense = operator.post(f"{address}/waive", {"reason": "x", "disputed_by": "both"})
        operator.post(f"{address}/waive", {"reason": "a test", "disputed_by": "other"})
    floor.wait(0)

    assert "a stranger spoke for this one too" in shown
    assert "1 spool disputed" in listed
    assert nonsense.status_code == 400
    assert floor.read("receipts")["feed"]["disputed"] == 0
    assert floor.read(f"producers/{HOLED}")["closed_at"] is None


def test_where_nothing_has_numbers_the_page_says_how_to_begin(desk: Desk) -> None:
    floor = Floor(desk)
    floor.wait(0)

    assert "No producer numbers what it sends yet" in floor.page("producers")
    assert floor.read("producers")["items"] == []


def test_producers_whose_spools_all_closed_come_by_pages(desk: Desk) -> None:
    floor = Floor(desk)
    for number in range(5):
        spool = f"h{number}:web:1:2"
        floor.work([spool], 2)
        floor.report([spool], closed=True)
        floor.wait(2)

    first = floor.read("producers?limit=3")
    rest = floor.read(f"producers?limit=3&cursor={first['next']}")

    names = [one["producer"] for page in (first, rest) for one in page["items"]]
    assert names == [f"h{number}:web" for number in (4, 3, 2, 1, 0)]
    assert (rest["next"], first["count"]["value"]) == (None, 5)


def test_recycled_children_of_one_program_are_one_row(desk: Desk) -> None:
    floor = Floor(desk)
    for child in range(30):
        spool = f"h1:pool-w-{child:010x}:{100 + child}:{child}"
        floor.work([spool], 2)
        floor.report([spool], closed=True)
    floor.work(["h1:pool-w-00000000ff:999:9"], 1)
    floor.wait(1.1)
    floor.report(["h1:pool-w-00000000ff:999:9"])
    floor.wait(0.1)

    (one,) = floor.read("producers")["items"]

    assert (one["producer"], one["spools"]) == ("h1:pool", {"open": 1, "closed": 30})
    assert (one["written"], one["arrived"], one["state"]) == (61, 61, "complete")


def test_odd_names_of_spools_are_shown_and_found(desk: Desk) -> None:
    floor = Floor(desk)
    odd = "'<b>&\"/~%00"
    floor.work([odd])
    floor.wait(1.1)

    assert floor.read(f"producers/{ids.segment(odd)}")["spool"] == odd
    assert odd in floor.page(f"producers/{ids.segment(odd)}")
    assert odd in floor.page("producers")
