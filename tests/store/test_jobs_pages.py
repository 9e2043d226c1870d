"""Jobs, runs and calls as documents and pages, fed with the history of the reference."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.test import Client

from jobs.domain import fixture, oban
from ledger.domain import plain
from tests import factories
from tests.desk import Desk

HISTORY = json.loads((Path(__file__).parents[1] / "data" / "oban_fixture.json").read_text())
PAGES = (
    "jobs",
    "jobs?q=scope:exec_f3",
    "jobs/oban/prod-1/101",
    "scopes/exec_a1",
    "scopes/exec_c7",
    "scopes/exec_f3/invokes/resolve",
    "scopes/exec_b0/invokes/resolve",
)


def tell(desk: Desk, instance: str = "prod-1") -> None:
    history = fixture.merge_defaults(HISTORY)
    now = plain.time_of(HISTORY["now"])
    assert now is not None
    told = [oban.event_receipt(one, instance=instance) for one in history.receipts]
    rows = [oban.row_receipt(one, instance=instance, seen_at=now) for one in history.rows]
    desk.post_lines(*told, *rows)
    desk.catch_up()


@pytest.fixture
def told(desk: Desk) -> Desk:
    tell(desk)
    return desk


def test_every_row_of_the_reference_has_its_verdict_generation_and_scope(told: Desk) -> None:
    for row in HISTORY["rows"]:
        answer = told.read(f"jobs/oban/prod-1/{row['id']}")
        expected = row["expect"]
        assert answer["verdict"]["code"] == expected["verdict"], row["id"]
        if "generation" in expected:
            assert answer["generation"]["rank"] == expected["generation"], row["id"]
        if "logical_scope" in expected:
            assert answer["logical_scope"] == expected["logical_scope"], row["id"]


def test_every_receipt_of_the_reference_has_its_verdict_in_lists_and_explanations(
    told: Desk,
) -> None:
    for leaf, receipt in enumerate(HISTORY["receipts"]):
        listed = told.read(f"receipts/n{leaf}/explain")
        assert listed["verdict"]["code"] == receipt["expect"]["verdict"], receipt["r"]


def test_a_list_is_narrowed_by_a_verdict_of_jobs(told: Desk) -> None:
    found = told.read("receipts?q=verdict:dedup.lost_reentry")

    assert [item["invoke"]["generation"] for item in found["items"]] == ["5"]


def test_a_bare_number_of_two_sources_asks_which_is_meant(told: Desk) -> None:
    tell(told, "prod-2")

    answer = told.get("jobs/101")

    assert answer.status_code == 300
    assert [one["instance"] for one in answer.json()["choices"]] == ["prod-1", "prod-2"]


def test_jobs_of_two_sources_are_never_mixed(told: Desk) -> None:
    before = [told.read(f"jobs/oban/prod-1/{row['id']}")["verdict"] for row in HISTORY["rows"]]

    tell(told, "prod-2")

    after = [told.read(f"jobs/oban/prod-1/{row['id']}")["verdict"] for row in HISTORY["rows"]]
    assert after == before
    call = told.read("scopes/exec_f3/invokes/resolve?source=oban/prod-2")
    names = [one["job"]["job"]["instance"] for one in call["generations"]]
    assert names == ["prod-2", "prod-2"]


def test_skips_of_another_source_are_not_among_those_of_a_call(told: Desk) -> None:
    skip = {
        "kind": "skip",
        "source": {"system": "oban", "instance": "prod-2", "via": "telemetry"},
        "invoke": {"scope": "exec_a1", "id": "resolve", "generation": "4"},
        "original": {"job": "101"},
    }
    told.post(skip)
    told.catch_up()

    one = told.read("scopes/exec_a1/invokes/resolve?source=oban/prod-1")
    other = told.read("scopes/exec_a1/invokes/resolve?source=oban/prod-2")

    assert (one["skipped"], other["skipped"]) == (1, 1)
    assert one["sources"] == ["oban/prod-1", "oban/prod-2"]
    assert told.read("scopes/exec_a1?source=oban/prod-2")["skipped"] == 1
    assert told.get("scopes/exec_a1?source=oban/prod-3").status_code == 404


def test_a_call_of_many_generations_counts_every_skip_and_draws_those_of_its_columns(
    desk: Desk,
) -> None:
    invoke = {"scope": "run", "id": "call"}
    source = {"system": "oban", "instance": "prod-1", "via": "telemetry"}
    told = [
        {
            "kind": kind, "source": source, "invoke": {**invoke, "generation": str(number)},
            **({"job": {"id": str(number)}} if kind == "enqueue" else
               {"original": {"job": str(number)}}),
        }
        for number in range(1, 251) for kind in ("enqueue", "skip")
    ]  # fmt: skip
    desk.post_lines(*told)
    desk.catch_up()

    call = desk.read("scopes/run/invokes/call?until=20")

    assert call["skipped"] == 250
    assert call["sentence"].endswith("asked for again 250 times.")
    again = next(row for row in call["rows"] if row["label"] == "asked again")
    assert [len(cell["skips"]) for cell in again["cells"]] == [1] * 12
    assert desk.get("scopes/run/invokes/call?until=soon").status_code == 400


def test_a_run_as_of_an_earlier_number_is_what_it_was_then(desk: Desk) -> None:
    history = fixture.merge_defaults(HISTORY)
    now = plain.time_of(HISTORY["now"])
    assert now is not None
    bodies = [
        *(oban.row_receipt(one, instance="prod-1", seen_at=now) for one in history.rows[::-1]),
        *(oban.event_receipt(one, instance="prod-1") for one in history.receipts[::-1]),
    ]
    scopes = ("exec_a1", "exec_c7", "exec_d2", "exec_k2", "exec_m6")
    then = []
    for body in bodies:
        desk.post(body)
        desk.catch_up()
        found = [past(desk.get(f"scopes/{scope}")) for scope in scopes]
        then.append((len(desk.leaves()) - 1, found))

    for leaf, before in then:
        after = [past(desk.get(f"scopes/{scope}?as_of=n{leaf}")) for scope in scopes]
        assert after == before, leaf


def past(response: Any) -> Any:
    """Give an answer without its clock: that of the log's last head is not that of the page."""
    document = response.json()
    document.pop("as_of", None)
    for skip in document.get("skips", ()):
        skip["pointer"].pop("due_at", None)
    return response.status_code, document if response.status_code == 200 else None


