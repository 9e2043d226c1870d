"""What every answer over HTTP has in common: problems, JSON bytes, streams, tags, request ids.

Errors of the API are `application/problem+json` (RFC 9457) with a `code`; errors of pages are
pages. JSON is written by one function, so a page's `.json` twin and the API give the same bytes.
"""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import html
import json
import re
import sqlite3
import sys
import uuid
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from datetime import UTC, date, datetime
from itertools import chain, islice
from typing import Any, ClassVar, cast

import ninja.errors
import structlog
from asgiref.sync import iscoroutinefunction, markcoroutinefunction, sync_to_async
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    ValidationError,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template import TemplateDoesNotExist, loader
from django.utils.cache import get_conditional_response, patch_vary_headers
from django_htmx.middleware import HtmxDetails

from kit import keyset, search

PROBLEM_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:counterfoil:problem:"
RETRY_AFTER_S = 5
"""Seconds after which a caller may try again when the database could not be reached."""

_API_PREFIXES = ("/api/", "/log/")
_TWIN = re.compile(r"\.(json|csv|ndjson)$")
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")
_FORMULA = re.compile(r"^[=+\-@\t\r\n]")
_ROWS_A_CHUNK = 200

log = structlog.get_logger("counterfoil.http")


class ProblemError(Exception):
    """The request cannot be answered as asked.

    Raise it anywhere below a view; the middleware answers with it. `members` are further members
    of the problem object, `retry_after` are seconds.
    """

    def __init__(
        self,
        status: int,
        code: str,
        title: str,
        detail: str = "",
        *,
        retry_after: int | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail or title)
        self.status, self.code, self.title, self.detail = status, code, title, detail
        self.retry_after, self.members = retry_after, members


class DatabaseUnavailable(ProblemError):
    """The database cannot be reached or is too busy; nothing was changed, so try again."""

    def __init__(self) -> None:
        super().__init__(
            503,
            "database_unavailable",
            "The database cannot be reached",
            str(self.__doc__),
            retry_after=RETRY_AFTER_S,
        )


class QueryTooSlow(ProblemError):
    """The database stopped this query at its time limit; narrow the query or its time range."""

    def __init__(self) -> None:
        title = "The query took too long"
        super().__init__(503, "query_too_slow", title, str(self.__doc__), retry_after=RETRY_AFTER_S)


def bad_query(query: search.Query) -> ProblemError:
    """Make the problem that names every fault of a query with its position."""
    faults = [dataclasses.asdict(fault) for fault in query.faults]
    detail = " ".join(fault.message for fault in query.faults)
    return ProblemError(400, "bad_query", "The query was not understood", detail, faults=faults)


def problem(
    status: int,
    code: str,
    title: str,
    detail: str = "",
    *,
    instance: str | None = None,
    retry_after: int | None = None,
    **members: Any,
) -> HttpResponse:
    """Answer with a problem object (RFC 9457).

    `instance` names this occurrence, for instance `urn:counterfoil:request:ID`.
    """
    body = {**members, "type": TYPE_PREFIX + code, "code": code, "status": status, "title": title}
    if detail:
        body["detail"] = detail
    if instance:
        body["instance"] = instance
    response = HttpResponse(json_bytes(body), content_type=PROBLEM_TYPE, status=status)
    if retry_after is not None:
        response.headers["Retry-After"] = str(retry_after)
    return response


def find_problem(error: BaseException) -> ProblemError | None:
    """Translate an exception that a caller can do something about; None for a fault of ours."""
    if isinstance(error, ProblemError):
        return error
    if isinstance(error, OperationalError | InterfaceError):
        return _database_problem(error)
    if isinstance(error, ninja.errors.ValidationError):
        return _invalid(_ninja_errors(error))
    if isinstance(error, ValidationError):
        return _invalid(_django_errors(error))
    if isinstance(error, keyset.BadCursor):
        return ProblemError(400, "bad_cursor", "The cursor does not fit", str(error))
    if isinstance(error, ninja.errors.HttpError):
        return _of_status(error.status_code, str(error))
    return next(
        (_of_status(status) for kind, status in _STATUS_OF if isinstance(error, kind)), None
    )


