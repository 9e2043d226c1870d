"""What a fault of ours tells the caller, and what it leaves in the server's log."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import AsyncClient, Client

from config import logs
from tests.http.failing import TOKEN

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.http.failing")]

SECRET = "7upavjmksou5k3idyrwmk23e4ga6svxmmjjl5sbza3rhp7mgmsqq"
ADDRESS = f"/login/link/{SECRET}/fails"
REQUEST_ID = "the-request-that-failed"
FORMS = {"a page": "text/html", "a problem": "application/json"}


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """Catch what the server's handler would write."""
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logs.formatter())
    logging.getLogger().addHandler(handler)
    yield stream
    logging.getLogger().removeHandler(handler)


def ask(accepted: str) -> HttpResponse:
    browser = Client(raise_request_exception=False)
    return browser.get(ADDRESS, headers={"X-Request-ID": REQUEST_ID, "Accept": accepted})


async def ask_as_the_server_does() -> HttpResponse:
    browser = AsyncClient(raise_request_exception=False)
    return await browser.get(ADDRESS, headers={"X-Request-ID": REQUEST_ID})


def has_secret(text: str) -> bool:
    return SECRET in text or TOKEN.rpartition("_")[2] in text


def check_one_failure(text: str) -> None:
    (line,) = text.splitlines()
    event: dict[str, Any] = json.loads(line)
    assert event["event"] == "Internal Server Error: /login/link/***/fails"
    assert (event["request_id"], event["level"]) == (REQUEST_ID, "error")
    assert (event["logger"], event["timestamp"][-1]) == ("django.request", "Z")
    assert "RuntimeError: it broke on" in event["exception"]
    assert "failing.py" in event["exception"]
    assert not has_secret(line)


@pytest.mark.parametrize("accepted", FORMS.values(), ids=FORMS)
def test_a_failure_is_one_line_with_traceback_and_request_id_and_no_secret(
    written: io.StringIO, accepted: str
) -> None:
    assert ask(accepted).status_code == 500

    check_one_failure(written.getvalue())


def test_a_failure_under_asgi_is_the_same_line(written: io.StringIO) -> None:
    assert async_to_sync(ask_as_the_server_does)().status_code == 500

    check_one_failure(written.getvalue())


def test_a_person_gets_a_page_that_names_the_request_and_not_the_fault() -> None:
    response = ask("text/html")

    page = response.content.decode()
    assert response["Content-Type"].startswith("text/html")
    assert REQUEST_ID in page
    assert "RuntimeError" not in page
    assert "Traceback" not in page
    assert not has_secret(page)


def test_a_program_gets_a_problem_that_names_the_request_and_not_the_fault() -> None:
    response = ask("application/json")

    assert response["Content-Type"] == "application/problem+json"
    assert json.loads(response.content) == {
        "type": "urn:counterfoil:problem:internal_error",
        "code": "internal_error",
        "status": 500,
        "title": "Something went wrong on our side",
        "instance": f"urn:counterfoil:request:{REQUEST_ID}",
    }


@pytest.mark.parametrize("address", ["/nowhere", "/p/nope/receipts", "/api/v1/receipts"])
def test_what_is_refused_is_not_logged(written: io.StringIO, address: str) -> None:
    assert Client().get(address).status_code in (302, 401, 404)

    assert written.getvalue() == ""
