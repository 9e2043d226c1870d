"""Answers over HTTP: twins, exports, and what is asked for wrongly."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client

from kit import ids, keyset
from ledger import keys
from ledger.models import Entry, EntrySubject
from tests import factories, stories
from tests.databases import Database


@dataclass(frozen=True)
class Readers:
    """One project read by a program and by a person, both at one clock."""

    story: stories.Story
    program: Client
    person: Client

    def api(self, tail: str) -> Any:
        with self.clock():
            return whole(self.program.get(f"/api/v1/{tail}"))

    def twin(self, tail: str, kind: str = "json") -> Any:
        path, _, query = tail.partition("?")
        with self.clock():
            address = f"/p/{self.story.project.slug}/{path}.{kind}?{query}"
            return whole(self.person.get(address))

    def clock(self) -> time_machine.travel:
        return time_machine.travel(self.story.now + timedelta(hours=1), tick=False)


def whole(response: Any) -> Any:
    """Read a streamed answer while the clock still stands."""
    if response.streaming:
        response.body = b"".join(response.streaming_content)
    else:
        response.body = response.content
    return response


@pytest.fixture(scope="module")
def readers(shared_database: Database) -> Iterator[Readers]:
    keys.forget()
    story = stories.tell(71, 70)
    with time_machine.travel(story.now, tick=False):
        _, token = factories.make_token(story.project, "read", name="reader")
        person = Client()
        member = factories.make_member(story.project, "auditor", f"audrey{story.project.id}")
        person.force_login(factories.get_user_model_of(member))
    yield Readers(story, Client(headers={"authorization": f"Bearer {token}"}), person)
    keys.forget()


def skip_of(readers: Readers) -> int:
    rows = Entry.objects.filter(project_id=readers.story.project.id, pointer_state="resolved")
    return int(rows.values_list("leaf_index", flat=True).order_by("leaf_index")[0])


def tails(readers: Readers) -> list[str]:
    leaf = skip_of(readers)
    subject = EntrySubject.objects.filter(project_id=readers.story.project.id).first()
    assert subject is not None
    return [
        "receipts",
        "receipts?q=kind:skip&limit=3",
        f"receipts?as_of=n{leaf}",
        f"receipts/n{leaf}",
        f"receipts/n{leaf}?as_of=n{leaf + 2}",
        f"receipts/n{leaf}/explain",
        f"receipts/n{leaf}/explain?as_of=n{leaf}",
        "receipts/counts?by=kind,reason",
        "receipts?limit=0",
        f"subjects/{subject.type}/{ids.segment(subject.subject)}",
        "tasks",
        "tasks/report",
        "quarantine?open=1",
        "attention",
        "receipts/n99999",
    ]


def test_the_twin_of_each_page_is_the_answer_of_the_api_byte_for_byte(readers: Readers) -> None:
    for tail in tails(readers):
        api, twin = readers.api(tail), readers.twin(tail)

        assert (twin.status_code, plain(twin)) == (api.status_code, plain(api)), tail
        assert twin.headers["content-type"] == api.headers["content-type"]
        assert api.status_code == 200 or tail.endswith(("=0", "99999"))


def plain(response: Any) -> Any:
    """Give the bytes; of a problem without the request's own id."""
    if response.status_code == 200:
        return response.body
    return {k: v for k, v in json.loads(response.body).items() if k not in OF_ONE_REQUEST}


OF_ONE_REQUEST = ("instance", "request_id")


@pytest.mark.parametrize("kind", ["csv", "ndjson"])
def test_an_export_is_the_same_to_a_person_and_a_program(readers: Readers, kind: str) -> None:
    api = readers.api(f"receipts.{kind}?q=kind:skip")

    assert api.status_code == 200
    assert readers.twin("receipts?q=kind:skip", kind).body == api.body


@pytest.mark.parametrize("q", ["", "kind:skip", "pointer:unresolved", "data.event:stop"])
def test_exports_hold_the_rows_of_the_list(readers: Readers, q: str) -> None:
    items = json.loads(readers.api(f"receipts?q={q}&limit=500").body)["items"]

    lines = readers.api(f"receipts.ndjson?q={q}").body.splitlines()
    table = list(csv.DictReader(io.StringIO(readers.api(f"receipts.csv?q={q}").body.decode())))

    assert [json.loads(line) for line in lines] == items
    assert [row["ref"] for row in table] == [item["ref"] for item in items]
    for row, item in zip(table, items, strict=True):
        assert row["verdict"] == item["verdict"]["code"]
        assert row["leaf_index"] == item["leaf_index"]
        assert row["deliveries"] == str(item["deliveries"])
        assert row["pointer"] == (item["pointer"] or {}).get("state", "")
        assert row["received_at"] == item["received_at"]


OTHER_LIST = keyset.encode(keyset.Cursor((5,)), "quarantine")


@pytest.mark.parametrize(
    ("tail", "code"),
    [
        ("receipts?limit=0", "invalid"),
        ("receipts?limit=501", "invalid"),
        ("receipts?limit=many", "invalid"),
        ("receipts?id=", "bad_query"),
        ("receipts?q=kind:skip&id=", "bad_query"),
        ("receipts?cursor=nonsense", "bad_cursor"),
        (f"receipts?cursor={OTHER_LIST}", "bad_cursor"),
        ("quarantine?cursor=nonsense", "bad_cursor"),
        ("receipts?as_of=yesterday", "as_of"),
        ("receipts?as_of=n999999", "as_of"),
        ("receipts?as_of=n-1", "as_of"),
        ("receipts?as_of=n01", "as_of"),
        ("receipts?as_of=2026-10-05T09:00:00", "as_of"),
        ("receipts/n0?as_of=2026-10-04", "as_of"),
        ("receipts/n5/explain?as_of=n4", "as_of"),
        ("receipts/n5?as_of=n4", "as_of"),
        ("receipts?q=colour:red", None),
        ("receipts.csv?q=colour:red", None),
        ("receipts.ndjson?as_of=n999999", "as_of"),
        ("receipts/counts?by=colour", "bad_counts"),
        ("receipts/counts", None),
    ],
)
def test_what_is_asked_for_wrongly_is_a_problem_that_says_what(
    readers: Readers, tail: str, code: str | None
) -> None:
    answer = readers.api(tail)

    assert answer.status_code == (422 if code == "invalid" else 400), answer.body
    assert answer.headers["content-type"] == "application/problem+json"
    problem = json.loads(answer.body)
    assert problem["code"] == code if code else problem["code"]
    assert problem["title"]


@pytest.mark.parametrize("as_of", ["2026-10-05", "1h", "2026-10-05T12:00:00Z"])
def test_a_time_before_the_first_head_is_an_empty_ledger_or_its_beginning(
    readers: Readers, as_of: str
) -> None:
    answer = json.loads(readers.api(f"receipts?as_of={as_of}").body)

    assert answer["count"]["value"] == answer["window"]["searched"]
    assert len(answer["items"]) == min(50, answer["count"]["value"])
    if as_of == "2026-10-05":
        assert answer["items"] == []
        assert (answer["window"]["from"], answer["window"]["to"]) == (None, None)
