"""The ledger's pages: each is a document of the API, made ready and drawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from access.callers import get_caller
from access.domain import rights
from access.guard import require
from access.queries import api_tokens
from access.rows import ProjectRow
from kit import clock, http
from ledger import acknowledge, acts, documents, elsewhere, present, redrive
from ledger.api.routes import named
from ledger.domain import words
from ledger.queries import counts, lists, receipts
from ledger.queries.as_of import AsOf

Document = dict[str, Any]


@require_safe
@require(rights.READ)
def receipt_list(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """List receipts by a query, newest number first."""
    asked = documents.asked(
        project.id,
        request.GET.get("q", ""),
        cursor=request.GET.get("cursor", ""),
        as_of_text=request.GET.get("as_of", ""),
    )
    context: Document = {
        "page_title": "Receipts",
        "query": present.query(project, asked.query),
        "facets": _facets(request, project) if asked.as_of.is_now else [],
        "newest_url": present.address(
            project, "receipts", q=asked.query.text, as_of=request.GET.get("as_of", "")
        ),
    }
    show_as_of(request, asked.as_of)
    status = 400 if asked.query.faults else 200
    if not asked.query.faults:
        context |= _listing(request, project, documents.receipt_list(project.id, asked))
    else:
        context["listing"] = _nothing(asked)
    return draw(request, project, "ledger/list.html", context, status=status, follows=True)


@require_safe
@require(rights.READ)
def receipt(request: HttpRequest, project: ProjectRow, ref: str) -> HttpResponseBase:
    """Show one receipt as it was sent, stored and delivered."""
    found = receipts.get_receipt(project.id, ref)
    as_of_text = request.GET.get("as_of", "")
    document = documents.receipt_of(project.id, found, as_of_text)
    data = None if document["erased"] else receipts.get_raw(found)[0]
    show_as_of(request, documents.find_past(project.id, as_of_text))
    shown = present.receipt(project, document, data)
    senders = {str(one.id): one.name for one in api_tokens(project.id, clock.now())}
    for delivery in shown["deliveries"]:
        delivery["token"] = senders.get(delivery["token"], delivery["token"])
    context = {"page_title": present.title(document), "receipt": shown, "item": shown["item"]}
    return draw(request, project, "ledger/receipt.html", context)


@require_safe
@require(rights.READ)
def raw(request: HttpRequest, project: ProjectRow, ref: str) -> HttpResponseBase:
    """Hand out the bytes as sent, never as a page."""
    data, _ = receipts.get_raw(receipts.get_receipt(project.id, ref))
    response = HttpResponse(data, content_type="application/octet-stream")
    response.headers["Content-Disposition"] = f'attachment; filename="{ref}"'
    return response


@require_safe
@require(rights.READ)
def explain(request: HttpRequest, project: ProjectRow, ref: str) -> HttpResponseBase:
    """Explain why a receipt became what it became."""
    as_of_text = request.GET.get("as_of", "")
    found = receipts.get_receipt(project.id, ref)
    document = documents.explanation_of(project.id, found, as_of_text)
    show_as_of(request, documents.find_past(project.id, as_of_text))
    context = {
        "page_title": document["verdict"]["sentence"],
        "explain": present.explanation(project, document, found.receipt.length),
        "as_of_input": as_of_text,
        "elsewhere": None
        if as_of_text
        else elsewhere.answer(
            get_caller(request), project, document, is_asked=request.GET.get("elsewhere") == "1"
        ),
        "is_settled": document["verdict"]["code"] != "not_derived",
    }
    return draw(request, project, "ledger/explain.html", context, follows=True)


@require_safe
@require(rights.READ)
def subject(request: HttpRequest, project: ProjectRow, kind: str, name: str) -> HttpResponseBase:
    """Show what became of one business object."""
    as_of_text = request.GET.get("as_of", "")
    document = documents.subject(project.id, kind, named(name), as_of_text)
    show_as_of(request, documents.find_past(project.id, as_of_text))
    context = {
        "page_title": f"{kind} {document['id']}",
        "subject": present.subject(document),
        "items": present.rows(project, document["items"]),
    }
    return draw(request, project, "ledger/subject.html", context)


@require_safe
@require(rights.READ)
def task_list(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """Show what each type of work did in the last 24 hours."""
    documents.refuse_as_of(request.GET.get("as_of", ""))
    document = documents.task_list(project.id)
    context = {
        "page_title": "Tasks, last 24 hours",
        "tasks": [present.task_row(project, one) for one in document["items"]],
        "window": document["window"],
        "feed": document["feed"],
    }
    return draw(request, project, "ledger/tasks.html", context)


@require_safe
@require(rights.READ)
def task(request: HttpRequest, project: ProjectRow, name: str) -> HttpResponseBase:
    """Show what one type of work did, and its latest receipts."""
    documents.refuse_as_of(request.GET.get("as_of", ""))
    document = documents.task(project.id, named(name))
    asked = documents.asked(project.id, document["q"], limit=20)
    latest = lists.newest_receipts(project.id, asked)
    context = {
        "page_title": document["task"],
        "task": present.task(project, document),
        "items": present.rows(project, latest),
        "window": document["window"],
        "feed": document["feed"],
    }
    return draw(request, project, "ledger/task.html", context)


@require_safe
@require(rights.READ)
def policy_list(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """Show what each source keeps singly, tallies or never sends, and since when."""
    as_of_text = request.GET.get("as_of", "")
    document = documents.policy_list(project.id, as_of_text)
    show_as_of(request, documents.find_past(project.id, as_of_text))
    context = {
        "page_title": "Recording policies",
        "policies": [present.policy_row(project, one) for one in document["items"]],
        "window": document["window"],
    }
    return draw(request, project, "ledger/policies.html", context)


@require_safe
@require(rights.READ)
def quarantine(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """List what was set aside."""
    documents.refuse_as_of(request.GET.get("as_of", ""))
    open_only = request.GET.get("open") in ("1", "true")
    cursor = request.GET.get("cursor", "")
    document = documents.set_aside_list(project.id, cursor=cursor, open_only=open_only)
    shown = [present.set_aside(project, one) for one in document["items"]]
    context = {
        "page_title": "Set aside" + (", waiting" if open_only else ""),
        "listing": {**document, "items": shown, "count": asdict(document["count"])},
        "query": {},
        "newest_url": present.address(project, "quarantine") if cursor else "",
        "next_url": _next(request, project, "quarantine", document["next"]),
    }
    return draw(request, project, "ledger/quarantine.html", context, follows=True)


@require_POST
@require(rights.REDRIVE)
def redrive_receipt(request: HttpRequest, project: ProjectRow, ref: str) -> HttpResponseBase:
    """Send a set-aside receipt through again, with a reason."""
    found = receipts.get_receipt(project.id, ref)
    reason = redrive.check_reason(request.POST.get("reason", ""))
    came = redrive.redrive(project.id, found.receipt, get_caller(request).actor, reason)
    redrive.settle(project.id)
    if came.reasons:
        messages.warning(request, f"It still cannot be read: {came.reasons[0]['detail']}")
        return HttpResponseRedirect(present.address(project, "receipts", ref))
    messages.success(request, "It was read and stored as a new receipt, shown here.")
    return HttpResponseRedirect(present.address(project, "receipts", came.ref))


@require_POST
@require(rights.REDRIVE)
def close_receipt(request: HttpRequest, project: ProjectRow, ref: str) -> HttpResponseBase:
    """Close a set-aside receipt, with a reason."""
    found = receipts.get_receipt(project.id, ref)
    reason = redrive.check_reason(request.POST.get("reason", ""))
    redrive.close(project.id, found.receipt, get_caller(request).actor, reason)
    redrive.settle(project.id)
    messages.success(request, "Closed. The bytes and the reason stay in the log.")
    return HttpResponseRedirect(present.address(project, "receipts", ref))


@require_POST
@require(rights.ACKNOWLEDGE)
def acknowledge_item(request: HttpRequest, project: ProjectRow, item: str) -> HttpResponseBase:
    """Acknowledge an attention item, with a reason."""
    reason = redrive.check_reason(request.POST.get("reason", ""))
    until = request.POST.get("until", "")
    acknowledge.acknowledge(project.id, item, get_caller(request).actor, reason, until)
    redrive.settle(project.id)
    messages.success(request, "Acknowledged: it comes back when its facts change.")
    return HttpResponseRedirect(f"/p/{project.slug}/")


def _listing(request: HttpRequest, project: ProjectRow, document: Document) -> Document:
    asked_for = request.GET.get("q", "")
    sent = [one for one in document["items"] if one["source"] != acts.SYSTEM]
    is_first_page = not asked_for and not request.GET.get("cursor")
    is_empty = is_first_page and not sent and document["next"] is None
    return {
        "listing": {
            **document,
            "items": present.rows(project, document["items"]),
            "count": asdict(document["count"]),
        },
        "next_url": _next(request, project, "receipts", document["next"]),
        "empty": {
            "kind": "nothing_yet" if is_empty else "no_match",
            "curl": present.first_curl(request.build_absolute_uri("/")),
            "token_command": "python3 manage.py token create "
            f"--project {project.slug} --scope ingest --name first",
            "clear_url": present.address(project, "receipts"),
            "not_searched": "the text of bodies; bare words match ids, jobs, scopes and subjects",
            "watched_since": None if sent else documents.watched_since(project.id),
        },
    }


def _nothing(asked: lists.Asked) -> Document:
    """Stand in for a list whose query was not understood: nothing was searched."""
    return {
        "items": [],
        "count": {"value": 0, "method": "exact"},
        "window": {"searched": 0, "complete": True},
        "feed": {},
    }


def _facets(request: HttpRequest, project: ProjectRow) -> list[Document]:
    """Count the last 24 hours by kind and by reason; each count opens its list."""
    now = clock.now()
    asked = request.GET.get("q", "")
    titles: list[tuple[str, str, dict[str, str]]] = [
        ("kind", "Kind", {}),
        ("reason", "Why skipped", words.REASON_WORDS),
    ]
    facets = counts.facet_rows(project.id, now - documents.RECENT, now)
    found = []
    for name, title, spoken in titles:
        counted = [row for row in facets[name] if row[name]]
        rows = present.bars(project, counted, name, spoken)
        for row, source in zip(rows, counted, strict=True):
            row["current"] = f"{name}:{source[name]}" in asked.split()
        if rows:
            found.append({"title": f"{title}, last 24 h", "rows": rows})
    return found


def _next(request: HttpRequest, project: ProjectRow, page: str, cursor: str | None) -> str:
    if cursor is None:
        return ""
    kept = {name: request.GET.get(name, "") for name in ("q", "as_of", "open")}
    return present.address(project, page, cursor=cursor, **kept)


def show_as_of(request: HttpRequest, cut: AsOf | None) -> None:
    """Let the top of the page say that it shows an earlier time."""
    if cut is not None and not cut.is_now:
        by_number = cut.label.startswith("№")
        shown = {"label": cut.label, "leaf_index": None if by_number else str(cut.leaf)}
        request.shell = {"as_of": shown}  # type: ignore[attr-defined]


def draw(
    request: HttpRequest,
    project: ProjectRow,
    template: str,
    context: Document,
    *,
    status: int = 200,
    follows: bool = False,
) -> HttpResponse:
    """Draw a page, or of one that follows the log its live part alone when htmx asks for it.

    The template of such a page has a partial named `rows`; htmx gets any other page whole.
    """
    name = f"{template}#rows" if follows and http.is_partial(request) else template
    is_live = follows and not context.get("is_settled")
    request.is_live = is_live  # type: ignore[attr-defined]
    request.has_twin = True  # type: ignore[attr-defined]
    return render(request, name, context, status=status)
