"""The key lab and keys over HTTP: what a program is answered and what a person is shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from access.models import Action
from jobs.models import KeyHolder
from kit import ids
from tests import factories
from tests.desk import Desk

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
OBAN = {"system": "oban", "instance": "prod-1"}
WORKER = "StatifierOban.Invoke.Worker"
TWO_PART = {"fields": ["scope", "invoke_id"]}


def at(seconds: float) -> str:
    return (NINE + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")


def invoke(kind: str, seconds: float, macrostep: int, **more: Any) -> dict[str, Any]:
    fields = {"scope": "exec_b0", "invoke_id": "resolve", "macrostep": macrostep}
    job = {"task": WORKER, "queue": "q"} | more.pop("job", {})
    return {
        "kind": kind,
        "occurred_at": at(seconds),
        "source": OBAN,
        "job": job,
        "key": {"recipe": "statifier.invoke", "version": "2", "fields": fields},
        **more,
    }


def call(kind: str, seconds: float, version: str, **more: Any) -> dict[str, Any]:
    """Tell of T4's report (report, a, 1) under one version of its recipe."""
    picked: dict[str, Any] = {"job": "report", "file": "a"}
    key = {"fields": {**picked, "n": 1}} if version == "1" else {
        "fields": picked, "ignored": {"n": 1}}  # fmt: skip
    key |= {"recipe": "report", "version": version}
    return {"kind": kind, "occurred_at": at(seconds), "key": key, **more}


class Lab:
    """A desk with a program and a person who read, an hour after the story."""

    def __init__(self, desk: Desk, now: datetime = NINE + timedelta(hours=1)) -> None:
        self.desk, self.now = desk, now
        self.person = Client(enforce_csrf_checks=True)
        user = factories.make_member(desk.project, "operator", f"olga-{desk.project.id}")
        self.person.force_login(factories.get_user_model_of(user))

    def tell(self, *bodies: dict[str, Any]) -> list[str]:
        refs = [self.desk.post(one).document["ref"] for one in bodies]
        self.desk.catch_up()
        return refs

    def try_out(self, recipe: dict[str, Any], **more: Any) -> dict[str, Any]:
        answer = self.post("simulate", {"recipe": recipe, **more})
        assert answer.status_code == 200, answer.content
        found: dict[str, Any] = answer.json()
        return found

    def post(self, tail: str, body: dict[str, Any], token: str = "") -> Any:
        client = Client(headers={"authorization": f"Bearer {token or self.desk.reader}"})
        with time_machine.travel(self.now, tick=False):
            return client.post(
                f"/api/v1/{tail}", data=json.dumps(body), content_type="application/json"
            )

    def read(self, tail: str) -> Any:
        with time_machine.travel(self.now, tick=False):
            return self.desk.read(tail)

    def page(self, tail: str, **query: Any) -> Any:
        with time_machine.travel(self.now, tick=False):
            return self.person.get(
                f"/p/{self.desk.project.slug}/{tail}?{urlencode(query, doseq=True)}"
            )


@pytest.fixture
def lab(desk: Desk) -> Iterator[Lab]:
    yield Lab(desk)


def test_the_two_part_key_would_have_lost_the_reentry_by_name(lab: Lab) -> None:
    first, _, second = lab.tell(
        invoke("enqueue", 0, 2, job={"id": "102"}),
        invoke("skip", 30, 2, reason="already_done", original={"job": "102"}),
        invoke("enqueue", 300, 5, job={"id": "104"}),
    )

    found = lab.try_out(TWO_PART)

    assert (found["attempts"], found["would_run"], found["would_skip"]) == (3, 1, 2)
    assert found["lost_reentries"] == 1
    (flip,) = found["flips"]
    assert (flip["ref"], flip["from"], flip["to"]) == (second, "ran", "skipped")
    assert f"({first})" in flip["because"]
    assert "macrostep (2 there, 5 here)" in flip["because"]
    assert flip["differs"] == [{"field": "macrostep", "here": "5", "there": "2"}]


