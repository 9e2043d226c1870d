"""`.json`, `.csv` and `.ndjson` of a page: the API's own answer for the same tail.

The API's view itself is called, so the two cannot differ by a byte (contract, section 4).
"""

from __future__ import annotations

from django.http import HttpRequest, HttpResponseBase
from django.urls import Resolver404, resolve
from django.views.decorators.http import require_safe

from access.domain import rights
from access.guard import require
from access.rows import ProjectRow
from kit.http import ProblemError


@require_safe
@require(rights.READ)
def json_twin(request: HttpRequest, project: ProjectRow, tail: str) -> HttpResponseBase:
    """Answer as the API does."""
    return _answer(request, project, tail)


@require_safe
@require(rights.EXPORT)
def csv_twin(request: HttpRequest, project: ProjectRow, tail: str) -> HttpResponseBase:
    """Answer as the API's export in CSV does."""
    return _answer(request, project, f"{tail}.csv")


@require_safe
@require(rights.EXPORT)
def ndjson_twin(request: HttpRequest, project: ProjectRow, tail: str) -> HttpResponseBase:
    """Answer as the API's export in NDJSON does."""
    return _answer(request, project, f"{tail}.ndjson")


def _answer(request: HttpRequest, project: ProjectRow, tail: str) -> HttpResponseBase:
    try:
        match = resolve(f"/api/v1/{tail}")
    except Resolver404 as error:
        raise ProblemError(404, "not_found", "Nothing is here", "No such answer.") from error
    request.twin_of = project  # type: ignore[attr-defined]
    response: HttpResponseBase = match.func(request, *match.args, **match.kwargs)
    return response
