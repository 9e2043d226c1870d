"""Whether a named original lies in another project: who may ask, where it is looked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
import time_machine
from django.test import Client

from access import store
from access.models import ApiToken, Member
from access.rows import ProjectRow, UserRow
from config import follower
from kit import ids
from ledger import ingest, keys
from ledger.domain.draft import Envelope
from ledger.models import Entry, Receipt
from tests import factories
from tests.databases import Database

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
LOST: dict[str, Any] = {"kind": "skip", "original": {"receipt": "ID-7"}}
BUTTON = "Is it in another of my projects?"


@dataclass
class Rooms:
    """Three projects: alice reads the first two, and the third is not hers."""

    own: ProjectRow
    other: ProjectRow
    foreign: ProjectRow
    alice: UserRow
    client: Client = field(default_factory=Client)

    def post(self, project: ProjectRow, body: dict[str, Any], source: str = "") -> str:
        listing, _ = factories.make_token(project, source=source)
        token = ApiToken.objects.get(prefix=listing.prefix).pk
        given = Envelope(project.id, NINE, token_id=token)
        (outcome,) = ingest.ingest([json.dumps(body).encode()], given)
        follower.catch_up()
        return ids.ref_of(Receipt.objects.get(pk=outcome.receipt).pk)

    def page(self, ref: str, asked: str = "?elsewhere=1", **headers: str) -> str:
        address = f"/p/{self.own.slug}/receipts/{ref}/explain{asked}"
        response = self.client.get(address, headers=headers or None)
        assert response.status_code == 200
        return response.content.decode()

    def link(self, project: ProjectRow, ref: str) -> str:
        return f'href="/p/{project.slug}/receipts/{ref}/explain"'


@pytest.fixture
def rooms(sqlite_database: Database) -> Iterator[Rooms]:
    keys.forget()
    with time_machine.travel(NINE, tick=False):
        own, other, foreign = (factories.make_project(name) for name in ("own", "other", "foreign"))
        alice = factories.make_member(own, "viewer", "alice")
        store.add_member(other.id, alice.id, role="viewer", actor=factories.TESTER)
        found = Rooms(own, other, foreign, alice)
        found.client.force_login(factories.get_user_model_of(alice))
        yield found


def test_an_original_in_another_project_that_one_may_read_is_found_and_linked(
    rooms: Rooms,
) -> None:
    there = rooms.post(rooms.other, {"kind": "done", "id": "ID-7"})
    ref = rooms.post(rooms.own, LOST)

    page = rooms.page(ref)

    assert rooms.link(rooms.other, there) in page
    assert "Not here yet" in page


def test_a_job_is_found_by_its_full_name(rooms: Rooms) -> None:
    job = {"job": {"id": "101"}}
    there = rooms.post(rooms.other, {"kind": "start", **job}, source="oban/prod-1")
    rooms.post(rooms.other, {"kind": "skip", **job}, source="oban/prod-1")
    wrong = rooms.post(rooms.other, {"kind": "start", **job}, source="oban/prod-2")
    ref = rooms.post(rooms.own, {"kind": "skip", "original": {"job": "101"}}, source="oban/prod-1")

    page = rooms.page(ref)

    assert rooms.link(rooms.other, there) in page
    assert wrong not in page


def test_of_a_project_that_one_may_not_read_nothing_is_told(rooms: Rooms) -> None:
    there = rooms.post(rooms.foreign, {"kind": "done", "id": "ID-7"})
    ref = rooms.post(rooms.own, LOST)

    page = rooms.page(ref)

    assert there not in page
    assert "foreign" not in page
    assert "Not in your other projects either." in page


def test_it_is_looked_for_only_when_somebody_asks(rooms: Rooms) -> None:
    there = rooms.post(rooms.other, {"kind": "done", "id": "ID-7"})
    ref = rooms.post(rooms.own, LOST)

    page = rooms.page(ref, "")

    assert BUTTON in page
    assert there not in page


def test_the_answer_is_kept_nowhere(rooms: Rooms) -> None:
    rooms.post(rooms.other, {"kind": "done", "id": "ID-7"})
    ref = rooms.post(rooms.own, LOST)
    twin = f"/p/own/receipts/{ref}/explain.json"
    before, rows = rooms.client.get(twin).json(), list(Entry.objects.values().order_by("pk"))

    rooms.page(ref)

    assert rooms.client.get(f"{twin}?elsewhere=1").json() == before
    assert list(Entry.objects.values().order_by("pk")) == rows
    assert before["pointer"]["state"] == "pending"


def test_who_reads_one_project_alone_is_not_offered_to_ask(rooms: Rooms) -> None:
    Member.objects.filter(user_id=rooms.alice.id, project_id=rooms.other.id).delete()
    ref = rooms.post(rooms.own, LOST)

    assert BUTTON not in rooms.page(ref, "")


def test_a_token_sees_its_own_project_alone(rooms: Rooms) -> None:
    there = rooms.post(rooms.other, {"kind": "done", "id": "ID-7"})
    ref = rooms.post(rooms.own, LOST)
    _, token = factories.make_token(rooms.own, "read")

    page = rooms.page(ref, Authorization=f"Bearer {token}")

    assert there not in page
    assert BUTTON not in page


@pytest.mark.parametrize(
    "body",
    [
        {"kind": "done"},
        {"kind": "skip"},
        {"kind": "skip", "original": {"receipt": "here"}},
        {"kind": "skip", "key": {"recipe": "r", "fields": {"n": 1}}},
    ],
    ids=["a done", "a skip that names nothing", "a skip that was resolved", "a skip with a key"],
)
def test_where_no_name_is_open_nothing_is_offered(rooms: Rooms, body: dict[str, Any]) -> None:
    rooms.post(rooms.own, {"kind": "done", "id": "here"})
    ref = rooms.post(rooms.own, body)

    assert BUTTON not in rooms.page(ref, "")


def test_of_an_earlier_time_it_cannot_be_asked(rooms: Rooms) -> None:
    ref = rooms.post(rooms.own, LOST)

    assert BUTTON not in rooms.page(ref, "?as_of=n0")
