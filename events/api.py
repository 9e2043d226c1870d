"""The answers about buses over HTTP; the same as the pages' JSON twins."""

from __future__ import annotations

from typing import Annotated

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from ninja import Query, Router

from access.domain import rights
from events import documents, lane_documents
from events.asking import Range
from events.lane_documents import Asked, Asking
from kit import http
from ledger.api.routes import Limit, Text, project_of
from ledger.documents import refuse_as_of
from ledger.queries import lists

router = Router(tags=["events"])

From = Annotated[str, Query(alias="from", max_length=100)]


@router.get("/installations", summary="List installations", operation_id="list_installations")
def list_installations(
    request: HttpRequest, limit: Limit = lists.USUAL, cursor: Text = ""
) -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    found = documents.installation_list(project_of(request).id, limit, cursor)
    return http.json_response(found)


@router.get(
    "/installations/{installation}", summary="One installation", operation_id="get_installation"
)
def get_installation(request: HttpRequest, installation: str) -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    return http.json_response(documents.installation(project_of(request).id, installation))


@router.get(
    "/installations/{installation}/resumes",
    summary="Answers given to clients that resumed",
    operation_id="list_resumes",
)
def list_resumes(
    request: HttpRequest,
    installation: str,
    bus: Text = "",
    code: Text = "",
    limit: Limit = lists.USUAL,
    cursor: Text = "",
    as_of: Text = "",
) -> HttpResponseBase:
    narrowed = {"bus": bus, "code": code}
    project = project_of(request)
    return http.json_response(
        documents.answer_list(project.id, installation, narrowed, limit, cursor, as_of)
    )


@router.get(
    "/installations/{installation}/rollout",
    summary="Phases of a roll, by replica",
    operation_id="get_rollout",
)
def get_rollout(request: HttpRequest, installation: str) -> HttpResponseBase:
    refuse_as_of(request.GET.get("as_of", ""))
    return http.json_response(documents.rollout(project_of(request).id, installation))


@router.get(
    "/installations/{installation}/resets",
    summary="Resets of replay buffers",
    operation_id="list_resets",
)
def list_resets(
    request: HttpRequest,
    installation: str,
    reason: Text = "",
    replica: Text = "",
    limit: Limit = lists.USUAL,
    cursor: Text = "",
    as_of: Text = "",
) -> HttpResponseBase:
    narrowed = {"reason": reason, "replica": replica}
    project = project_of(request)
    return http.json_response(
        documents.reset_list(project.id, installation, narrowed, limit, cursor, as_of)
    )


@router.get("/buses/{bus}", summary="One bus", operation_id="get_bus")
def get_bus(request: HttpRequest, bus: str, as_of: Text = "") -> HttpResponseBase:
    return http.json_response(documents.bus(project_of(request).id, bus, as_of))


@router.get("/buses/{bus}/timeline", summary="A bus over time", operation_id="get_timeline")
def get_timeline(
    request: HttpRequest,
    bus: str,
    begin: From = "",
    to: Text = "",
    width: Text = "",
    lane: Text = "",
    as_of: Text = "",
) -> HttpResponseBase:
    project = project_of(request)
    asked = Range(begin, to, width, lane)
    return http.json_response(documents.bus_timeline(project.id, bus, asked, as_of))


@router.get(
    "/buses/{bus}/findings", summary="What was found on a bus", operation_id="list_findings"
)
def list_findings(
    request: HttpRequest,
    bus: str,
    code: Text = "",
    severity: Text = "",
    lane: Text = "",
    limit: Limit = lists.USUAL,
    cursor: Text = "",
    as_of: Text = "",
) -> HttpResponseBase:
    narrowed = {"code": code, "severity": severity, "lane": lane}
    project = project_of(request)
    found = documents.finding_list(project.id, bus, narrowed, limit, cursor, as_of)
    return http.json_response(found)


@router.get("/findings/{finding}", summary="One finding", operation_id="get_finding")
def get_finding(request: HttpRequest, finding: str, as_of: Text = "") -> HttpResponseBase:
    return http.json_response(documents.finding(project_of(request).id, finding, as_of))


@router.get("/lanes/{lane}", summary="One lane", operation_id="get_lane")
def get_lane(request: HttpRequest, lane: str, as_of: Text = "") -> HttpResponseBase:
    return http.json_response(lane_documents.lane(project_of(request).id, lane, as_of))


@router.get("/lanes/{lane}/buffer", summary="A replay buffer", operation_id="get_buffer")
def get_buffer(
    request: HttpRequest,
    lane: str,
    channel: Text = "",
    at: Text = "",
    beside: Text = "",
    limit: Text = "",
    cursor: Text = "",
    as_of: Text = "",
) -> HttpResponseBase:
    asked = Asked(channel, at, beside, cursor, limit, as_of)
    return http.json_response(lane_documents.lane_buffer(project_of(request).id, lane, asked))


@router.get(
    "/lanes/{lane}/resume", summary="What a resume would be answered", operation_id="try_resume"
)
def try_resume(
    request: HttpRequest,
    lane: str,
    cursor: Text = "",
    epoch: Text = "",
    at: Text = "",
    version: Text = "",
    channel: Text = "",
    as_of: Text = "",
) -> HttpResponseBase:
    asking = Asking(cursor, epoch, at, version, channel, as_of)
    return http.json_response(lane_documents.lane_resume(project_of(request).id, lane, asking))


@router.get(
    "/lanes/{lane}/buffer.ndjson", summary="Export a replay buffer", operation_id="export_buffer"
)
def export_buffer(
    request: HttpRequest, lane: str, channel: Text = "", at: Text = "", as_of: Text = ""
) -> HttpResponseBase:
    project = project_of(request, rights.EXPORT)
    asked = Asked(channel=channel, at=at, as_of=as_of)
    export = lane_documents.lane_export(project.id, lane, asked)
    response = HttpResponse(export.content, content_type="application/x-ndjson")
    response.headers["Content-Disposition"] = f'attachment; filename="{lane}-buffer.ndjson"'
    response.headers["Counterfoil-Digest"] = f"sha-256={export.digest}"
    return response
