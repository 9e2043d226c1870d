"""Rows of lists, the search field, and bars, made ready for templates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from access.rows import ProjectRow
from kit.search import Query, without
from ledger.domain import words
from ledger.present.addresses import Document, address, job_link


def item(project: ProjectRow, one: Document) -> Document:
    """Give a row of the list what the template draws beside it."""
    pointer = one["pointer"]
    return {
        **one,
        "url": address(project, "receipts", one["ref"]),
        "explain_url": address(project, "receipts", one["ref"], "explain"),
        "verdict": _row_badge(one),
        "reason_word": "" if _says_reason(one) else words.reason_words(one["reason"]),
        "job": job_link(project, one),
        "subjects": [
            {**each, "url": address(project, "subjects", each["type"], each["id"])}
            for each in one["subjects"]
        ],
        "pointer": None if pointer is None else _pointer(project, pointer),
    }


def _row_badge(one: Document) -> Document:
    """Say in a row what became of a receipt; one that is not judged says what it is."""
    badge = words.badge_of(one["verdict"]["code"], one["kind"], one["state"])
    return {**one["verdict"], "word": badge.word, "tone": badge.tone, "icon": badge.icon}


def _says_reason(one: Document) -> bool:
    """Tell whether the verdict's words are the reason's already."""
    said = one["verdict"]["code"].partition(".")[2]
    return bool(one["kind"] != "skip" or said == one["reason"])


def rows(project: ProjectRow, items: Sequence[Document]) -> list[Document]:
    """Make all rows of a list ready."""
    return [item(project, one) for one in items]


def _pointer(project: ProjectRow, pointer: Document) -> Document:
    target = pointer["target"]
    return {
        **pointer,
        "target_text": pointer["named"] or target,
        "target_url": address(project, "receipts", target, "explain") if target else "",
    }


def query(project: ProjectRow, asked: Query, page: str = "receipts") -> Document:
    """Give the search field's text, its terms with links that remove them, and its faults."""
    return {
        "q": asked.text,
        "terms": [
            {
                "label": f"{'-' if term.negated else ''}{_name(term)}:{','.join(term.values)}",
                "remove_url": address(project, page, q=without(asked, term)),
            }
            for term in asked.terms
        ],
        "faults": [
            {
                "position": fault.position,
                "detail": fault.message,
                "allowed": list(fault.allowed[:8]),
            }
            for fault in asked.faults
        ],
        "suggestions": [word for fault in asked.faults for word in fault.allowed[:3]],
    }


def _name(term: Any) -> str:
    return term.name if term.path is None else f"{term.name}.{term.path}"


def bars(
    project: ProjectRow, counted: Sequence[Mapping[str, Any]], name: str, spoken: Mapping[str, str]
) -> list[Document]:
    """Make counted rows into bars; the longest is a hundred percent."""
    most = max((row["count"] + row.get("tallied", 0) for row in counted), default=0)
    return [
        {
            "word": spoken.get(row[name], row[name]) or "no reason given",
            "count": row["count"],
            "tallied": row.get("tallied", 0),
            "url": address(project, "receipts", q=row["q"]) if row["q"] else "",
            "percent": _percent(row["count"] + row.get("tallied", 0), most),
            "tone": _REASON_TONES.get(row[name], "skip"),
        }
        for row in counted
    ]


def _percent(count: int, most: int) -> int:
    return round(100 * count / most) if most else 0


_REASON_TONES = {"already_done": "done", "in_flight": "plain", "redelivery": "plain", "": "bad"}
