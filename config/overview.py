"""The overview: what needs someone, and what is accounted for."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from access.domain import rights
from access.guard import require
from access.rows import ProjectRow
from kit import clock, http
from kit.templatetags import looks
from ledger import documents, present
from ledger.domain import words
from ledger.domain.leaf import rfc3339
from ledger.projectors.roll_ups import bucket_of
from ledger.queries import attention, counts, lists, set_aside

Document = dict[str, Any]
_ICONS = {"bad": "x", "gap": "diamond", "skip": "skip"}
_NUMBERS = ("No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")


@require_safe
@require(rights.READ)
def overview(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """Show what needs someone, the day in figures, and why jobs were skipped."""
    documents.refuse_as_of(request.GET.get("as_of", ""))
    now = clock.now()
    after = bucket_of(now - documents.RECENT)
    acknowledged = request.GET.get("acknowledged") == "1"
    document = documents.attention_list(project.id, acknowledged=acknowledged)
    facets = counts.facet_rows(project.id, after, now)
    kinds = {row["kind"]: row for row in facets["kind"]}
    reasons = [row for row in facets["reason"] if row["reason"]]
    context: Document = {
        "page_title": "Overview",
        "attention": _attention(project, document, acknowledged),
        "figures": _figures(project, document, kinds, rfc3339(after)),
        "reasons": present.bars(project, reasons, "reason", words.REASON_WORDS),
        "states": _states(project, after),
        "window": {"from": after, **document["window"]},
        "checked_at": now,
    }
    template = "ledger/overview.html"
    name = f"{template}#rows" if http.is_partial(request) else template
    request.is_live = True  # type: ignore[attr-defined]
    return render(request, name, context)


def _attention(project: ProjectRow, document: Document, acknowledged: bool) -> Document:
    items = [_item(project, one) for one in document["items"]]
    count = len(items)
    has_holes = any(one["code"].startswith("feed.") for one in items)
    headline, why = _headline(count, document["window"], has_holes=has_holes)
    if acknowledged:
        headline, why = "What somebody has acknowledged.", "Each comes back when its facts change."
    return {
        "headline": headline,
        "why": why,
        "count": 0 if acknowledged else count,
        "items": items,
        "acknowledged_url": "" if acknowledged else f"/p/{project.slug}/?acknowledged=1",
    }


def _headline(count: int, window: Document, *, has_holes: bool) -> tuple[str, str]:
    reach = "" if window["complete"] else f"The lists are {window['lag']:,} receipts behind. "
    if not count:
        return "Nothing needs anyone.", f"{reach}Every skip is explained; nothing is set aside."
    number = _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"
    verb = "thing needs" if count == 1 else "things need"
    rest = (
        "What did not come cannot be accounted for."
        if has_holes
        else "Everything else is accounted for."
    )
    return f"{number} {verb} someone.", f"{reach}{rest}"


def _item(project: ProjectRow, one: Document) -> Document:
    quiet = one["acknowledged"]
    small = one["small"]
    if quiet:
        small = f"acknowledged by {quiet['actor']}: {quiet['reason']}"
    return {
        **one,
        "small": small,
        "subject": one["subject"] or "",
        "icon": _ICONS.get(one["severity"], "diamond"),
        "next_label": one["next"]["label"],
        "next_url": f"/p/{project.slug}/{one['next']['path']}",
        "acknowledge_url": ""
        if quiet
        else present.address(project, "attention", one["id"], "acknowledge"),
    }


def _figures(
    project: ProjectRow, document: Document, kinds: dict[str, Document], after: str
) -> list[Document]:
    cut = documents.find_cut(project.id, "")
    unexplained = lists.parse_query("pointer:unresolved")
    found = lists.count_receipts(project.id, unexplained, cut)
    waiting = set_aside.waiting_set_aside(project.id)
    return [
        _kind_figure(project, kinds, "done", "done, last 24 h", after),
        _kind_figure(project, kinds, "skip", "skipped, last 24 h", after),
        {
            "value": found.value,
            "label": "skips not explained",
            "url": present.address(project, "receipts", q="pointer:unresolved"),
        },
        {
            "value": waiting.count,
            "label": "set aside",
            "url": present.address(project, "quarantine", open="1"),
        },
        {
            "value": cut.end + cut.lag,
            "label": "in the log, no witness yet",
            "url": present.address(project, "receipts"),
        },
    ]


def _kind_figure(
    project: ProjectRow, kinds: dict[str, Document], kind: str, label: str, after: str
) -> Document:
    row = kinds.get(kind)
    query = row["q"] if row else f"kind:{kind} after:{after}"
    return {
        "value": row["count"] if row else 0,
        "label": label,
        "url": present.address(project, "receipts", q=query),
    }


def _states(project: ProjectRow, after: Any) -> list[Document]:
    counted = attention.pointer_counts(project.id, after, clock.now())
    spoken = {state: word for state, (word, _) in looks.POINTER_WORDS.items()}
    rows = present.bars(project, counted, "pointer", spoken)
    for row, source in zip(rows, counted, strict=True):
        row["tone"] = source["tone"]
        row["icon"] = looks.TONE_ICONS[source["tone"]]
    return rows
