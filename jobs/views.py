"""The jobs pages: each is a document of the API, made ready and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.views.decorators.http import require_safe

from access.domain import rights
from access.guard import require
from access.rows import ProjectRow
from jobs import documents, present
from jobs.queries import job_where
from ledger import present as ledger_present
from ledger.api.routes import named
from ledger.documents import find_past, refuse_as_of
from ledger.queries import lists
from ledger.views import draw, show_as_of

Document = dict[str, Any]


@require_safe
@require(rights.READ)
def job_list(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """List jobs by a query, the one heard of last first."""
    refuse_as_of(request.GET.get("as_of", ""))
    asked, cursor = request.GET.get("q", ""), request.GET.get("cursor", "")
    query = job_where.parse_query(asked)
    context: Document = {
        "page_title": "Jobs",
        "query": ledger_present.query(project, query, "jobs"),
        "newest_url": ledger_present.address(project, "jobs", q=asked) if cursor else "",
        "listing": {"items": [], "count": {"value": 0, "method": "exact"}},
    }
    if query.faults:
        return draw(request, project, "jobs/list.html", context, status=400)
    document = documents.job_list(project.id, asked, lists.USUAL, cursor)
    following = document["next"]
    context["next_url"] = (
        ledger_present.address(project, "jobs", q=asked, cursor=following) if following else ""
    )
    context["listing"] = {
        **document,
        "items": [present.row(project, one) for one in document["items"]],
        "count": asdict(document["count"]),
    }
    return draw(request, project, "jobs/list.html", context)


@require_safe
@require(rights.READ)
def job_of_number(request: HttpRequest, project: ProjectRow, number: str) -> HttpResponseBase:
    """Lead from a bare number to its job, or ask which source is meant."""
    found = documents.job_choices(project.id, named(number))
    urls = [present.job_url(project, *one) for one in found]
    if len(found) == 1:
        return HttpResponseRedirect(urls[0])
    context = {
        "page_title": f"Job {named(number)}",
        "number": named(number),
        "choices": [
            {"source": f"{system}/{instance}".strip("/"), "url": url}
            for (system, instance, _), url in zip(found, urls, strict=True)
        ],
    }
    return draw(request, project, "jobs/choices.html", context, status=300)


@require_safe
@require(rights.READ)
def job(
    request: HttpRequest, project: ProjectRow, system: str, instance: str, number: str
) -> HttpResponseBase:
    """Show one job: what it became, by whose word, and what was skipped because of it."""
    as_of_text = request.GET.get("as_of", "")
    name = [named(part) for part in (system, instance, number)]
    document = documents.job(project.id, name[0], name[1], name[2], as_of_text)
    show_as_of(request, find_past(project.id, as_of_text))
    context = {"page_title": f"Job {name[2]}", "job": present.job(project, document)}
    return draw(request, project, "jobs/job.html", context)


@require_safe
@require(rights.READ)
def scope(request: HttpRequest, project: ProjectRow, scope: str) -> HttpResponseBase:
    """Show one run: its generations, its calls, and why skips happened in it."""
    as_of_text = request.GET.get("as_of", "")
    source = request.GET.get("source", "")
    document = documents.scope(project.id, named(scope), source, as_of_text)
    show_as_of(request, find_past(project.id, as_of_text))
    context = {"page_title": document["scope"], "scope": present.scope(project, document)}
    return draw(request, project, "jobs/scope.html", context)


@require_safe
@require(rights.READ)
def invoke(request: HttpRequest, project: ProjectRow, scope: str, invoke: str) -> HttpResponseBase:
    """Show one call of a run as a matrix of generation by attempt."""
    as_of_text = request.GET.get("as_of", "")
    asked = {name: request.GET.get(name, "") for name in ("source", "until")}
    document = documents.invoke(
        project.id, named(scope), named(invoke), **asked, as_of_text=as_of_text
    )
    show_as_of(request, find_past(project.id, as_of_text))
    context = {
        "page_title": f"{document['invoke']} in {document['scope']}",
        "invoke": present.invoke(project, document, {**asked, "as_of": as_of_text}),
    }
    return draw(request, project, "jobs/invoke.html", context)


@require_safe
@require(rights.READ)
def contradiction_list(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """List what cannot all be true, with both pieces of evidence, and what was checked."""
    given = {name: request.GET.get(name, "") for name in ("invariant", "cursor", "as_of")}
    document = documents.contradiction_list(
        project.id, given["invariant"], cursor=given["cursor"], as_of_text=given["as_of"]
    )
    show_as_of(request, find_past(project.id, given["as_of"]))
    context = {
        "page_title": "Contradictions",
        **present.contradictions(project, document, given),
    }
    return draw(request, project, "jobs/contradictions.html", context, follows=not given["as_of"])
