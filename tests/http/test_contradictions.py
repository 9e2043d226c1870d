"""Contradictions over HTTP: what a program is answered, what a person sees, and what a stranger."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from jobs.domain.invariants import BY_CODE
from tests import factories
from tests.desk import Desk

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
KEY = {"recipe": "payouts", "fields": {"payout": "PO-1"}}


def done(number: int, **members: Any) -> dict[str, Any]:
    at = (NINE + timedelta(seconds=number)).isoformat()
    return {"kind": "done", "id": f"d{number}", "occurred_at": at, "key": KEY, **members}


def two_dones(desk: Desk) -> list[str]:
    refs = [desk.post(done(number)).document["ref"] for number in (1, 2)]
    desk.catch_up()
    return refs


def person(desk: Desk, role: str = "viewer") -> Client:
    client = Client(enforce_csrf_checks=True)
    user = factories.make_member(desk.project, role)
    client.force_login(factories.get_user_model_of(user))
    return client


def page(desk: Desk, query: str = "") -> str:
    answer = person(desk).get(f"/p/{desk.project.slug}/contradictions{query}")
    assert answer.status_code == 200
    return str(answer.content.decode())


def test_an_item_holds_both_pieces_of_evidence(desk: Desk) -> None:
    first, second = two_dones(desk)

    (item,) = desk.read("contradictions")["items"]

    assert item["invariant"] == "one_done"
    assert item["refs"] == [second, first]
    assert [one["is"] for one in item["evidence"]] == ["the later done", "the earlier done"]
    assert [one["occurred_at"] for one in item["evidence"]] == [
        "2026-10-05T09:00:02.000000Z", "2026-10-05T09:00:01.000000Z",
    ]  # fmt: skip
    assert (item["rule"], item["rule_words"]) == ("same-key", "the keys are equal")


def test_a_list_of_one_invariant_holds_no_other(desk: Desk) -> None:
    two_dones(desk)

    assert desk.read("contradictions?invariant=one_done")["count"]["value"] == 1
    assert desk.read("contradictions?invariant=no_holes")["items"] == []


def test_an_invariant_that_is_none_is_refused_by_name(desk: Desk) -> None:
    answer = desk.get("contradictions?invariant=two_dones")

    assert (answer.status_code, answer.json()["code"]) == (400, "invariant")
    assert "one_done" in answer.json()["detail"]


def test_a_cursor_of_another_list_is_refused(desk: Desk) -> None:
    two_dones(desk)
    other = desk.read("receipts?limit=1")["next"]

    assert desk.get(f"contradictions?cursor={other}").status_code == 400


def test_as_of_an_earlier_number_only_what_was_known_stands(desk: Desk) -> None:
    refs = two_dones(desk)
    first, second = (desk.read(f"receipts/{ref}")["leaf_index"] for ref in refs)

    assert desk.read(f"contradictions?as_of=n{first}")["items"] == []
    assert len(desk.read(f"contradictions?as_of=n{second}")["items"]) == 1
    assert desk.read(f"contradictions?as_of=n{second}")["checks"] == []


def test_checks_tell_of_each_invariant_how_far_it_was_checked(desk: Desk) -> None:
    desk.post(done(1))
    desk.catch_up()

    found = {one["invariant"]: one for one in desk.read("contradictions")["checks"]}

    assert found.keys() == BY_CODE.keys()
    assert (found["one_done"]["state"], found["one_done"]["checked"]) == ("holds", 1)
    assert (found["no_holes"]["state"], found["no_holes"]["checked"]) == ("not_checked", 0)
    assert found["no_holes"]["because"]


def test_the_twin_of_the_page_is_the_api_s_answer(desk: Desk) -> None:
    two_dones(desk)
    tail = "contradictions?invariant=one_done"

    with time_machine.travel(datetime.now(UTC) + timedelta(minutes=1), tick=False):
        twin = person(desk).get(f"/p/{desk.project.slug}/{tail.replace('?', '.json?')}")
        answer = desk.get(tail)

    assert twin.content == answer.content


def test_a_healthy_page_says_zero_and_what_that_zero_is_worth(desk: Desk) -> None:
    text = page(desk)

    assert "No two receipts contradict each other, as far as that was checked." in text
    assert "Zero, which is what it should be" in text
    assert "No receipt carries a number of its scope and generation." in text


def test_the_page_names_both_receipts_with_links_to_their_explanations(desk: Desk) -> None:
    first, second = two_dones(desk)

    text = page(desk)

    for ref in (first, second):
        assert f'href="/p/{desk.project.slug}/receipts/{ref}/explain"' in text
    assert "the later done" in text
    assert "the work ran again" in text


def test_what_producers_wrote_stands_on_the_page_as_text(desk: Desk) -> None:
    for number in (1, 2):
        desk.post(done(number, job={"task": "<script>alert(1)</script>"}))
    desk.catch_up()

    assert "<script>alert(1)" not in page(desk)


def test_a_stranger_finds_no_such_page(desk: Desk) -> None:
    two_dones(desk)
    stranger = Client()
    stranger.force_login(factories.get_user_model_of(factories.make_user()))

    for tail in ("contradictions", "contradictions.json"):
        assert stranger.get(f"/p/{desk.project.slug}/{tail}").status_code == 404


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_the_page_only_shows(desk: Desk, method: str) -> None:
    answer = getattr(person(desk, "admin"), method)(f"/p/{desk.project.slug}/contradictions")

    assert answer.status_code in (403, 405)


def test_the_overview_leads_to_what_is_broken_until_somebody_acknowledges_it(desk: Desk) -> None:
    two_dones(desk)

    def items() -> dict[str, Any]:
        return {one["code"]: one for one in desk.read("attention")["items"]}

    item = items()["contradiction.one_done"]
    _, operator = factories.make_token(desk.project, "operate")
    acknowledged = Client(headers={"authorization": f"Bearer {operator}"}).post(
        f"/api/v1/attention/{item['id']}/acknowledge",
        data={"reason": "a rerun by hand"},
        content_type="application/json",
    )
    desk.catch_up()
    quiet = "contradiction.one_done" not in items()
    desk.post(done(3))
    desk.catch_up()

    assert (item["severity"], item["next"]["path"]) == (
        "bad", "contradictions?invariant=one_done",
    )  # fmt: skip
    assert "a key was done more than once" in item["sentence"]
    assert acknowledged.status_code == 200
    assert quiet
    assert "contradiction.one_done" in items()
