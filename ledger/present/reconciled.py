"""The result of reconciling, made ready: counts that lead to their lists on the same page."""

from __future__ import annotations

from urllib.parse import urlencode

from access.rows import ProjectRow
from ledger import reconciling
from ledger.present.addresses import Document, address
from ledger.queries.reconcile import Reconciliation

SHOWN = 200
LINKED = 100
LONGEST_LINK = 6_000
_LOOKS = {
    "nothing_recorded": ("gap", "circle-question-mark"),
    "failed": ("bad", "x"),
    "cancelled": ("plain", "ban"),
    "skipped": ("skip", "skip"),
    "done_again": ("bad", "triangle-alert"),
    "in_progress": ("plain", "play"),
    "done": ("done", "check"),
}
_STANDINGS = {
    "accounted": ("done", "all accounted for", "check"),
    "unrecorded": ("bad", "some without a record", "triangle-alert"),
    "not_watched": ("gap", "not watched", "circle-question-mark"),
    "feed_incomplete": ("gap", "record not complete", "circle-question-mark"),
}


def result(project: ProjectRow, found: Reconciliation, form: Document) -> Document:
    """Go through the items, keep the first of each list, and give the totals with them."""
    kept: dict[str, list[Document]] = {name: [] for name in reconciling.LISTED}
    for item in found.items():
        for name in reconciling.lists_of(item):
            if len(kept[name]) < SHOWN:
                kept[name].append(_item(project, item))
    totals = found.totals()
    tone, word, icon = _STANDINGS[totals["verdict"]["code"]]
    return {
        **totals,
        "tone": tone,
        "word": word,
        "icon": icon,
        "summary": " ".join(reconciling.summary(totals)),
        "lists": [_list(name, kept[name], totals) for name in reconciling.LISTED],
        "link": _link(project, found, form),
    }


def _list(name: str, items: list[Document], totals: Document) -> Document:
    tone, icon = _LOOKS[name]
    count = totals["counts"][name]
    return {
        "name": name,
        "title": reconciling.LIST_WORDS[name],
        "tone": tone,
        "icon": icon,
        "count": count,
        "rows": items,
        "more": count - len(items),
        "is_open": name != "done",
    }


def _item(project: ProjectRow, item: Document) -> Document:
    by = item["by"]
    return {
        **item,
        "url": address(project, "subjects", item["type"], item["id"]),
        "explain_url": address(project, "receipts", by, "explain") if by else "",
        "again": [
            {"ref": ref, "url": address(project, "receipts", ref)} for ref in item["done_again"]
        ],
    }


def _link(project: ProjectRow, found: Reconciliation, form: Document) -> str:
    """Give the address that shows a short list again; a long one fits into no address."""
    names = found.expected.ids
    if not 0 < len(names) <= LINKED or found.expected.again:
        return ""
    asked = [(name, form[name]) for name in ("type", "from", "to", "unnumbered") if form[name]]
    link = f"{address(project, 'reconcile')}?{urlencode([*asked, *(('id', one) for one in names)])}"
    return link if len(link) <= LONGEST_LINK else ""
