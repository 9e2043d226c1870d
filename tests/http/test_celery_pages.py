"""Tasks, policies, traces and jobs of a Celery shop, as a person and a program read them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from tests import factories
from tests.desk import Desk

DATA = Path(__file__).parents[1] / "data" / "celery_shop.ndjson"
LINES: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text().splitlines()]
NOON = "2026-10-05T12:00:00Z"
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def shop(desk: Desk) -> Desk:
    with time_machine.travel(NOON, tick=False):
        desk.post_lines(*LINES)
        desk.catch_up()
    return desk


def page(desk: Desk, tail: str) -> str:
    client = Client()
    user = factories.make_member(desk.project, "viewer")
    with time_machine.travel(NOON, tick=False):
        client.force_login(factories.get_user_model_of(user))
        answer = client.get(f"/p/{desk.project.slug}/{tail}")
    assert answer.status_code == 200, answer.content
    return str(answer.content.decode())


def read(desk: Desk, tail: str) -> Any:
    with time_machine.travel(NOON, tick=False):
        return desk.read(tail)


def ref_of(desk: Desk, name: str) -> str:
    (one,) = read(desk, f"receipts?id={name}")["items"]
    return str(one["ref"])


def test_counts_tell_tallied_outcomes_apart_from_receipts(shop: Desk) -> None:
    rows = read(shop, "receipts/counts?by=task,kind")["items"]

    mail = {
        row["kind"]: (row["count"], row["tallied"]) for row in rows if row["task"] == "mail.send"
    }
    assert (mail["done"], mail["retry"]) == ((0, 3), (0, 1))
    assert mail["skip"][1] == 0


def test_a_count_of_receipts_is_what_its_query_lists(shop: Desk) -> None:
    for row in read(shop, "receipts/counts?by=kind")["items"]:
        listed = read(shop, f"receipts?q={row['q']}")["count"]["value"]
        assert listed == row["count"], row


def test_the_page_of_tasks_shows_both_numbers_and_what_is_seen(shop: Desk) -> None:
    html = page(shop, "tasks")

    assert "3 tallied</a>" in html
    assert "nothing of skips" in html
    assert "skips by once" in html


def test_the_page_of_a_task_says_how_it_is_recorded(shop: Desk) -> None:
    html = page(shop, "tasks/~bWFpbC5zZW5k")

    assert "done, in tallies" in html
    assert "policy 2 of celery/shop" in html


def test_the_page_of_policies_lists_each_with_its_time(shop: Desk) -> None:
    html = page(shop, "policies")

    assert html.count("in force") == 1
    assert "health.*" in html


def test_the_policies_of_the_past_are_those_that_were_known(shop: Desk) -> None:
    assert [one["version"] for one in read(shop, "policies?as_of=n10")["items"]] == ["1"]


def test_a_project_without_policies_says_what_was_searched(desk: Desk) -> None:
    html = page(desk, "policies")

    assert "No source has announced a recording policy" in html


def test_an_explanation_leads_to_the_policy_that_left_its_original_out(shop: Desk) -> None:
    html = page(shop, f"receipts/{ref_of(shop, 'ping-skip')}/explain")

    assert "not recorded by policy" in html
    assert f"receipts/{ref_of(shop, 'policy-1')}/explain" in html


def test_the_page_of_a_job_shows_executions_that_met(shop: Desk) -> None:
    html = page(shop, "jobs/celery/shop/r1")

    assert html.count("while another execution ran") == 2
    assert "times handed to a worker" in html


def test_the_page_of_a_tallied_job_says_what_is_not_known(shop: Desk) -> None:
    html = page(shop, "jobs/celery/shop/x1")

    assert "It was done, as a tally tells." in html
    assert "It stands in a tally alone" in html


def test_a_trace_is_linked_from_the_receipt_its_explanation_and_its_job(
    shop: Desk, settings: Any
) -> None:
    settings.TRACE_URL = "https://traces.example/t/{trace_id}"
    ref = ref_of(shop, "p1-enqueue")

    for tail in (f"receipts/{ref}", f"receipts/{ref}/explain", "jobs/celery/shop/p1"):
        assert f'href="https://traces.example/t/{TRACE}"' in page(shop, tail), tail


def test_without_an_address_a_trace_lists_its_receipts_alone(shop: Desk) -> None:
    html = page(shop, f"receipts/{ref_of(shop, 'p1-enqueue')}")

    assert f"q=trace%3A{TRACE}" in html
    assert "the trace</a>" not in html


@pytest.mark.parametrize("written", [TRACE, TRACE.upper()])
def test_receipts_of_a_trace_are_found_however_it_is_written(shop: Desk, written: str) -> None:
    shop.post({"kind": "done", "id": "upper", "trace": {"trace_id": TRACE.upper()}})
    shop.catch_up()

    found = read(shop, f"receipts?q=trace:{written}")["items"]

    assert [one["id"] for one in found] == ["upper", "p1-enqueue"]


def test_a_page_about_the_past_shows_the_trace_in_its_answer(shop: Desk) -> None:
    attempt = read(shop, f"receipts/{ref_of(shop, 'p1-enqueue')}/explain")["attempt"]

    assert attempt["trace"] == {"trace_id": TRACE, "span_id": "00f067aa0ba902b7"}
