"""The pages about buses: each is a document of the API, made ready and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from access.domain import rights
from access.guard import require
from access.rows import ProjectRow
from events import documents, drawing, incidents_present, present
from events.asking import Range
from ledger import present as ledger_present
from ledger.documents import find_past, refuse_as_of
from ledger.views import draw, show_as_of

Document = dict[str, Any]


def texts(request: HttpRequest, *names: str) -> dict[str, str]:
    """Read texts of an address, empty where one is absent."""
    return {name: request.GET.get(name, "") for name in names}


@require_safe
@require(rights.READ)
def installation_list(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """List installations: what is watched of each, where it stands, what is not watched."""
    refuse_as_of(request.GET.get("as_of", ""))
    asked = texts(request, "cursor")
    document = documents.installation_list(project.id, cursor=asked["cursor"])
    context = {
        "page_title": "Installations",
        "listing": {
            **document,
            "items": [present.installation(project, one) for one in document["items"]],
            "count": asdict(document["count"]),
        },
        "next_url": present.following(project, ["installations"], {}, document["next"]),
        "newest_url": ledger_present.address(project, "installations"),
        "tail_command": f"manage.py bus_tail --project {project.slug} --installation NAME "
        "--redis-env BUS_REDIS --bus activity",
    }
    return draw(request, project, "events/installations.html", context)


@require_safe
@require(rights.READ)
def installation(request: HttpRequest, project: ProjectRow, installation: str) -> HttpResponseBase:
    """Show one installation: its buses, replicas and keys, and what crosses into others."""
    refuse_as_of(request.GET.get("as_of", ""))
    document = documents.installation(project.id, installation)
    shown = present.installation(project, document)
    shown["cross"] = [present.finding(project, one) for one in document["cross"]]
    context = {"page_title": document["name"], "installation": shown}
    return draw(request, project, "events/installation.html", context)


@require_safe
@require(rights.READ)
def bus(request: HttpRequest, project: ProjectRow, bus: str) -> HttpResponseBase:
    """Show one bus over time: a band for each ID space, strips of replicas, and findings."""
    asked = texts(request, "from", "to", "width", "lane", "band", "finding", "row", "as_of")
    span = Range(asked["from"], asked["to"], asked["width"], asked["lane"])
    document, line, found = documents.bus_page(project.id, bus, span, asked["as_of"])
    show_as_of(request, find_past(project.id, asked["as_of"]))
    shown = present.bus(project, document)
    timeline = present.timeline(project, line)
    follows = not asked["to"] and not asked["as_of"]
    context = {
        "page_title": f"{document['bus']} of {document['installation']}",
        "bus": {
            **shown,
            **incidents_present.counted(shown, asdict(found["count"])),
            "derived_lag": document["window"]["lag"],
        },
        "timeline": timeline,
        "timeline_json_url": f"{ledger_present.address(project, 'buses', bus, 'timeline')}.json",
        "drawing": drawing.timeline_of(timeline, asked),
        "incidents": incidents_present.told_once(
            present.finding(project, one) for one in found["items"]
        ),
        "asked": asked,
        "follows": follows,
        "is_settled": not follows,
    }
    return draw(request, project, "events/bus.html", context, follows=follows)


@require_safe
@require(rights.READ)
def finding_list(request: HttpRequest, project: ProjectRow, bus: str) -> HttpResponseBase:
    """List what was found on a bus, the newest first."""
    asked = texts(request, "code", "severity", "lane", "as_of")
    cursor = request.GET.get("cursor", "")
    document = documents.bus(project.id, bus, asked["as_of"])
    found = documents.finding_list(project.id, bus, asked, cursor=cursor, as_of_text=asked["as_of"])
    show_as_of(request, find_past(project.id, asked["as_of"]))
    parts = ["buses", bus, "findings"]
    shown = present.bus(project, document)
    replicas = {one["id"]: one["replica"] for one in document["lanes"]}
    context = {
        "page_title": f"Findings on {document['bus']} of {document['installation']}",
        "bus": shown,
        "listing": {
            **found,
            "items": incidents_present.marked(
                [present.finding(project, one) for one in found["items"]]
            ),
            "count": asdict(found["count"]),
        },
        "facets": present.facets(project, bus, shown["findings"], asked),
        "asked": asked,
        "replica": replicas.get(asked["lane"], ""),
        "is_narrowed": any(asked[name] for name in ("code", "severity", "lane")),
        "whole_url": ledger_present.address(project, *parts, as_of=asked["as_of"]),
        "newest_url": ledger_present.address(project, *parts, **asked),
        "next_url": present.following(project, parts, asked, found["next"]),
    }
    return draw(request, project, "events/findings.html", context)


@require_safe
@require(rights.READ)
def finding(request: HttpRequest, project: ProjectRow, finding: str) -> HttpResponseBase:
    """Show one finding with the rule that spoke and where to see what it is about."""
    as_of_text = request.GET.get("as_of", "")
    document = documents.finding(project.id, finding, as_of_text)
    show_as_of(request, find_past(project.id, as_of_text))
    shown = present.finding(project, document)
    context = {"page_title": shown["word"].capitalize(), "finding": shown}
    return draw(request, project, "events/finding.html", context)
