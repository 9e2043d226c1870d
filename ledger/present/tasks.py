"""Tasks made ready: each number opens its list."""

from __future__ import annotations

from access.rows import ProjectRow
from kit.search import with_term
from ledger.domain import words
from ledger.present.addresses import Document, address
from ledger.present.lists import bars
from ledger.queries import lists


def task_row(project: ProjectRow, one: Document) -> Document:
    """Make one task of the list ready; each number opens its list."""
    return {
        **one,
        "url": address(project, "tasks", one["task"]),
        "done_url": address(project, "receipts", q=f"{one['q']} kind:done"),
        "skipped_url": address(project, "receipts", q=f"{one['q']} kind:skip"),
        "failed_url": address(project, "receipts", q=f"{one['q']} kind:fail,discard"),
        "unexplained": None,
    }


def task(project: ProjectRow, document: Document) -> Document:
    """Make one task's page ready."""
    row = task_row(project, document)
    names = (("done", "done"), ("skipped", "skipped"), ("failed", "failed"))
    counted = [
        {"reason": reason, "count": count, "q": _reason_query(document["q"], reason)}
        for reason, count in sorted(
            document["skipped_by_reason"].items(), key=lambda one: (-one[1], one[0])
        )
    ]
    return {
        **row,
        "figures": [
            {"value": document[name], "label": f"{label}, last 24 h", "url": row[f"{name}_url"]}
            for name, label in names
        ],
        "reasons": bars(project, counted, "reason", words.REASON_WORDS),
        "list_url": address(project, "receipts", q=document["q"]),
    }


def _reason_query(base: str, reason: str) -> str:
    return with_term(lists.parse_query(base), "reason", reason) if reason else ""
