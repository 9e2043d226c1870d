"""Addresses for tests of the guard: one page for each right, a page with data and an async one."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from access import guard
from access.domain import rights
from access.rows import ProjectRow
from kit import http

handler404 = http.not_found
handler403 = http.forbidden


def page(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    caller = guard.get_caller(request)
    return HttpResponse(f"{project.slug} for {caller.kind} {caller.label}")


async def live(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    return page(request, project)


def by_token(request: HttpRequest) -> HttpResponse:
    return HttpResponse(guard.admit_token(request, rights.READ).slug)


def twice(request: HttpRequest, project: ProjectRow) -> HttpResponse:
    guard.check_right(request, rights.APPROVE)
    return HttpResponse("approved")


urlpatterns = [
    *(path(f"p/<str:slug>/{right}", guard.require(right)(page)) for right in rights.RIGHTS),
    path("p/<str:slug>/read.json", guard.require(rights.READ)(page)),
    path("p/<str:slug>/live", guard.require(rights.READ)(live)),
    path("p/<str:slug>/live/manage", guard.require(rights.MANAGE)(live)),
    path("p/<str:slug>/twice", guard.require(rights.READ)(twice)),
    path("api/v1/thing", by_token),
    path("", include("access.urls")),
]
