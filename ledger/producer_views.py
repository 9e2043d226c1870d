"""The pages of producers: who sends, how much of it came, and what is missing since when."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase, HttpResponseRedirect
from django.views.decorators.http import require_POST, require_safe

from access.callers import get_caller
from access.domain import rights
from access.guard import require
from access.rows import ProjectRow
from ledger import documents, present, redrive, waive
from ledger.api.routes import named
from ledger.present import producers as shown
from ledger.views import draw

Document = dict[str, Any]


@require_safe
@require(rights.READ)
def producer_list(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """List the producers, those first that are not complete."""
    documents.refuse_as_of(request.GET.get("as_of", ""))
    cursor = request.GET.get("cursor", "")
    only = request.GET.get("incomplete") in ("1", "true")
    document = documents.producer_list(project.id, cursor=cursor, incomplete=only)
    following = document["next"]
    context: Document = {
        "page_title": "Producers" + (", not complete" if only else ""),
        "listing": {**document, "count": asdict(document["count"])},
        "producers": [shown.producer(project, one) for one in document["items"]],
        "tokens": [shown.token(project, one) for one in document["unnumbered"]],
        "only_incomplete": only,
        "newest_url": present.address(project, "producers") if cursor else "",
        "next_url": present.address(project, "producers", cursor=following) if following else "",
    }
    return draw(request, project, "ledger/producers.html", context, follows=True)


@require_safe
@require(rights.READ)
def producer(request: HttpRequest, project: ProjectRow, spool: str) -> HttpResponseBase:
    """Show one spool: how it stands, its gaps and what became of them."""
    documents.refuse_as_of(request.GET.get("as_of", ""))
    document = documents.spool(project.id, named(spool))
    context = {"page_title": document["spool"], "spool": shown.spool(project, document)}
    return draw(request, project, "ledger/spool.html", context)


@require_POST
@require(rights.ACKNOWLEDGE)
def waive_missing(request: HttpRequest, project: ProjectRow, spool: str) -> HttpResponseBase:
    """Give up numbers that will never come, with a reason."""
    name = named(spool)
    reason = redrive.check_reason(request.POST.get("reason", ""))
    gap = request.POST.get("gap", "")
    disputed_by = request.POST.get("disputed_by", "")
    waive.waive(project.id, name, gap, get_caller(request).actor, reason, disputed_by)
    redrive.settle(project.id)
    messages.success(request, "Waived. The reason is in the log, and the numbers stay named here.")
    return HttpResponseRedirect(present.address(project, "producers", name))
