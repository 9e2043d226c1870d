"""Answers over HTTP: problems and pages, JSON bytes, streams, tags and request ids."""

from __future__ import annotations

import asyncio
import csv
import dataclasses
import io
import json
import sqlite3
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import httpx
import psycopg
import pytest
import structlog
from django.core.exceptions import PermissionDenied, SuspiciousOperation, ValidationError
from django.core.handlers.asgi import ASGIHandler
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.test import Client, RequestFactory, override_settings
from django.urls import path
from hypothesis import given
from hypothesis import strategies as st
from ninja import NinjaAPI
from ninja.errors import HttpError
from ninja.errors import ValidationError as NinjaValidationError

from kit import http, keyset, search

AT = datetime(2026, 10, 5, 9, 0, 30, tzinfo=UTC)
get = RequestFactory().get


def caused_by(cause: Exception) -> OperationalError:
    error = OperationalError(str(cause))
    error.__cause__ = cause
    return error


def sqlite_error(code: int) -> OperationalError:
    cause = sqlite3.OperationalError("as SQLite says")
    cause.sqlite_errorcode = code
    return caused_by(cause)


RAISED: dict[str, tuple[Exception, int, str]] = {
    "a problem": (http.ProblemError(409, "conflict", "T", "D"), 409, "conflict"),
    "nothing there": (Http404("no"), 404, "not_found"),
    "not allowed": (PermissionDenied(), 403, "forbidden"),
    "suspicious": (SuspiciousOperation(), 400, "bad_request"),
    "a foreign cursor": (keyset.BadCursor(), 400, "bad_cursor"),
    "an API error": (HttpError(429, "slow down"), 429, "too_many_requests"),
    "invalid": (ValidationError("wrong"), 422, "invalid"),
    "a lost connection": (caused_by(psycopg.OperationalError("gone")), 503, "database_unavailable"),
    "a server going down": (
        caused_by(psycopg.errors.AdminShutdown("bye")),
        503,
        "database_unavailable",
    ),
    "a deadlock": (caused_by(psycopg.errors.DeadlockDetected("x")), 503, "database_unavailable"),
    "a time limit": (caused_by(psycopg.errors.QueryCanceled("slow")), 503, "query_too_slow"),
    "a busy SQLite": (sqlite_error(sqlite3.SQLITE_BUSY_SNAPSHOT), 503, "database_unavailable"),
    "a full disk": (sqlite_error(sqlite3.SQLITE_FULL), 503, "database_unavailable"),
    "an interrupted SQLite": (sqlite_error(sqlite3.SQLITE_INTERRUPT), 503, "query_too_slow"),
}


@pytest.mark.parametrize(("error", "status", "code"), RAISED.values(), ids=RAISED.keys())
def test_an_exception_becomes_its_problem(error: Exception, status: int, code: str) -> None:
    found = http.find_problem(error)

    assert found is not None
    assert (found.status, found.code) == (status, code)
    assert (found.retry_after is not None) == (status == 503)


@pytest.mark.parametrize(
    "error",
    [sqlite_error(sqlite3.SQLITE_ERROR), ValueError("a bug"), KeyError("a bug")],
    ids=["a missing table", "a value error", "a key error"],
)
def test_a_fault_of_ours_is_no_problem_of_the_caller(error: Exception) -> None:
    assert http.find_problem(error) is None


def test_a_problem_has_the_members_of_the_standard() -> None:
    response = http.problem(409, "conflict", "T", "D", instance="urn:x", stored=True, status_of="a")

    assert response.status_code == 409
    assert response.headers["Content-Type"] == "application/problem+json"
    assert json.loads(response.content) == {
        "type": "urn:counterfoil:problem:conflict",
        "code": "conflict",
        "status": 409,
        "title": "T",
        "detail": "D",
        "instance": "urn:x",
        "stored": True,
        "status_of": "a",
    }


def test_validation_errors_point_at_their_fields() -> None:
    django = http.find_problem(ValidationError({"name": ["too long"], "__all__": ["odd"]}))
    ninja = http.find_problem(
        NinjaValidationError([{"loc": ("body", "limit"), "type": "int", "msg": "no number"}])
    )

    assert django is not None
    assert django.members["errors"] == [
        {"pointer": "/name", "code": "invalid", "detail": "too long"},
        {"pointer": "", "code": "invalid", "detail": "odd"},
    ]
    assert ninja is not None
    assert ninja.members["errors"] == [
        {"pointer": "/body/limit", "code": "int", "detail": "no number"}
    ]