def test_a_skip_across_generations_would_have_run_and_says_what_it_was_skipped_for(
    lab: Lab,
) -> None:
    first, skip = lab.tell(
        invoke("enqueue", 0, 2, job={"id": "102"}),
        invoke("skip", 300, 5, reason="already_done", original={"job": "102"}),
    )

    found = lab.try_out({"fields": ["scope", "invoke_id", "macrostep"], "window_s": None})

    (flip,) = found["flips"]
    assert (flip["ref"], flip["from"], flip["to"]) == (skip, "skipped", "ran")
    assert flip["original"]["ref"] == first
    assert "What it was skipped for, №0" in flip["because"]


def test_what_a_skip_names_by_a_later_receipt_of_a_job_is_known_by_its_job(lab: Lab) -> None:
    lab.tell(
        invoke("enqueue", 0, 2, job={"id": "102"}),
        {"kind": "done", "id": "d1", "occurred_at": at(9), "source": OBAN, "job": {"id": "102"}},
        invoke("skip", 300, 5, reason="already_done", original={"receipt": "d1"}),
    )

    (flip,) = lab.try_out({"fields": ["scope", "macrostep"]})["flips"]

    assert "What it was skipped for, №1" in flip["because"]
    assert "macrostep (2 there, 5 here)" in flip["because"]


@pytest.mark.parametrize("fields", [["job", "file", "n"], ["job", "file"]])
def test_a_changed_recipe_alone_let_the_second_call_run(lab: Lab, fields: list[str]) -> None:
    _, second = lab.tell(call("start", 0, "1", id="R1"), call("start", 60, "2", id="R2"))

    found, as_recorded = lab.try_out({"fields": fields}), lab.try_out({})

    assert [one["ref"] for one in found["flips"]] == [second]
    assert found["across_recipes"] == 1
    assert (
        "keys of different matching rules, or versions of one, never met"
        in (found["flips"][0]["because"])
    )
    assert as_recorded["flips"] == []


def test_two_recipes_are_set_side_by_side_and_q_selects(lab: Lab) -> None:
    lab.tell(
        invoke("enqueue", 0, 2, job={"id": "1"}),
        invoke("enqueue", 60, 5, job={"id": "2"}),
        call("start", 0, "1", id="R1"),
    )

    found = lab.try_out(TWO_PART, compare={"fields": ["scope"], "window_s": 30}, q="scope:nowhere")
    whole = lab.try_out(TWO_PART, compare={"fields": ["scope"], "window_s": 30})

    assert (found["attempts"], found["compare"]["attempts"]) == (0, 0)
    assert (whole["flips_count"]["to_skip"], whole["compare"]["flips_count"]["to_skip"]) == (1, 0)
    assert whole["unjudged"] == [
        {
            "code": "lacks",
            "field": "scope",
            "count": 1,
            "because": "it does not name the field scope",
        }
    ]


def test_the_address_and_the_body_ask_the_same(lab: Lab) -> None:
    lab.tell(invoke("enqueue", 0, 2, job={"id": "1"}), invoke("enqueue", 60, 5, job={"id": "2"}))

    asked = {"fields": ["scope", "invoke_id"], "window_s": 300, "states": ["completed"],
             "policy": "run_again", "across_tasks": True}  # fmt: skip
    tail = ("simulate?fields=scope,invoke_id&window=300&states=completed&policy=run_again"
            "&across_tasks=1")  # fmt: skip

    assert lab.read(tail) == lab.try_out(asked)
    assert lab.page(tail.replace("simulate?", "simulate.json?")).status_code == 200


REFUSED = [
    ("simulate", {"recipe": {"states": ["asleep"]}}, 400),
    ("simulate", {"recipe": {"window_s": -1}}, 422),
    ("simulate", {"recipe": {"window_s": True}}, 422),
    ("simulate", {"recipe": {"policy": "maybe"}}, 422),
    ("simulate", {"recipe": {}, "q": "colour:red"}, 400),
    ("simulate", {"recipe": {}, "q": "key.scope:a"}, 400),
    ("simulate", {}, 422),
]


