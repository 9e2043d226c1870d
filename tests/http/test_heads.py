"""HEAD over every address of the server: what GET answers, without the body."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.test import AsyncClient, Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests import factories
from tests.databases import Database
from tests.desk import Desk

GIVEN = {"ref": "n0", "kind": "payout", "type": "payout", "token_id": "1", "user_id": "1"}
TAILS = ("receipts", "receipts/n0", "receipts/n0/explain", "tasks", "attention", "quarantine")
BUT_NOT = ("X-Request-ID", "Set-Cookie", "Date", "Expires")


def iter_routes(found: URLResolver, before: str = "") -> Iterator[str]:
    """Yield the route of each address, as it is written."""
    for one in found.url_patterns:
        route = before + str(one.pattern)
        if isinstance(one, URLPattern):
            yield route
        else:
            yield from iter_routes(one, route)


ROUTES = sorted(set(iter_routes(get_resolver("config.urls"))))


@dataclass
class House:
    """A project with a receipt, somebody who may do everything there, and a program."""

    slug: str
    person: Client
    program: Client

    def addresses(self, route: str) -> list[str]:
        tails = TAILS if "tail>" in route else ("",)
        return [self._address(route, tail) for tail in tails]

    def _address(self, route: str, tail: str) -> str:
        given = {**GIVEN, "slug": self.slug, "tail": tail}
        return "/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda m: given.get(m[1], "PO-1"), route)

    def client(self, address: str) -> Client:
        return self.program if address.startswith("/api/") else self.person


@pytest.fixture(scope="module")
def house(shared_database: Database, desk_loop: asyncio.AbstractEventLoop) -> House:
    desk = Desk(shared_database, desk_loop)
    body = {"kind": "done", "job": {"task": "PO-1"}, "subjects": [{"type": "payout", "id": "PO-1"}]}
    desk.post(body)
    desk.catch_up()
    person = Client()
    user = factories.make_member(desk.project, "admin")
    person.force_login(factories.get_user_model_of(user))
    _, token = factories.make_token(desk.project, "admin")
    return House(desk.project.slug, person, Client(headers={"authorization": f"Bearer {token}"}))


def headers_of(response: HttpResponseBase) -> dict[str, str]:
    return {name: value for name, value in response.items() if name not in BUT_NOT}


def body_of(response: HttpResponseBase) -> bytes:
    return response.getvalue()


@pytest.mark.parametrize("route", ROUTES)
def test_head_answers_as_get_does_without_the_body(house: House, route: str) -> None:
    for address in house.addresses(route):
        client = house.client(address)

        whole, head = client.get(address), client.head(address)

        assert head.status_code == whole.status_code, address
        assert headers_of(head) == headers_of(whole), address
        assert body_of(head) == b"", address
        whole.close()


def test_most_addresses_answer_get_so_that_these_tests_say_something(house: House) -> None:
    answers = [
        house.client(address).get(address).status_code
        for route in ROUTES
        for address in house.addresses(route)
    ]

    assert answers.count(200) > 30


@pytest.mark.parametrize("tail", ["receipts.csv", "receipts.ndjson"])
def test_head_of_an_export_reads_no_row(
    house: House, tail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[object] = []

    def rows(*given: object) -> Iterator[object]:
        read.append(given)
        yield from ()

    monkeypatch.setattr("ledger.queries.lists.stream_receipts", rows)

    head = house.program.head(f"/api/v1/{tail}")

    assert (head.status_code, read) == (200, [])


def test_head_of_a_live_stream_ends_at_once_under_asgi(house: House) -> None:
    async def ask() -> HttpResponse:
        browser = AsyncClient()
        browser.cookies = house.person.cookies
        return await browser.head(f"/p/{house.slug}/live")

    # Unlike `asyncio.run`, this has the view ask the database from the test's own thread.
    head = async_to_sync(ask)()

    assert (head.status_code, head["Content-Type"]) == (200, "text/event-stream")