def test_a_bad_query_lists_its_faults() -> None:
    query = search.parse("knd:x", {"kind": search.FieldSpec("kind")})

    error = http.bad_query(query)

    assert (error.status, error.code) == (400, "bad_query")
    assert error.members["faults"][0]["position"] == 0
    assert error.members["faults"][0]["allowed"] == ("kind",)


def view(request: HttpRequest, what: str) -> HttpResponse:
    if what in RAISED:
        raise RAISED[what][0]
    if what == "bug":
        raise ValueError("a bug")
    if what == "method":
        return HttpResponseNotAllowed(["POST"])
    if what == "partial":
        return HttpResponse("part" if http.is_partial(request) else "whole")
    if what == "json-error":
        return http.json_response({"own": True}, status=409)
    if what == "rows.csv":
        return http.csv_stream(({"n": n} for n in range(450)), ["n"])  # type: ignore[return-value]
    return HttpResponse(what)


class Urls:
    """Addresses of these tests, as a module of addresses has them."""

    urlpatterns = [path("api/<what>", view), path("p/<what>", view)]
    handler404 = staticmethod(http.not_found)
    handler500 = staticmethod(http.server_error)


OURS = override_settings(
    ROOT_URLCONF=Urls,
    MIDDLEWARE=["kit.http.RequestIdMiddleware", "kit.http.ProblemMiddleware"],
    ALLOWED_HOSTS=["*"],
    DEBUG=False,
)
Ask = Callable[..., Any]


def ask_sync(url: str, **headers: str) -> Any:
    client = Client(raise_request_exception=False)
    with OURS:
        return client.get(url, headers=headers)


def ask_async(url: str, **headers: str) -> Any:
    async def main() -> httpx.Response:
        transport = httpx.ASGITransport(app=ASGIHandler(), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://testserver") as client:
            return await client.get(url, headers=headers)

    with OURS:
        return asyncio.run(main())


@pytest.fixture(params=[ask_sync, ask_async], ids=["WSGI", "ASGI"])
def ask(request: pytest.FixtureRequest) -> Ask:
    return request.param  # type: ignore[no-any-return]


def test_a_program_is_told_by_a_problem_object(ask: Ask) -> None:
    response = ask("/api/a lost connection", **{"X-Request-ID": "caller-0001"})

    assert response.status_code == 503
    assert response.headers["Retry-After"] == "5"
    assert response.json()["code"] == "database_unavailable"
    assert response.json()["instance"] == "urn:counterfoil:request:caller-0001"


def test_a_person_is_told_by_a_page(ask: Ask) -> None:
    response = ask("/p/a lost connection", accept="text/html")

    assert response.status_code == 503
    assert response.headers["Content-Type"].startswith("text/html")
    assert response.headers["Retry-After"] == "5"
    assert b"The database cannot be reached" in response.content


def test_a_twin_of_a_page_is_told_by_a_problem_object(ask: Ask) -> None:
    response = ask("/nowhere.json", accept="text/html")

    assert response.status_code == 404
    assert response.json()["code"] == "not_found"


def test_an_address_that_leads_nowhere_gets_a_page(ask: Ask) -> None:
    response = ask("/nowhere", accept="text/html")

    assert response.status_code == 404
    assert response.headers["Content-Type"].startswith("text/html")


def test_a_fault_of_ours_is_told_without_its_text(ask: Ask) -> None:
    response = ask("/api/bug")

    assert response.status_code == 500
    assert response.json()["code"] == "internal_error"
    assert b"a bug" not in response.content


def test_a_bare_refusal_becomes_a_problem_and_keeps_its_headers(ask: Ask) -> None:
    response = ask("/api/method")

    assert response.status_code == 405
    assert response.headers["Allow"] == "POST"
    assert response.json()["code"] == "method_not_allowed"


def test_a_json_error_of_a_view_is_left_as_it_is(ask: Ask) -> None:
    assert ask("/api/json-error").json() == {"own": True}


def test_a_page_of_markup_in_an_error_is_escaped() -> None:
    request = get("/p/x")

    page = http.answer(request, http.ProblemError(400, "x", "<script>x", "<b>y"))

    assert b"<script>x" not in page.content
    assert b"<b>y" not in page.content


IDS = {
    "a sane one": ("caller-0001", True),
    "none": ("", False),
    "too short": ("short", False),
    "too long": ("a" * 65, False),
    "a line end": ("caller-0001\nlevel=info", False),
    "a space": ("caller 0001", False),
    "other digits": ("caller-\u0660\u0660\u0660\u0661", False),
}


@pytest.mark.parametrize(("sent", "is_kept"), IDS.values(), ids=IDS.keys())
def test_a_request_id_is_kept_only_when_it_is_sane(sent: str, is_kept: bool) -> None:
    request = get("/", headers={"X-Request-ID": sent})

    made = http.request_id(request)

    assert (made == sent) == is_kept
    assert http.request_id(request) == made
    assert len(made) >= 8


def test_the_request_id_is_in_the_log_and_in_the_answer(ask: Ask) -> None:
    response = ask("/p/x", **{"X-Request-ID": "caller-0001"})

    assert response.headers["X-Request-ID"] == "caller-0001"
    assert "request_id" not in structlog.contextvars.get_contextvars()


def test_the_request_id_is_bound_while_the_view_runs() -> None:
    seen: list[object] = []

    def look(request: HttpRequest) -> HttpResponse:
        seen.append(structlog.contextvars.get_contextvars().get("request_id"))
        return HttpResponse()

    http.RequestIdMiddleware(look)(get("/", headers={"X-Request-ID": "caller-0001"}))

    assert seen == ["caller-0001"]


PARTIALS = {
    "no htmx": ({}, "whole"),
    "htmx": ({"HX-Request": "true"}, "part"),
    "boosted": ({"HX-Request": "true", "HX-Boosted": "true"}, "whole"),
    "history": ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, "whole"),
    "the whole body": ({"HX-Request": "true", "HX-Request-Type": "full"}, "whole"),
    "a part of the body": ({"HX-Request": "true", "HX-Request-Type": "partial"}, "part"),
}