_STATUS_OF: tuple[tuple[type[BaseException], int], ...] = (
    (Http404, 404),
    (PermissionDenied, 403),
    (RequestDataTooBig, 413),
    (SuspiciousOperation, 400),
)
_STATUS_WORDS = {
    400: ("bad_request", "The request was not understood"),
    401: ("unauthenticated", "A valid token or log-in is needed"),
    403: ("forbidden", "This is not allowed"),
    404: ("not_found", "Nothing is here"),
    405: ("method_not_allowed", "This method is not offered here"),
    413: ("too_large", "The body is too large"),
    422: ("invalid", "The input is not valid"),
    429: ("too_many_requests", "Too many requests"),
    500: ("internal_error", "Something went wrong on our side"),
}


def _of_status(status: int, detail: str = "") -> ProblemError:
    code, title = _STATUS_WORDS.get(status, (f"http_{status}", f"HTTP status {status}"))
    return ProblemError(status, code, title, detail)


def _invalid(errors: list[dict[str, str]]) -> ProblemError:
    code, title = _STATUS_WORDS[422]
    detail = "; ".join(f"{one['pointer'] or '/'}: {one['detail']}" for one in errors[:10])
    return ProblemError(422, code, title, detail, errors=errors)


def _ninja_errors(error: ninja.errors.ValidationError) -> list[dict[str, str]]:
    return [
        {
            "pointer": "".join(f"/{part}" for part in one.get("loc", ())),
            "code": str(one.get("type", "invalid")),
            "detail": str(one.get("msg", "")),
        }
        for one in error.errors
    ]


def _django_errors(error: ValidationError) -> list[dict[str, str]]:
    fields = error.error_dict if hasattr(error, "error_dict") else {"": error.error_list}
    return [
        {
            "pointer": f"/{name}" if name and name != "__all__" else "",
            "code": one.code or "invalid",
            "detail": " ".join(one.messages),
        }
        for name, found in fields.items()
        for one in found
    ]


_SQLITE_UNAVAILABLE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}
_POSTGRES_UNAVAILABLE = ("08", "40", "53", "55", "57")


def _database_problem(error: BaseException) -> ProblemError | None:
    """Part "not now" from "never": a missing table is an OperationalError on SQLite as well."""
    cause = error.__cause__
    if isinstance(cause, sqlite3.Error):
        code = getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_BUSY) & 0xFF
        if code == sqlite3.SQLITE_INTERRUPT:
            return QueryTooSlow()
        return DatabaseUnavailable() if code in _SQLITE_UNAVAILABLE else None
    state = getattr(cause, "sqlstate", None)
    if state == "57014":
        return QueryTooSlow()
    # A connection that failed or broke has no state at all.
    return DatabaseUnavailable() if not state or state[:2] in _POSTGRES_UNAVAILABLE else None


def wants_problem(request: HttpRequest) -> bool:
    """Whether errors are told to a program: the API, the log, and the twins of pages."""
    if request.path.startswith(_API_PREFIXES) or _TWIN.search(request.path):
        return True
    accepted = request.headers.get("Accept", "")
    return "json" in accepted and "text/html" not in accepted


def answer(request: HttpRequest, error: ProblemError) -> HttpResponse:
    """Answer with a problem: as an object to programs, as a page to people."""
    if not wants_problem(request):
        return _error_page(request, error)
    return problem(
        error.status,
        error.code,
        error.title,
        error.detail,
        instance=f"urn:counterfoil:request:{request_id(request)}",
        retry_after=error.retry_after,
        **error.members,
    )


def _error_page(request: HttpRequest, error: ProblemError) -> HttpResponse:
    """Render `error.html` without the request: its context processors might need the database."""
    context = {
        "status": error.status,
        "code": error.code,
        "title": error.title,
        "detail": error.detail,
        "request_id": request_id(request),
    }
    try:
        text = str(loader.render_to_string([f"{error.status}.html", "error.html"], context))
    except TemplateDoesNotExist:
        text = _PLAIN_PAGE.format_map({k: html.escape(str(v)) for k, v in context.items()})
    response = HttpResponse(text, status=error.status)
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response


