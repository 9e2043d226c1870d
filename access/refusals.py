"""What the guard answers instead of a view: a problem for programs, a page for people."""

from __future__ import annotations

from typing import ClassVar

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import get_script_prefix
from django.utils.http import urlencode

from access.callers import has_bearer
from kit import http
from kit.http import ProblemError

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


class Refused(ProblemError):
    """The request is refused."""

    refusal: ClassVar[tuple[int, str, str]] = (403, "forbidden", "This is not allowed")

    def __init__(self, detail: str = "") -> None:
        super().__init__(*self.refusal, detail)


class Unauthenticated(Refused):
    """Nobody is logged in, or the token is unknown, expired or revoked."""

    refusal = (401, "unauthenticated", "A valid token or log-in is needed")


class NoSuchProject(Refused):
    """There is no such project, or the caller is a stranger to it; the answer is the same."""

    refusal = (404, "not_found", "Nothing is here")


class MissingRight(Refused):
    """The caller may see the project, but not do this in it."""


class Moved(Refused):
    """The project has another slug now."""

    refusal = (301, "moved", "The project has another slug")

    def __init__(self, slug: str) -> None:
        super().__init__()
        self.slug = slug


def answer(request: HttpRequest, refused: Refused, slug: str = "") -> HttpResponse:
    """Turn a refusal into an answer; `slug` is the one in the address."""
    if isinstance(refused, Moved):
        return _redirect_to(request, slug, refused.slug)
    if not wants_problem(request):
        if isinstance(refused, Unauthenticated):
            return redirect_to_login(request)
        return http.answer(request, refused)
    response = http.problem(
        refused.status,
        refused.code,
        refused.title,
        refused.detail,
        instance=f"urn:counterfoil:request:{http.request_id(request)}",
    )
    if isinstance(refused, Unauthenticated):
        response.headers["WWW-Authenticate"] = "Bearer"
    return response


def wants_problem(request: HttpRequest) -> bool:
    """Say whether a program asks; one with a token always does, also for a page."""
    return has_bearer(request) or http.wants_problem(request)


def redirect_to_login(request: HttpRequest) -> HttpResponseRedirect:
    """Send a person to the log-in page, which leads back here; a POST leads to the front page."""
    path = f"{get_script_prefix()}login"
    if request.method not in _SAFE_METHODS:
        return HttpResponseRedirect(path)
    return HttpResponseRedirect(f"{path}?{urlencode({'next': request.get_full_path()})}")


def _redirect_to(request: HttpRequest, old: str, new: str) -> HttpResponseRedirect:
    """Lead from an old slug to the same place under the new one, for good.

    A 301 may turn a POST into a GET, so other methods get the 308 that may not.
    """
    place = request.get_full_path().replace(f"/p/{old}", f"/p/{new}", 1)
    response = HttpResponseRedirect(place)
    response.status_code = 301 if request.method in _SAFE_METHODS else 308
    return response