@pytest.mark.parametrize(("tail", "body", "status"), REFUSED)
def test_what_cannot_be_tried_is_refused(
    lab: Lab, tail: str, body: dict[str, Any], status: int
) -> None:
    assert lab.post(tail, body).status_code == status


@pytest.mark.parametrize(
    "query", [{"window": "soon"}, {"policy": "x"}, {"states": "odd"}, {"window": "-1"},
              {"fields": "a," * 70}, {"window": "nan"}]
)  # fmt: skip
def test_a_page_says_what_of_a_recipe_it_cannot_read(lab: Lab, query: dict[str, str]) -> None:
    page = lab.page("simulate", **{"fields": "scope", **query})

    assert page.status_code in (200, 400)
    assert page.status_code == 400 or "fields" in query
    assert lab.desk.get(f"simulate?{urlencode(query)}").status_code in (200, 400)


def test_the_page_shows_both_recipes_and_every_flip_by_its_address_alone(lab: Lab) -> None:
    lab.tell(invoke("enqueue", 0, 2, job={"id": "1"}), invoke("enqueue", 60, 5, job={"id": "2"}))

    page = lab.page("simulate", fields="scope, invoke_id", b_fields="scope,invoke_id,macrostep")

    text = page.content.decode()
    assert page.status_code == 200
    assert "1 that ran would have been skipped" in text
    assert "re-entries lost" in text
    assert "differs in macrostep (2 there, 5 here)" in text
    assert "scope, invoke_id, macrostep" in text


def test_the_lab_counts_beside_a_trial_what_was_lost_already(lab: Lab) -> None:
    told = {number: {"scope": "exec_b0", "id": "resolve", "generation": str(number)}
            for number in (2, 5)}  # fmt: skip
    _, skip = lab.tell(
        invoke("enqueue", 0, 2, job={"id": "102"}, invoke=told[2]),
        invoke("skip", 300, 5, reason="already_done", original={"job": "102"}, invoke=told[5]),
    )

    lost = lab.try_out(TWO_PART)["already_lost"]

    assert lost["value"] == 1
    assert [one["ref"] for one in lab.read(f"receipts?q={lost['q']}")["items"]] == [skip]


def test_the_lab_without_a_recipe_offers_those_on_record(lab: Lab) -> None:
    lab.tell(invoke("enqueue", 0, 2, job={"id": "1"}))

    found = lab.read("simulate")

    assert found["recorded"] == [
        {
            "recipe": "statifier.invoke",
            "version": "2",
            "fields": ["invoke_id", "macrostep", "scope"],
            "tasks": [WORKER],
        }
    ]
    assert "attempts" not in found
    assert "statifier.invoke" in lab.page("simulate").content.decode()


def beat(job: str, seconds: float) -> dict[str, Any]:
    return {"kind": "heartbeat", "occurred_at": at(seconds), "source": OBAN, "job": {"id": job},
            "period_s": 30, "grace_s": 30}  # fmt: skip


def dead_holder(lab: Lab) -> dict[str, Any]:
    """Tell T2: a holder silent for 29 minutes when the next of its key is turned away."""
    lab.now = NINE + timedelta(minutes=30)
    key = {"recipe": "import", "version": "1", "fields": {"file": "a.csv"}}
    lab.tell(
        {"kind": "start", "occurred_at": at(0), "source": OBAN, "job": {"id": "1"}, "key": key},
        beat("1", 60),
        {"kind": "skip", "occurred_at": at(1800), "source": OBAN, "key": key,
         "reason": "in_flight", "original": {"job": "1"}},
    )  # fmt: skip
    found: dict[str, Any] = lab.read("keys?gone=1")
    return found


def test_a_dead_holder_is_listed_as_lost_and_never_as_done(lab: Lab) -> None:
    found = dead_holder(lab)

    (key,) = found["items"]
    assert (key["holder"]["state"], key["holder"]["job"]) == ("lost", "1")
    assert "no sign of life for 29 min; it may be silent for 1 min" in key["holder"]["sentence"]
    assert key["turned_away"] == 1
    one = lab.read(f"keys/import/{key['digest']}")
    assert one["skips_since"] == {"value": 1, "method": "exact"}
    assert [claim["kind"] for claim in one["claims"]["items"]] == ["start", "skip"]
    assert one["release"]["ways"][0]["command"] == "Oban.cancel_job(1)"