_PLAIN_PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>
<h1>{title}</h1><p>{detail}</p><p>Status {status}, request {request_id}.</p></html>
"""


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer for an address that leads nowhere; Django's `handler404`."""
    return answer(request, _of_status(404))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer for what is not allowed; Django's `handler403`."""
    return answer(request, _of_status(403))


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer for a request that makes no sense; Django's `handler400`."""
    return answer(request, _of_status(400))


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for a fault of ours or of the database; Django's `handler500`.

    Reached when a middleware failed, for instance a session that could not be read.
    """
    error = sys.exc_info()[1]
    found = find_problem(error) if error else None
    return answer(request, found or _of_status(500))


Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class _Middleware:
    """Runs in both worlds; a subclass says what happens to the answer."""

    sync_capable: ClassVar[bool] = True
    async_capable: ClassVar[bool] = True

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response
        self.is_async = iscoroutinefunction(get_response)
        if self.is_async:
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        return self.around_async(request) if self.is_async else self.around(request)

    def around(self, request: HttpRequest) -> HttpResponseBase:
        return self.finish(request, cast(HttpResponseBase, self.get_response(request)))

    async def around_async(self, request: HttpRequest) -> HttpResponseBase:
        response = await cast(Awaitable[HttpResponseBase], self.get_response(request))
        return self.finish(request, response)

    def finish(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        return response


class ProblemMiddleware(_Middleware):
    """Turns exceptions and bare errors into problems or pages, and adds Vary where it is due.

    Stands near the top of the list: what middlewares below it refuse (CSRF, size) is told in the
    same form.
    """

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        found = find_problem(error)
        if found is None:
            return None
        if found.status >= 500:
            log.warning(found.title, action=f"http.{found.code}", error=str(error))
        return answer(request, found)

    def finish(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if getattr(request, "varies_on_htmx", False):
            patch_vary_headers(response, ("HX-Request", "HX-Boosted", "HX-History-Restore-Request"))
        is_bare = response.status_code >= 400 and not response.streaming
        if is_bare and not _is_json(response) and wants_problem(request):
            return _as_problem(request, response)
        return response


def _is_json(response: HttpResponseBase) -> bool:
    kind = response.headers.get("Content-Type", "").partition(";")[0]
    return kind == PROBLEM_TYPE or kind.endswith(("json", "ndjson"))


def _as_problem(request: HttpRequest, response: HttpResponseBase) -> HttpResponse:
    replaced = answer(request, _of_status(response.status_code))
    for name, value in response.headers.items():
        if name.lower() not in ("content-type", "content-length", "etag"):
            replaced.headers[name] = value
    replaced.cookies = response.cookies
    return replaced


class RequestIdMiddleware(_Middleware):
    """Gives each request an id, in every log line and in the answer.

    A caller's `X-Request-ID` is kept when it is 8 to 64 letters, digits, dots, dashes or
    underscores: it ends up in logs, so it must not be able to forge a line.
    """

    def around(self, request: HttpRequest) -> HttpResponseBase:
        with structlog.contextvars.bound_contextvars(request_id=request_id(request)):
            return super().around(request)

    async def around_async(self, request: HttpRequest) -> HttpResponseBase:
        with structlog.contextvars.bound_contextvars(request_id=request_id(request)):
            return await super().around_async(request)

    def finish(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        response.headers["X-Request-ID"] = request_id(request)
        return response


def request_id(request: HttpRequest) -> str:
    """Give the id of a request, making one the first time it is asked for."""
    known = getattr(request, "request_id", None)
    if isinstance(known, str):
        return known
    sent = request.headers.get("X-Request-ID", "")
    chosen = sent if _REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex
    request.request_id = chosen  # type: ignore[attr-defined]
    return chosen


def is_partial(request: HttpRequest) -> bool:
    """Whether htmx asked for a part of the page.

    Not for boosted links, a restored history entry or a request for the whole body: Back would
    show a naked fragment. Marks the request, so that the answer varies on it.
    """
    request.varies_on_htmx = True  # type: ignore[attr-defined]
    details = HtmxDetails(request)
    is_whole = details.boosted or details.history_restore_request or details.request_type == "full"
    return bool(details) and not is_whole


def json_bytes(value: object) -> bytes:
    """Write a value as JSON, the same bytes for equal values.

    Members are sorted, times are RFC 3339 in UTC with microseconds, dataclasses are objects. A
    lone surrogate is written as an escape. Raises ValueError for NaN and infinities.
    """
    text = json.dumps(
        value,
        default=_plain,
        sort_keys=True,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    return text.encode("utf-8", "backslashreplace")


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, date | uuid.UUID):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def rfc3339(at: datetime) -> str:
    """Write an aware time in UTC with microseconds and a Z, as the contract wants it."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def json_response(value: object, status: int = 200) -> HttpResponse:
    """Answer with the JSON of a value."""
    return HttpResponse(json_bytes(value), content_type="application/json", status=status)