def test_a_call_shows_the_start_that_was_lost_in_a_column_of_its_own(told: Desk) -> None:
    call = told.read("scopes/exec_b0/invokes/resolve")

    assert [one["value"] for one in call["generations"]] == ["2", "5"]
    assert call["generations"][1]["job"] is None
    assert call["sentence"] == "1 start of resolve in exec_b0 was lost: the work never ran."


def test_a_scope_that_carries_the_generation_leads_to_its_run(told: Desk) -> None:
    run = told.read("scopes/~ZXhlY19jNyMy")

    assert (run["scope"], run["packed"]) == ("exec_c7", ["exec_c7#2", "exec_c7#6"])


def test_every_count_of_a_run_opens_a_list_of_as_many(told: Desk, client: Client) -> None:
    user = factories.make_member(told.project, "auditor")
    client.force_login(factories.get_user_model_of(user))
    for scope in ("exec_c7", "exec_b0"):
        page = client.get(f"/p/{told.project.slug}/scopes/{scope}")
        for one in page.context["scope"]["strip"]:
            jobs = client.get(one["jobs_url"]).context["listing"]["count"]["value"]
            skips = client.get(one["skips_url"]).context["listing"]["count"]["value"]
            assert (jobs, skips) == (one["jobs"], one["skipped"]), (scope, one["value"])


def test_a_job_lists_the_skips_that_point_at_it(told: Desk) -> None:
    answer = told.read("jobs/oban/prod-1/101")

    assert answer["skipped_because"]["count"]["value"] == 1
    (skip,) = answer["skipped_because"]["items"]
    assert skip["verdict"]["code"] == "dedup.replay"


def test_rows_alone_do_not_claim_to_know_of_skips(desk: Desk) -> None:
    now = plain.time_of(HISTORY["now"])
    assert now is not None
    row = fixture.merge_defaults(HISTORY).rows[0]
    desk.post(oban.row_receipt(row, instance="prod-1", seen_at=now))
    desk.catch_up()

    (line,) = desk.read("jobs/oban/prod-1/101")["cannot_know"]

    assert "not knowable" in line


def test_a_job_is_as_it_was_at_an_earlier_number(told: Desk) -> None:
    first_row = len(HISTORY["receipts"])
    row_101 = first_row + [row["id"] for row in HISTORY["rows"]].index(101)

    before = told.read(f"jobs/oban/prod-1/101?as_of=n{row_101 - 1}")
    after = told.read(f"jobs/oban/prod-1/101?as_of=n{row_101}")

    assert (before["job"]["state"], after["job"]["state"]) == (None, "completed")


def test_what_no_receipt_names_is_not_found(told: Desk) -> None:
    for tail in (
        "jobs/oban/prod-1/9999", "jobs/9999", "scopes/none", "scopes/exec_a1/invokes/none",
    ):  # fmt: skip
        assert told.get(tail).status_code == 404, tail


def test_an_unknown_term_says_where_it_stands(told: Desk) -> None:
    answer = told.get("jobs?q=colour:blue")

    assert answer.status_code == 400
    assert "colour" in json.dumps(answer.json())


def test_each_page_is_drawn_and_has_its_twin(told: Desk, client: Client) -> None:
    user = factories.make_member(told.project, "auditor")
    client.force_login(factories.get_user_model_of(user))

    for tail in PAGES:
        assert client.get(f"/p/{told.project.slug}/{tail}").status_code == 200, tail
        path, _, query = tail.partition("?")
        with time_machine.travel(datetime.now(UTC), tick=False):
            twin = client.get(f"/p/{told.project.slug}/{path}.json?{query}")
            assert twin.content == told.get(tail).content, tail