def test_a_holder_that_lives_or_has_ended_is_not_gone(lab: Lab) -> None:
    lab.now = NINE + timedelta(minutes=1)
    lab.tell(
        {**call("start", 0, "1", id="s1")},
        {**call("start", 0, "2", job={"id": "7"})},
        {"kind": "done", "occurred_at": at(5), "job": {"id": "7"}},
    )

    states = sorted(one["holder"]["state"] for one in lab.read("keys")["items"])

    assert states == ["completed", "in_flight"]
    assert lab.read("keys?gone=1")["items"] == []


def test_a_pruned_row_without_an_end_is_gone(lab: Lab) -> None:
    lab.tell(
        invoke("enqueue", 0, 2, job={"id": "9"}),
        {"kind": "prune", "occurred_at": at(60), "source": OBAN, "jobs": {"ids": ["9"]}},
    )

    (key,) = lab.read("keys?gone=1")["items"]

    assert key["holder"]["state"] == "pruned"


def test_the_newest_claim_holds_the_key_whatever_ends_or_arrives_late(lab: Lab) -> None:
    def told(kind: str, seconds: float, job: str) -> dict[str, Any]:
        return call(kind, seconds, "1", job={"id": job})

    lab.tell(
        told("start", 10, "1"), told("start", 60, "2"), told("done", 90, "1"), told("start", 5, "0")
    )

    (key,) = lab.read("keys")["items"]

    assert (key["holder"]["job"], key["holder"]["state"]) == ("2", "in_flight")


@pytest.mark.parametrize(
    ("q", "found"),
    [("", 2), ("key.macrostep:5", 1), ("key.scope:exec_b0", 2), ("-key.macrostep:5", 1),
     ("key.macrostep:7", 0), ("scope:exec_b0", 0), (f"task:{WORKER}", 2), ("job:102", 1)],
)  # fmt: skip
def test_keys_are_narrowed_by_fields_and_by_the_receipts_that_claim_them(
    lab: Lab, q: str, found: int
) -> None:
    lab.tell(
        invoke("enqueue", 0, 2, job={"id": "102"}), invoke("enqueue", 60, 5, job={"id": "104"})
    )

    answer = lab.read(f"keys?{urlencode({'q': q})}")

    assert len(answer["items"]) == answer["count"]["value"] == found
    assert answer["recipes"] == ["statifier.invoke"]


def test_keys_and_gone_keys_page_by_cursor(lab: Lab) -> None:
    lab.now = NINE + timedelta(days=9)
    lab.tell(*(call("start", n, "1", id=f"s{n}", job={"id": str(n)}) | {
        "key": {"fields": {"n": n}}} for n in range(5)))  # fmt: skip

    for tail, order in (
        ("keys?limit=2", [4, 3, 2, 1, 0]),
        ("keys?gone=1&limit=2", [0, 1, 2, 3, 4]),
    ):
        seen, cursor = [], ""
        while cursor is not None:
            page = lab.read(f"{tail}&cursor={cursor}")
            seen += [int(one["fields"]["n"]) for one in page["items"]]
            cursor = page["next"]

        assert seen == order


def test_a_release_is_noted_with_its_reason_and_by_whom(lab: Lab) -> None:
    (key,) = dead_holder(lab)["items"]
    address = f"/p/{lab.desk.project.slug}/keys/import/{key['digest']}"
    form = lab.page(f"keys/import/{key['digest']}")
    token = lab.person.cookies["csrftoken"].value

    with time_machine.travel(lab.now, tick=False):
        refused = lab.person.post(f"{address}/release", {"reason": "dead"})
        answer = lab.person.post(
            f"{address}/release", {"reason": "the node is dead", "csrfmiddlewaretoken": token}
        )
    lab.desk.catch_up()

    assert "DELETE FROM oban_jobs WHERE id = 1" in form.content.decode()
    assert (refused.status_code, answer.status_code) == (403, 302)
    one = lab.read(f"keys/import/{key['digest']}")
    assert one["released"]["by"]
    assert lab.read("keys?gone=1")["items"] == []
    note = Action.objects.filter(project_id=lab.desk.project.id, verb="release").get()
    assert (note.reason, note.target) == ("the node is dead", f"key:import/{key['digest']}")


