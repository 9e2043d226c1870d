"""How a problem is told: as an object to programs, as a page to people."""

from __future__ import annotations

import html
import sys

from django.http import Http404, HttpRequest, HttpResponse
from django.template import TemplateDoesNotExist, loader
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from kit.http.problems import ProblemError, find_problem, of_status, problem
from kit.http.requests import request_id, wants_problem


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
    return answer(request, of_status(404))


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer for what is not allowed; Django's `handler403`."""
    return answer(request, of_status(403))


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Answer for a request that makes no sense; Django's `handler400`."""
    return answer(request, of_status(400))


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer for a fault of ours or of the database; Django's `handler500`.

    Reached when a middleware failed, for instance a session that could not be read.
    """
    error = sys.exc_info()[1]
    found = find_problem(error) if error else None
    return answer(request, found or of_status(500))


def register(api: NinjaAPI) -> None:
    """Let an API tell every exception as the rest of the server does.

    Ninja has handlers of its own that answer in a form of its own before any middleware sees
    the exception.
    """
    for kind in (Exception, Http404, HttpError, ValidationError):
        api.add_exception_handler(kind, _answer_or_raise)


def _answer_or_raise(request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    found = None if isinstance(error, type) else find_problem(error)
    if found is None:
        raise error
    return answer(request, found)
