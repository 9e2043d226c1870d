"""The jobs answers over HTTP; the same as the pages' JSON twins."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from ninja import Router

from jobs import documents
from kit import http
from ledger.api.routes import Limit, Text, named, project_of
from ledger.documents import refuse_as_of
from ledger.queries import lists

router = Router(tags=["jobs"])


@router.get("/jobs", summary="List jobs", operation_id="list_jobs")
def list_jobs(
    request: HttpRequest, q: Text = "", limit: Limit = lists.USUAL, cursor: Text = ""
) -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    project = project_of(request)
    return http.json_response(documents.job_list(project.id, q, limit, cursor))


@router.get("/jobs/{job}", summary="One job by its bare number", operation_id="find_job")
def find_job(request: HttpRequest, job: str, as_of: Text = "") -> HttpResponseBase:
    project = project_of(request)
    found = documents.job_choices(project.id, named(job))
    if len(found) == 1:
        return http.json_response(documents.job(project.id, *found[0], as_of))
    return http.json_response(choices(found), status=300)


@router.get(
    "/jobs/{system}/{instance}/{job}", summary="One job of a source", operation_id="get_job"
)
def get_job(
    request: HttpRequest, system: str, instance: str, job: str, as_of: Text = ""
) -> HttpResponseBase:
    name = [named(part) for part in (system, instance, job)]
    return http.json_response(
        documents.job(project_of(request).id, name[0], name[1], name[2], as_of)
    )


@router.get("/scopes/{scope}", summary="One run", operation_id="get_scope")
def get_scope(
    request: HttpRequest, scope: str, source: Text = "", as_of: Text = ""
) -> HttpResponseBase:
    project = project_of(request)
    return http.json_response(documents.scope(project.id, named(scope), source, as_of))


@router.get(
    "/scopes/{scope}/invokes/{invoke}",
    summary="One call of a run across its generations",
    operation_id="get_invoke",
)
def get_invoke(
    request: HttpRequest,
    scope: str,
    invoke: str,
    source: Text = "",
    until: Text = "",
    as_of: Text = "",
) -> HttpResponseBase:
    found = documents.invoke(
        project_of(request).id,
        named(scope),
        named(invoke),
        source=source,
        until=until,
        as_of_text=as_of,
    )
    return http.json_response(found)


@router.get(
    "/contradictions", summary="What cannot all be true", operation_id="list_contradictions"
)
def list_contradictions(
    request: HttpRequest,
    invariant: Text = "",
    limit: Limit = lists.USUAL,
    cursor: Text = "",
    as_of: Text = "",
) -> HttpResponseBase:
    project = project_of(request)
    found = documents.contradiction_list(project.id, invariant, limit, cursor, as_of)
    return http.json_response(found)


def choices(found: list[tuple[str, str, str]]) -> dict[str, Any]:
    """Say which sources hold a job of the number that was asked for."""
    names = ("system", "instance", "id")
    return {
        "choices": [dict(zip(names, one, strict=True)) for one in found],
        "detail": "Several sources have a job of this number; name one.",
    }
