"""The pages of the key lab and of keys: complete by their address, and changing nothing by it."""

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
from jobs import asking, lab_documents, lab_present
from jobs.queries.keys import Wanted
from kit.http import ProblemError
from ledger import present, redrive
from ledger.api.routes import named
from ledger.documents import refuse_as_of
from ledger.queries import lists
from ledger.views import draw

Document = dict[str, Any]
SHOWN = 50


@require_safe
@require(rights.READ)
def simulate(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """Try a recipe on stored attempts, and another beside it; the address is the whole state."""
    refuse_as_of(request.GET.get("as_of", ""))
    q = request.GET.get("q", "")
    context: Document = {
        "page_title": "Key lab",
        "query": present.query(project, lists.parse_query(q), "simulate"),
        "forms": [lab_present.form(request.GET), lab_present.form(request.GET, asking.SECOND)],
    }
    try:
        recipe, compare = asking.both(request.GET)
        document = lab_documents.simulation(project.id, recipe, compare, q, _limit(request))
    except ProblemError as problem:
        document = lab_documents.simulation(project.id, None, None, q, 0)
        context["refused"] = problem.detail
        recipe = None
    if recipe is not None:
        found = [(document, recipe), (document["compare"], compare)]
        trials = [lab_present.trial(project, one, each) for one, each in found if one and each]
        lost = present.address(project, "receipts", q=document["already_lost"]["q"])
        context |= {"trials": trials, "table": lab_present.table(trials), "lost_url": lost}
    context |= {"lab": document, "recorded": lab_present.recorded(project, document)}
    return draw(request, project, "jobs/simulate.html", context,
                status=400 if "refused" in context else 200)  # fmt: skip


@require_safe
@require(rights.READ)
def key_list(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """List keys: the newest first, or those whose holder is gone, the one gone longest first."""
    refuse_as_of(request.GET.get("as_of", ""))
    given = {name: request.GET.get(name, "") for name in ("q", "recipe", "gone")}
    query, cursor = lists.parse_query(given["q"]), request.GET.get("cursor", "")
    context: Document = {
        "page_title": "Keys",
        "query": present.query(project, query, "keys"),
        "asked": given,
        "all_url": present.address(project, "keys", q=given["q"], recipe=given["recipe"]),
        "gone_url": present.address(
            project, "keys", q=given["q"], recipe=given["recipe"], gone="1"
        ),
        "newest_url": present.address(project, "keys", **given) if cursor else "",
    }
    if query.faults:
        context["listing"] = {"items": [], "count": {"value": 0, "method": "exact"}}
        return draw(request, project, "jobs/keys.html", context, status=400)
    is_gone = given["gone"] in ("1", "true")
    wanted = Wanted(query, given["recipe"], is_gone, cursor=cursor)
    document = lab_documents.key_list(project.id, wanted)
    following = document["next"]
    context["listing"] = {
        **document,
        "items": [lab_present.key_row(project, one) for one in document["items"]],
        "count": asdict(document["count"]),
    }
    context["next_url"] = (
        present.address(project, "keys", **given, cursor=following) if following else ""
    )
    return draw(request, project, "jobs/keys.html", context)


@require_safe
@require(rights.READ)
def key(request: HttpRequest, project: ProjectRow, recipe: str, digest: str) -> HttpResponseBase:
    """Show one key: who holds it, who was turned away, and how it is released."""
    refuse_as_of(request.GET.get("as_of", ""))
    cursor = request.GET.get("cursor", "")
    document = lab_documents.key(project.id, named(recipe), digest, cursor)
    context = {"page_title": "Key", "key": lab_present.key(project, document)}
    return draw(request, project, "jobs/key.html", context)


@require_POST
@require(rights.ACKNOWLEDGE)
def release_key(
    request: HttpRequest, project: ProjectRow, recipe: str, digest: str
) -> HttpResponseBase:
    """Note that a person releases a key by hand, with a reason."""
    reason = redrive.check_reason(request.POST.get("reason", ""))
    actor = get_caller(request).actor
    lab_documents.note_release(project.id, named(recipe), digest, actor, reason)
    redrive.settle(project.id)
    messages.success(request, "Noted. The key itself is released where its guard is kept.")
    return HttpResponseRedirect(present.address(project, "keys", named(recipe), digest))


def _limit(request: HttpRequest) -> int:
    text = request.GET.get("limit", "")
    is_number = text.isascii() and text.isdigit() and len(text) <= 4
    return min(int(text), lists.MOST) if is_number else SHOWN
