"""What went wrong, as a problem object (RFC 9457) with a `code`.

`find_problem` is the one place that knows which exceptions a caller can do something about.
"""

from __future__ import annotations

import dataclasses
import sqlite3
from typing import Any

import ninja.errors
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
    ValidationError,
)
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse

from kit import keyset, search
from kit.http.bodies import json_bytes

PROBLEM_TYPE = "application/problem+json"
TYPE_PREFIX = "urn:counterfoil:problem:"
RETRY_AFTER_S = 5
"""Seconds after which a caller may try again when the database could not be reached."""


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
    detail = " ".join(dict.fromkeys(fault.message for fault in query.faults))
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
    if status == 401:
        response.headers["WWW-Authenticate"] = "Bearer"
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
        return of_status(error.status_code, str(error))
    return next((of_status(status) for kind, status in _STATUS_OF if isinstance(error, kind)), None)


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


def of_status(status: int, detail: str = "") -> ProblemError:
    """Make the problem that says no more than an HTTP status does."""
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
