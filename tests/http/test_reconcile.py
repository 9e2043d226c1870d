"""Reconciling over HTTP: the page, the API, and what neither lets in or out."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from tests import factories
from tests.desk import Desk
from tests.http.test_producers import Floor

MANY = 600


@pytest.fixture
def shop(desk: Desk) -> Desk:
    """Have payouts of every kind on record, posted by a sender that numbers nothing."""
    subject = {"PO-1": "done", "PO-2": "fail", "PO-3": "cancel", "PO-4": "start"}
    for name, kind in subject.items():
        desk.post({"kind": kind, **job(name), **about(name)})
    skip = {"kind": "skip", "reason": "rate_limited", "rule": {"name": "10 a minute"}}
    desk.post({**skip, **about("PO-5")})
    for number in ("6a", "6b"):
        desk.post({"kind": "done", **job(number), **about("PO-6")})
    desk.post({"kind": "done", **job("7"), **about("=PO-7")})
    desk.catch_up()
    return desk


def job(number: str) -> dict[str, Any]:
    return {"job": {"id": number, "task": "payout.send"}}


def about(name: str) -> dict[str, Any]:
    return {"subjects": [{"type": "payout", "id": name}]}


def reconcile(desk: Desk, **body: Any) -> Any:
    client = Client(headers={"authorization": f"Bearer {desk.reader}"})
    asked = {"type": "payout", "unnumbered": True, **body}
    return client.post("/api/v1/reconcile", json.dumps(asked), content_type="application/json")


def read(response: Any) -> Any:
    return json.loads(b"".join(response.streaming_content))


@pytest.fixture
def browser(shop: Desk) -> Client:
    client = Client()
    user = factories.make_member(shop.project, "auditor")
    client.force_login(factories.get_user_model_of(user))
    return client


def test_each_object_has_what_became_of_it_and_the_receipt_that_says_so(shop: Desk) -> None:
    names = [f"PO-{number}" for number in (1, 2, 3, 4, 5, 9)]

    found = read(reconcile(shop, ids=names))

    assert [one["became"] for one in found["items"]] == [
        "done", "failed", "cancelled", "in_progress", "skipped", "nothing_recorded",
    ]  # fmt: skip
    assert found["counts"]["nothing_recorded"] == 1
    assert found["items"][4]["verdict"]["sentence"] == "Skipped because of a rate limit."
    by = shop.read(f"receipts/{found['items'][0]['by']}")
    assert (by["kind"], by["subjects"]) == ("done", [{"type": "payout", "id": "PO-1"}])
    assert found["verdict"]["code"] == "unrecorded"


def test_work_that_was_done_twice_is_named(shop: Desk) -> None:
    found = read(reconcile(shop, ids=["PO-1", "PO-6"]))

    assert [len(one["done_again"]) for one in found["items"]] == [0, 1]
    assert found["counts"]["done_again"] == 1


def test_a_done_that_names_its_job_alone_counts_for_the_object_of_the_job(shop: Desk) -> None:
    shop.post({"kind": "enqueue", **job("11"), **about("PO-11")})
    shop.post({"kind": "start", **job("11")})
    shop.post({"kind": "done", "id": "d11", **job("11")})
    shop.catch_up()

    (found,) = read(reconcile(shop, ids=["PO-11"]))["items"]

    assert (found["became"], found["receipts"]) == ("done", 1)
    assert found["by"] == shop.read("receipts?id=d11")["items"][0]["ref"]
    assert shop.read("subjects/payout/PO-11")["became"] == "done"


def test_an_outcome_that_only_a_tally_lists_counts_for_the_object_of_the_job(shop: Desk) -> None:
    shop.post({"kind": "enqueue", **job("12"), **about("PO-12")})
    window = {"from": "2026-10-05T09:00:00Z", "to": "2026-10-05T09:00:10Z"}
    counts = [{"task": "payout.send", "queue": "q", "done": 1, "retried": 0}]
    data = {"jobs": [["payout.send", "12", "done", 5]]}
    shop.post({"kind": "tally", "id": "t", "window": window, "counts": counts, "data": data})
    shop.catch_up()

    (found,) = read(reconcile(shop, ids=["PO-12"]))["items"]

    assert found["became"] == "done"
    assert found["by"] == shop.read("receipts?id=t")["items"][0]["ref"]


def test_what_nobody_numbers_is_not_called_complete_unless_asked_to(shop: Desk) -> None:
    strict = read(reconcile(shop, ids=["PO-1"], unnumbered=False))
    lenient = read(reconcile(shop, ids=["PO-1"]))

    assert strict["verdict"]["code"] == "feed_incomplete"
    assert lenient["verdict"] == {
        "code": "accounted",
        "exit": 0,
        "rule": "accounted",
        "rule_words": lenient["verdict"]["rule_words"],
        "sentence": "Each of 1 has a record.",
    }


def test_a_window_before_anything_was_watched_is_not_judged(shop: Desk) -> None:
    found = read(reconcile(shop, ids=["PO-1"], **{"from": "2020-01-01"}))

    assert found["verdict"]["code"] == "not_watched"
    assert "nothing was watched" in found["verdict"]["sentence"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"type": "No such", "ids": ["a"]}, "Say what the objects are"),
        ({"ids": ["a"], "from": "soon"}, "is no time"),
        ({"ids": ["a"], "from": "2026-01-02", "to": "2026-01-01"}, "ends before it begins"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(
    shop: Desk, body: dict[str, Any], told: str
) -> None:
    response = reconcile(shop, **body)

    assert response.status_code == 400
    assert response.json()["code"] == "bad_expected"
    assert told in response.json()["detail"]


def test_the_page_takes_a_file_and_leads_from_each_count_to_its_list(
    shop: Desk, browser: Client
) -> None:
    file = SimpleUploadedFile("expected.csv", b"payout_id,amount\nPO-1,5\nPO-9,7\n", "text/csv")

    page = browser.post(
        f"/p/{shop.project.slug}/reconcile", {"type": "payout", "file": file, "unnumbered": "1"}
    )

    text = page.content.decode()
    assert page.status_code == 200
    assert "1 of 2 has no record." in text
    assert 'href="#nothing_recorded"' in text
    assert 'id="nothing_recorded"' in text
    assert "PO-9" in text


def test_a_short_list_has_an_address_that_shows_it_again_and_twins(
    shop: Desk, browser: Client
) -> None:
    pasted = {"type": "payout", "ids": "PO-1\nPO-9", "unnumbered": "1"}
    page = browser.post(f"/p/{shop.project.slug}/reconcile", pasted).content.decode()
    link = f"/p/{shop.project.slug}/reconcile?type=payout&amp;unnumbered=1&amp;id=PO-1&amp;id=PO-9"

    assert link in page
    path, _, query = link.replace("&amp;", "&").partition("?")
    assert "1 of 2 has no record." in browser.get(f"{path}?{query}").content.decode()
    assert read(browser.get(f"{path}.json?{query}"))["expected"] == 2
    csv_twin: Any = browser.get(f"{path}.csv?{query}")
    assert b"PO-9,nothing_recorded" in b"".join(csv_twin.streaming_content)


def test_csv_holds_nothing_that_a_spreadsheet_would_run(shop: Desk, browser: Client) -> None:
    asked = {"type": "payout", "ids": "id\n'=PO-7\n", "as": "csv", "unnumbered": "1"}

    answer: Any = browser.post(f"/p/{shop.project.slug}/reconcile", asked)

    text = b"".join(answer.streaming_content).decode()
    (row,) = csv.DictReader(io.StringIO(text, newline=""))
    assert row["id"] == "'=PO-7"
    assert row["became"] == "done"
    assert "attachment" in answer.headers["Content-Disposition"]


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ({"type": "payout"}, "Choose a file, or paste the ids."),
        ({"ids": "PO-1"}, "Say what the objects are"),
        ({"type": "payout", "ids": "a,b\n1,2"}, "Which column has the ids?"),
        ({"type": "payout", "ids": "x" * 300}, "has an id of 300 characters"),
    ],
)
def test_the_page_says_what_is_wrong_with_a_list(
    shop: Desk, browser: Client, form: dict[str, str], told: str
) -> None:
    page = browser.post(f"/p/{shop.project.slug}/reconcile", form)

    assert page.status_code == 400
    assert told in page.content.decode()


def test_a_form_that_is_too_large_is_refused_before_it_is_read(shop: Desk, browser: Client) -> None:
    file = SimpleUploadedFile("expected.csv", b"x" * 17_000_000, "text/csv")

    page = browser.post(f"/p/{shop.project.slug}/reconcile", {"type": "payout", "file": file})

    assert page.status_code == 413


def test_a_file_that_is_no_text_is_refused(shop: Desk, browser: Client) -> None:
    file = SimpleUploadedFile("expected.csv", b"\xff\xfe\x00", "text/csv")

    page = browser.post(f"/p/{shop.project.slug}/reconcile", {"type": "payout", "file": file})

    assert page.status_code == 400
    assert "no UTF-8 text" in page.content.decode()


def test_a_viewer_sees_the_result_but_exports_nothing(shop: Desk) -> None:
    client = Client()
    user = factories.make_member(shop.project, "viewer")
    client.force_login(factories.get_user_model_of(user))
    asked = {"type": "payout", "ids": "PO-1", "as": "csv"}

    assert client.post(f"/p/{shop.project.slug}/reconcile", asked).status_code == 403


def test_a_stranger_is_told_of_no_project(shop: Desk) -> None:
    client = Client()
    client.force_login(factories.get_user_model_of(factories.make_user()))

    assert client.get(f"/p/{shop.project.slug}/reconcile").status_code == 404


def test_a_long_list_is_answered_whole_in_its_order(shop: Desk) -> None:
    names = [f"none-{number}" for number in range(MANY)]

    found = read(reconcile(shop, ids=[*names, "PO-1"]))

    assert [one["id"] for one in found["items"]] == [*names, "PO-1"]
    assert found["counts"]["nothing_recorded"] == MANY


def test_without_a_list_it_says_since_when_each_source_is_watched(
    shop: Desk, browser: Client
) -> None:
    (one, *_) = shop.read("reconcile")["sources"]
    page = browser.get(f"/p/{shop.project.slug}/reconcile").content.decode()

    assert one["source"] == "desk/one"
    assert one["live_since"] == one["watched_since"]
    assert "desk/one" in page


def test_an_original_that_is_not_here_may_be_older_than_all_that_is_watched(shop: Desk) -> None:
    skip = {"kind": "skip", "reason": "already_done", "original": {"job": "0"}}
    ref = shop.post(skip).document["ref"]
    shop.catch_up()

    told = shop.read(f"receipts/{ref}/explain")["cannot_know"]

    (since, *_) = shop.read("reconcile")["sources"]
    day = since["watched_since"][:10]
    assert [one for one in told if f"from before {day}" in one and "desk/one is watched" in one]


def test_an_empty_list_says_from_when_on_it_could_have_found_anything(
    shop: Desk, browser: Client
) -> None:
    page = browser.get(f"/p/{shop.project.slug}/receipts?q=task:nothing").content.decode()

    assert "Nothing before <time" in page


def numbered(desk: Desk, *, but: int | None = None) -> tuple[Any, Any]:
    """Let a numbered sender work for ten minutes, one number lost or none; gives two verdicts.

    The first is of all that was watched, the second of the first two minutes.
    """
    floor = Floor(desk)
    for minute in range(10):
        number = floor.written["w1"] = minute + 1
        body = {"kind": "done", "id": f"w1/{number}", **about(f"PO-{number}")}
        if number != but:
            with floor.at():
                desk.post(body, counterfoil_feed=f"w1; first={number}")
        floor.report(["w1"])
        floor.wait(1)
    with floor.at():
        listed = [f"PO-{number}" for number in (1, 2)]
        whole = read(reconcile(desk, ids=listed, unnumbered=False))
        until = {"from": "2026-10-05T09:00:00Z", "to": "2026-10-05T09:02:00Z"}
        return whole["verdict"], read(reconcile(desk, ids=listed, unnumbered=False, **until))


def test_a_sender_that_numbers_everything_makes_a_list_accountable(desk: Desk) -> None:
    whole, early = numbered(desk)

    assert (whole["code"], early["verdict"]["code"]) == ("accounted", "accounted")


def test_a_number_that_is_missing_keeps_a_list_open_but_not_for_the_time_before_it(
    desk: Desk,
) -> None:
    whole, early = numbered(desk, but=4)

    assert whole["code"] == "feed_incomplete"
    assert "a number did not arrive" in whole["sentence"]
    assert early["verdict"]["code"] == "accounted"
