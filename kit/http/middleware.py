"""The middlewares that every answer goes through."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import ClassVar, cast

import structlog
from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers

from kit.http.problems import PROBLEM_TYPE, find_problem, of_status
from kit.http.refusals import answer
from kit.http.requests import request_id, wants_problem

log = structlog.get_logger("counterfoil.http")


Handler = Callable[[HttpRequest], HttpResponseBase | Awaitable[HttpResponseBase]]


class Middleware:
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


class ProblemMiddleware(Middleware):
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
    replaced = answer(request, of_status(response.status_code))
    for name, value in response.headers.items():
        if name.lower() not in ("content-type", "content-length", "etag"):
            replaced.headers[name] = value
    replaced.cookies = response.cookies
    return replaced


class RequestIdMiddleware(Middleware):
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