@pytest.mark.parametrize(("headers", "given"), PARTIALS.values(), ids=PARTIALS.keys())
def test_a_part_is_given_only_where_htmx_asked_for_one(headers: dict[str, str], given: str) -> None:
    response = ask_sync("/p/partial", **headers)

    assert response.content.decode() == given
    assert "HX-Request" in response.headers["Vary"]


def test_an_answer_that_never_asked_does_not_vary() -> None:
    assert not ask_sync("/p/x").has_header("Vary")


@dataclasses.dataclass(frozen=True)
class Thing:
    at: datetime
    id: uuid.UUID


def test_json_is_the_same_bytes_for_equal_values() -> None:
    local = AT.astimezone(timezone(timedelta(hours=2)))
    ident = uuid.UUID(int=1)

    one = http.json_bytes({"b": [Thing(AT, ident)], "a": "ä", "on": date(2026, 10, 5)})
    other = http.json_bytes({"on": date(2026, 10, 5), "a": "ä", "b": (Thing(local, ident),)})

    assert one == other
    assert one.decode() == (
        '{"a":"ä","b":[{"at":"2026-10-05T09:00:30.000000Z",'
        '"id":"00000000-0000-0000-0000-000000000001"}],"on":"2026-10-05"}'
    )


@given(st.text(st.characters()) | st.integers() | st.lists(st.text(st.characters())))
def test_any_text_is_written_and_reads_back(value: object) -> None:
    assert json.loads(http.json_bytes(value)) == value


def test_what_json_cannot_hold_is_refused() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        http.json_bytes(float("nan"))
    with pytest.raises(TypeError, match="set has no form in JSON"):
        http.json_bytes({1})


CELLS = {
    "a formula": ("=1+1", "'=1+1"),
    "a plus": ("+1", "'+1"),
    "a minus": ("-1", "'-1"),
    "an at": ("@SUM(A1)", "'@SUM(A1)"),
    "a tab": ("\t=1", "'\t=1"),
    "a return": ("\r=1", "'\r=1"),
    "a line end": ("\n=1", "'\n=1"),
    "text": ("a=1", "a=1"),
    "a negative number": (-1, "-1"),
    "nothing": (None, ""),
    "true": (True, "true"),
    "a time": (AT, "2026-10-05T09:00:30.000000Z"),
    "an object": ({"a": [1]}, '{"a":[1]}'),
}


@pytest.mark.parametrize(("value", "cell"), CELLS.values(), ids=CELLS.keys())
def test_a_cell_is_no_formula(value: object, cell: str) -> None:
    assert http.csv_cell(value) == cell


def read(response: http.RowStream) -> bytes:
    """Read a stream as a synchronous server does."""
    return b"".join(response)


def read_async(response: http.RowStream) -> bytes:
    """Read a stream as an asynchronous server does."""

    async def main() -> bytes:
        return b"".join([part async for part in response])

    return asyncio.run(main())


Reads = Callable[[http.RowStream], bytes]


