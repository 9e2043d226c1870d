"""The key lab and keys over HTTP; the same as the pages' JSON twins."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponseBase
from ninja import Query, Router

from access.callers import get_caller
from access.domain import rights
from jobs import asking, lab_documents
from jobs.asking import Trial
from jobs.queries.keys import Wanted
from kit import http
from ledger import redrive
from ledger.api.routes import Limit, Reason, Text, named, project_of
from ledger.documents import refuse_as_of
from ledger.queries import lists

router = Router(tags=["jobs"])

Samples = Annotated[int, Query(ge=0, le=lists.MOST)]


@router.post("/simulate", summary="Try a recipe on stored attempts", operation_id="simulate")
def simulate(request: HttpRequest, body: Trial) -> HttpResponseBase:
    project = project_of(request)
    recipe = asking.of_body(body.recipe)
    compare = None if body.compare is None else asking.of_body(body.compare)
    found = lab_documents.simulation(project.id, recipe, compare, body.q, body.limit)
    return http.json_response(found)


@router.get("/simulate", summary="The key lab by an address", operation_id="show_simulation")
def show_simulation(
    request: HttpRequest, q: Text = "", limit: Samples = lists.USUAL
) -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    recipe, compare = asking.both(request.GET)
    found = lab_documents.simulation(project.id, recipe, compare, q, limit)
    return http.json_response(found)


@router.get("/keys", summary="List keys and who holds them", operation_id="list_keys")
def list_keys(
    request: HttpRequest,
    recipe: Text = "",
    q: Text = "",
    gone: bool = False,
    limit: Limit = lists.USUAL,
    cursor: Text = "",
) -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    wanted = Wanted(lists.parse_query(q), recipe, gone, limit, cursor)
    return http.json_response(lab_documents.key_list(project.id, wanted))


@router.get("/keys/{recipe}/{digest}", summary="One key", operation_id="get_key")
def get_key(request: HttpRequest, recipe: str, digest: str, cursor: Text = "") -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    return http.json_response(lab_documents.key(project.id, named(recipe), digest, cursor))


@router.post(
    "/keys/{recipe}/{digest}/release",
    summary="Note that a key is released by hand",
    operation_id="release_key",
)
def release_key(request: HttpRequest, recipe: str, digest: str, body: Reason) -> HttpResponseBase:
    project = project_of(request, rights.ACKNOWLEDGE)
    reason = redrive.check_reason(body.reason)
    actor = get_caller(request).actor
    found = lab_documents.note_release(project.id, named(recipe), digest, actor, reason)
    return http.json_response(found)
