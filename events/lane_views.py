"""The pages of a lane: its replay buffer, and what a resume would be answered."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from access.domain import rights
from access.guard import require
from access.rows import ProjectRow
from events import lane_documents, lane_present
from events.documents import find_cut
from events.lane_documents import Asked, Asking
from events.queries import lanes
from events.views import texts
from ledger.documents import find_past
from ledger.views import draw, show_as_of

Document = dict[str, Any]
NAMES = ("channel", "at", "beside", "limit", "epoch", "version", "as_of")


@require_safe
@require(rights.READ)
def lane(request: HttpRequest, project: ProjectRow, lane: str) -> HttpResponseBase:
    """Show one lane: where it stands, the newest of its replay buffer, its ID spaces."""
    return _buffer(request, project, lane, "lane")


@require_safe
@require(rights.READ)
def lane_buffer(request: HttpRequest, project: ProjectRow, lane: str) -> HttpResponseBase:
    """Show a page of a lane's replay buffer."""
    return _buffer(request, project, lane, "buffer")


@require_safe
@require(rights.READ)
def lane_resume(request: HttpRequest, project: ProjectRow, lane: str) -> HttpResponseBase:
    """Tell what a resume would be answered, once a cursor is named."""
    asked = {**texts(request, *NAMES), "cursor": request.GET.get("cursor", ""), "page": ""}
    view = lanes.view_of(project.id, lane, find_cut(project.id, asked["as_of"]))
    channels = lanes.channels_of(view)
    resume = None
    if asked["cursor"]:
        names = ("cursor", "epoch", "at", "version", "channel")
        asking = Asking(**{name: asked[name] for name in names})
        resume = lane_documents.resume_of(view, channels, asking, asking.place())
        resume = lane_present.resume(project, resume, asked)
    document = lanes.lane_document(view, channels)
    return _draw(request, project, document, asked, {"view": "resume", "resume": resume})


def _buffer(request: HttpRequest, project: ProjectRow, lane: str, name: str) -> HttpResponseBase:
    page = request.GET.get("cursor", "")
    asked = {**texts(request, *NAMES), "cursor": "", "page": page}
    view = lanes.view_of(project.id, lane, find_cut(project.id, asked["as_of"]))
    channels = lanes.channels_of(view)
    wanted = Asked(asked["channel"], asked["at"], asked["beside"], page, asked["limit"])
    buffer = lane_documents.buffer_of(view, channels, wanted)
    document = lanes.lane_document(view, channels)
    return _draw(request, project, document, asked, {"view": name, "buffer": buffer})


def _draw(
    request: HttpRequest,
    project: ProjectRow,
    document: Document,
    asked: dict[str, str],
    parts: Document,
) -> HttpResponseBase:
    show_as_of(request, find_past(project.id, asked["as_of"]))
    buffer = parts.get("buffer")
    chosen = {**asked, "channel": asked["channel"] or _channel_of(parts)}
    context = {
        "page_title": f"{document['replica']} on {document['bus']} of {document['installation']}",
        "lane": lane_present.lane(project, document, chosen),
        "buffer": buffer,
        "resume": parts.get("resume"),
        "view": parts["view"],
        "asked": asked,
        "urls": lane_present.urls(project, document["id"], asked, buffer),
    }
    return draw(request, project, "events/lane.html", context)


def _channel_of(parts: Document) -> str:
    shown = parts.get("buffer") or parts.get("resume")
    return (shown["channel"] or "") if shown else ""