@pytest.mark.parametrize("reads", [read, read_async])
def test_a_csv_stream_has_a_head_and_every_row(reads: Reads) -> None:
    rows = ({"a": f'"{n}",', "=b": f"={n}"} for n in range(450))

    response = http.csv_stream(rows, ["a", "=b", "c"], filename="receipts.csv")
    lines = list(csv.reader(io.StringIO(reads(response).decode(), newline="")))

    assert response.headers["Content-Type"].startswith("text/csv")
    assert response.headers["Content-Disposition"] == 'attachment; filename="receipts.csv"'
    assert lines[0] == ["a", "'=b", "c"]
    assert lines[450] == ['"449",', "'=449", ""]
    assert len(lines) == 451


@pytest.mark.parametrize("reads", [read, read_async])
def test_an_ndjson_stream_is_a_line_a_row(reads: Reads) -> None:
    response = http.ndjson_stream({"n": n, "s": "\ud800"} for n in range(450))

    lines = reads(response).splitlines()

    assert response.headers["Content-Type"] == "application/x-ndjson"
    assert lines[449] == b'{"n":449,"s":"\\ud800"}'
    assert len(lines) == 450


def test_rows_that_come_asynchronously_are_streamed() -> None:
    async def rows() -> AsyncIterator[dict[str, int]]:
        for n in range(450):
            yield {"n": n}

    assert read_async(http.ndjson_stream(rows())).count(b"\n") == 450
    assert read_async(http.csv_stream(rows(), ["n"])).count(b"\r\n") == 451


@pytest.mark.parametrize("reads", [read, read_async])
def test_no_rows_give_a_head_alone(reads: Reads) -> None:
    assert reads(http.csv_stream([], ["a"])) == b"a\r\n"
    assert reads(http.ndjson_stream([])) == b""


def test_a_stream_is_not_read_ahead_of_its_reader() -> None:
    drawn: list[int] = []

    def rows() -> Iterator[dict[str, int]]:
        for n in range(10_000):
            drawn.append(n)
            yield {"n": n}

    async def main() -> None:
        parts = aiter(http.ndjson_stream(rows()))
        await anext(parts)
        await parts.aclose()  # type: ignore[attr-defined]

    asyncio.run(main())

    assert len(drawn) < 500


def test_a_stream_goes_through_the_server(ask: Ask) -> None:
    response = ask("/p/rows.csv")

    body = response.getvalue() if hasattr(response, "getvalue") else response.content
    assert body.count(b"\r\n") == 451


def test_a_tag_follows_from_what_it_is_made_of() -> None:
    assert http.etag("a", 1) == http.etag("a", 1)
    assert http.etag("a", "b") != http.etag("ab")
    assert http.etag("a")[0] == http.etag("a")[-1] == '"'


def test_who_has_the_answer_already_gets_304() -> None:
    tag = http.etag("a", 1)
    fresh = http.with_etag(get("/"), HttpResponse("body"), tag)
    known = http.with_etag(get("/", headers={"If-None-Match": tag}), HttpResponse("body"), tag)

    assert (fresh.status_code, fresh.headers["ETag"]) == (200, tag)
    assert (known.status_code, known.content) == (304, b"")


def test_a_middleware_awaits_what_is_below_it() -> None:
    async def below(request: HttpRequest) -> HttpResponse:
        return HttpResponse("x", status=404)

    async def main() -> Any:
        made = http.RequestIdMiddleware(http.ProblemMiddleware(below))(get("/api/x"))
        assert isinstance(made, Awaitable)
        return await made

    response = asyncio.run(main())

    assert json.loads(response.content)["code"] == "not_found"
    assert response.headers["X-Request-ID"]


def test_an_api_tells_exceptions_as_the_rest_does() -> None:
    api = NinjaAPI(urls_namespace="tests-of-kit-http")
    http.register(api)

    answers = [
        api.on_exception(get("/api/x"), error)
        for error in (Http404(), http.ProblemError(409, "conflict", "T"), OperationalError("gone"))
    ]

    assert [json.loads(one.content)["code"] for one in answers] == [
        "not_found",
        "conflict",
        "database_unavailable",
    ]
    with pytest.raises(ValueError, match="a bug"):
        api.on_exception(get("/api/x"), ValueError("a bug"))


def test_who_is_unknown_is_told_how_to_come_in() -> None:
    response = http.answer(get("/api/x"), http.of_status(401))

    assert response.headers["WWW-Authenticate"] == "Bearer"


def test_who_sends_a_token_is_a_program_on_every_page() -> None:
    assert http.wants_problem(get("/p/x", headers={"Authorization": "Bearer x"}))
    assert not http.wants_problem(get("/p/x", headers={"Accept": "text/html"}))
