"""What every answer over HTTP has in common: problems, JSON bytes, streams, tags, request ids.

Errors of the API are `application/problem+json` (RFC 9457) with a `code`; errors of pages are
pages. Import the names from here.
"""

from __future__ import annotations

from kit.http.bodies import etag, json_bytes, json_response, rfc3339, with_etag
from kit.http.heads import HeadMiddleware
from kit.http.middleware import ProblemMiddleware, RequestIdMiddleware
from kit.http.problems import (
    PROBLEM_TYPE,
    RETRY_AFTER_S,
    TYPE_PREFIX,
    DatabaseUnavailable,
    ProblemError,
    QueryTooSlow,
    bad_query,
    find_problem,
    of_status,
    problem,
)
from kit.http.refusals import (
    answer,
    bad_request,
    forbidden,
    not_found,
    register,
    server_error,
)
from kit.http.requests import is_partial, request_id, wants_problem
from kit.http.rows import RowStream, csv_cell, csv_stream, ndjson_stream

__all__ = [
    "PROBLEM_TYPE",
    "RETRY_AFTER_S",
    "TYPE_PREFIX",
    "DatabaseUnavailable",
    "HeadMiddleware",
    "ProblemError",
    "ProblemMiddleware",
    "QueryTooSlow",
    "RequestIdMiddleware",
    "RowStream",
    "answer",
    "bad_query",
    "bad_request",
    "csv_cell",
    "csv_stream",
    "etag",
    "find_problem",
    "forbidden",
    "is_partial",
    "json_bytes",
    "json_response",
    "ndjson_stream",
    "not_found",
    "of_status",
    "problem",
    "register",
    "request_id",
    "rfc3339",
    "server_error",
    "wants_problem",
    "with_etag",
]