def test_a_viewer_is_shown_no_form_and_may_not_post_it(lab: Lab) -> None:
    (key,) = dead_holder(lab)["items"]
    viewer = factories.make_member(lab.desk.project, "viewer", f"vera-{lab.desk.project.id}")
    lab.person = Client()
    lab.person.force_login(factories.get_user_model_of(viewer))

    page = lab.page(f"keys/import/{key['digest']}")
    answer = lab.person.post(
        f"/p/{lab.desk.project.slug}/keys/import/{key['digest']}/release", {"reason": "x"}
    )

    assert b"Note it in the log" not in page.content
    assert answer.status_code == 403


def test_a_reader_may_not_note_a_release_and_a_reason_is_needed(lab: Lab) -> None:
    (key,) = dead_holder(lab)["items"]
    tail = f"keys/import/{key['digest']}/release"
    _, operator = factories.make_token(lab.desk.project, "operate")

    assert lab.post(tail, {"reason": "x"}).status_code == 403
    assert lab.post(tail, {"reason": ""}, operator).status_code == 400
    assert lab.post(tail, {"reason": "dead"}, operator).status_code == 200
    assert lab.post("keys/import/0/release", {"reason": "x"}, operator).status_code == 404


def test_a_stranger_finds_no_key_and_no_lab(lab: Lab, desk: Desk) -> None:
    (key,) = dead_holder(lab)["items"]
    other = Lab(Desk(desk.database, desk.loop))

    assert other.read("keys")["items"] == []
    assert other.desk.get(f"keys/import/{key['digest']}").status_code == 404
    for tail in ("simulate", "keys", f"keys/import/{key['digest']}"):
        stranger = other.person.get(f"/p/{desk.project.slug}/{tail}")
        assert stranger.status_code == 404


@pytest.mark.parametrize("tail", ["keys", "simulate", "keys?q=colour:red", "simulate?q=colour:red"])
def test_the_pages_of_an_empty_project_say_what_would_be_there(lab: Lab, tail: str) -> None:
    path, _, query = tail.partition("?")
    page = lab.page(path, **dict(part.split("=") for part in query.split("&") if part))

    assert page.status_code == (400 if query and path == "keys" else 200)


COSTS = {
    "simulate": 3,
    "simulate?fields=scope,invoke_id&b_fields=scope": 12,
    "keys": 10,
    "keys?gone=1": 10,
    f"keys/{ids.segment('statifier.invoke')}/{{digest}}": 13,
}
"""Statements on PostgreSQL, which opens a snapshot by one more than SQLite."""


@pytest.mark.parametrize("tail", COSTS)
def test_an_answer_costs_a_fixed_number_of_queries(lab: Lab, tail: str) -> None:
    def tell(start: int, count: int) -> None:
        lab.tell(
            *(
                invoke(kind, 60 * n, n if kind == "enqueue" else 0, **more)
                for n in range(start, start + count)
                for kind, more in (
                    ("enqueue", {"job": {"id": str(n)}}),
                    ("skip", {"reason": "in_flight", "original": {"job": "0"}}),
                )
            )
        )

    def cost() -> int:
        address = tail.format(digest=KeyHolder.objects.filter(
            project_id=lab.desk.project.id).order_by("first_leaf")[0].digest)  # fmt: skip
        lab.read(address)
        with CaptureQueriesContext(connection) as captured:
            lab.read(address)
        return len(captured)

    tell(0, 3)
    few = cost()
    tell(3, 20)

    assert few == cost()
    assert COSTS[tail] - few in (0, 1)