class RowStream(StreamingHttpResponse):
    """A stream of byte chunks made from rows, read in threads when the server is asynchronous.

    Django would read a synchronous iterator whole before it sends the first byte, and warn.
    """

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self.is_async:
            async for part in cast(AsyncIterator[bytes], self.streaming_content):
                yield part
            return
        chunks = iter(self)
        while (chunk := await sync_to_async(_next)(chunks)) is not None:
            yield chunk


def _next(chunks: Iterator[bytes]) -> bytes | None:
    return next(chunks, None)


Rows = Iterable[Any] | AsyncIterator[Any]


def ndjson_stream(rows: Rows, filename: str | None = None) -> RowStream:
    """Stream rows as NDJSON, one JSON object a line."""
    return _stream(rows, _ndjson_lines, "application/x-ndjson", filename)


def csv_stream(
    rows: Iterable[Mapping[str, object]] | AsyncIterator[Mapping[str, object]],
    columns: Sequence[str],
    filename: str | None = None,
) -> RowStream:
    """Stream rows as CSV (RFC 4180) with a header line.

    A text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    writer = csv.writer(_Echo(), lineterminator="\r\n")

    def lines(some: Iterable[Mapping[str, object]]) -> bytes:
        made = (writer.writerow([csv_cell(row.get(name)) for name in columns]) for row in some)
        return "".join(made).encode("utf-8", "backslashreplace")

    head = {name: name for name in columns}
    return _stream(rows, lines, "text/csv; charset=utf-8; header=present", filename, [head])


def csv_cell(value: object) -> str:
    """Write a value as the text of a CSV cell that no spreadsheet runs as a formula."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = value if isinstance(value, str) else json_bytes(value).decode()
    return f"'{text}" if _FORMULA.match(text) else text


class _Echo:
    """A file that gives back each line; csv has no other way to write to a stream."""

    def write(self, text: str) -> str:
        return text


def _ndjson_lines(rows: Iterable[object]) -> bytes:
    return b"".join(json_bytes(row) + b"\n" for row in rows)


def _stream(
    rows: Rows,
    encode: Callable[[Iterable[Any]], bytes],
    content_type: str,
    filename: str | None,
    head: Sequence[object] = (),
) -> RowStream:
    if isinstance(rows, AsyncIterator):
        chunks: Iterator[bytes] | AsyncIterator[bytes] = _chunks_async(rows, encode, head)
    else:
        chunks = _chunks(rows, encode, head)
    response = RowStream(chunks, content_type=content_type)
    if filename:
        response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def _chunks(
    rows: Iterable[Any], encode: Callable[[Iterable[Any]], bytes], head: Sequence[object]
) -> Iterator[bytes]:
    source = chain(head, rows)
    while batch := list(islice(source, _ROWS_A_CHUNK)):
        yield encode(batch)


async def _chunks_async(
    rows: AsyncIterator[Any], encode: Callable[[Iterable[Any]], bytes], head: Sequence[object]
) -> AsyncIterator[bytes]:
    batch = list(head)
    async for row in rows:
        batch.append(row)
        if len(batch) >= _ROWS_A_CHUNK:
            yield encode(batch)
            batch = []
    if batch:
        yield encode(batch)


def etag(*parts: object) -> str:
    """Make a strong entity tag from whatever decides the bytes of an answer."""
    digest = hashlib.sha256(json_bytes([str(part) for part in parts])).hexdigest()
    return f'"{digest[:32]}"'


def with_etag(request: HttpRequest, response: HttpResponse, tag: str) -> HttpResponse:
    """Tag an answer, or make it a 304 where the caller has it already (RFC 9110 section 13)."""
    response.headers["ETag"] = tag
    return cast(HttpResponse, get_conditional_response(request, etag=tag, response=response))
