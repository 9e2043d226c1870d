"""The pages of what replicas told: answers to resumes, resets, and the phases of a roll."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_safe

from access.domain import rights
from access.guard import require
from access.rows import ProjectRow
from events import documents, present, told_present
from events.views import texts
from ledger import present as ledger_present
from ledger.documents import find_past, refuse_as_of
from ledger.views import draw, show_as_of

Document = dict[str, Any]


@require_safe
@require(rights.READ)
def resume_list(request: HttpRequest, project: ProjectRow, installation: str) -> HttpResponseBase:
    """List the answers that clients really got when they resumed, beside the rule's."""
    asked = texts(request, "bus", "code", "as_of")
    cursor = request.GET.get("cursor", "")
    found = documents.answer_list(
        project.id, installation, asked, cursor=cursor, as_of_text=asked["as_of"]
    )
    name = documents.name_of(project.id, installation)
    show_as_of(request, find_past(project.id, asked["as_of"]))
    parts = ["installations", installation, "resumes"]
    context = {
        "page_title": f"Resumes of {name}",
        "installation": {"name": name, "url": ledger_present.address(project, *parts[:2])},
        "listing": {
            **found,
            "items": [told_present.answer(project, one) for one in found["items"]],
            "count": asdict(found["count"]),
        },
        "choices": told_present.answer_choices(project, installation, asked),
        "asked": asked,
        "newest_url": ledger_present.address(project, *parts, **asked),
        "next_url": present.following(project, parts, asked, found["next"]),
    }
    return draw(request, project, "events/resumes.html", context)


@require_safe
@require(rights.READ)
def reset_list(request: HttpRequest, project: ProjectRow, installation: str) -> HttpResponseBase:
    """List the resets that replicas told of, beside what is expected of each reason."""
    asked = texts(request, "reason", "replica", "as_of")
    cursor = request.GET.get("cursor", "")
    found = documents.reset_list(
        project.id, installation, asked, cursor=cursor, as_of_text=asked["as_of"]
    )
    name = documents.name_of(project.id, installation)
    show_as_of(request, find_past(project.id, asked["as_of"]))
    parts = ["installations", installation, "resets"]
    context = {
        "page_title": f"Resets of {name}",
        "installation": {"name": name, "url": ledger_present.address(project, *parts[:2])},
        "listing": {
            **found,
            "items": [told_present.reset(project, installation, one) for one in found["items"]],
            "count": asdict(found["count"]),
        },
        "reasons": told_present.reset_reasons(project, installation, found["reasons"], asked),
        "asked": asked,
        "whole_url": ledger_present.address(project, *parts, as_of=asked["as_of"]),
        "newest_url": ledger_present.address(project, *parts, **asked),
        "next_url": present.following(project, parts, asked, found["next"]),
    }
    return draw(request, project, "events/resets.html", context)


@require_safe
@require(rights.READ)
def rollout(request: HttpRequest, project: ProjectRow, installation: str) -> HttpResponseBase:
    """Show which phase each replica runs, and its counters beside what to expect of them."""
    refuse_as_of(request.GET.get("as_of", ""))
    document = documents.rollout(project.id, installation)
    parts = ["installations", installation]
    context = {
        "page_title": f"Rollout of {document['name']}",
        "installation": {
            "name": document["name"],
            "url": ledger_present.address(project, *parts),
            "resets_url": ledger_present.address(project, *parts, "resets"),
        },
        "board": told_present.board(project, installation, document),
    }
    return draw(request, project, "events/rollout.html", context)
