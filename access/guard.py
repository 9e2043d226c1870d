"""The guard before every view: who asks, for which project, with which right.

A view asks for one right: `@require(rights.READ)` above `def page(request, project, ...)`. Its
address carries the project as `slug`. A stranger is answered as if the project did not exist.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.csrf import csrf_exempt, csrf_protect

from access import callers, queries, refusals, store
from access.callers import Caller, find_caller, get_caller
from access.refusals import MissingRight, Moved, NoSuchProject, Refused, Unauthenticated
from access.rows import ProjectRow

__all__ = [
    "Caller",
    "Refused",
    "admit",
    "admit_token",
    "check_right",
    "find_caller",
    "get_caller",
    "require",
]

Sync = Callable[..., HttpResponseBase]
Async = Callable[..., Awaitable[HttpResponseBase]]

LAST_PROJECT_COOKIE = "project"
_YEAR_SECONDS = 365 * 24 * 3600


def require(right: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Let a view be reached only with a right in the project that its address names.

    The view gets `(request, project, ...)` and may be async. An unsafe method with a session
    needs the CSRF token; with an Authorization header it does not.
    """

    def decorate(view: Callable[..., Any]) -> Callable[..., Any]:
        is_async = inspect.iscoroutinefunction(view)
        return _guard_async(right, view) if is_async else _guard_sync(right, view)

    return decorate


def admit(request: HttpRequest, slug: str, right: str) -> ProjectRow:
    """Return the project for a caller with the right; raises Refused otherwise."""
    caller = find_caller(request)
    if caller is None:
        raise Unauthenticated
    found = callers.admitted_to(caller, slug)
    if found is None:
        raise NoSuchProject
    project, admitted = found
    if project.slug != slug:
        raise Moved(project.slug)
    callers.remember(request, admitted, project)
    check_right(request, right)
    return project


def admit_token(request: HttpRequest, right: str) -> ProjectRow:
    """Return the project of the request's token, where the address names none; raises Refused."""
    caller = find_caller(request) if callers.has_bearer(request) else None
    if caller is None or caller.project_id is None:
        raise Unauthenticated
    project = queries.get_project(caller.project_id)
    callers.remember(request, caller, project)
    check_right(request, right)
    return project


def check_right(request: HttpRequest, right: str) -> None:
    """Raise MissingRight unless the admitted caller has the right; the refusal is recorded.

    For a view that needs one more right than the one that its guard asked for.
    """
    caller = get_caller(request)
    if caller.may(right):
        return
    store.record_action(
        project_id=caller.project_id,
        actor=caller.actor,
        verb=f"right.{right}",
        target=f"{request.method} {request.path}",
        outcome="denied",
    )
    raise MissingRight


def _guard_sync(right: str, view: Sync) -> Sync:
    def admitted(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            project = admit(request, slug, right)
            response = view(request, project, *args, **kwargs)
        except Refused as refused:
            return refusals.answer(request, refused, slug)
        return _remember_project(request, response, slug)

    checked = csrf_protect(admitted)

    @csrf_exempt
    @functools.wraps(view)
    def guarded(request: HttpRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponseBase:
        # Exempt outside and checked inside, since the middleware cannot know about tokens.
        chosen = admitted if callers.has_bearer(request) else checked
        return chosen(request, slug, *args, **kwargs)

    return guarded


def _guard_async(right: str, view: Async) -> Async:
    async def admitted(
        request: HttpRequest, slug: str, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        try:
            project = await sync_to_async(admit)(request, slug, right)
            return await view(request, project, *args, **kwargs)
        except Refused as refused:
            return refusals.answer(request, refused, slug)

    checked = csrf_protect(admitted)

    @csrf_exempt
    @functools.wraps(view)
    async def guarded(
        request: HttpRequest, slug: str, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        chosen = admitted if callers.has_bearer(request) else checked
        return await chosen(request, slug, *args, **kwargs)

    return guarded


def _remember_project(
    request: HttpRequest, response: HttpResponseBase, slug: str
) -> HttpResponseBase:
    """Keep the last project in a cookie, so that the front page leads back to it."""
    is_page = response.status_code == 200 and get_caller(request).kind == "user"
    if is_page and request.COOKIES.get(LAST_PROJECT_COOKIE) != slug:
        response.set_cookie(
            LAST_PROJECT_COOKIE,
            slug,
            max_age=_YEAR_SECONDS,
            httponly=True,
            samesite="Lax",
            secure=request.is_secure(),
        )
    return response
