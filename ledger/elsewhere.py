"""Somebody asks whether what a receipt names lies in another project that they may read.

Only a person may ask, since a token belongs to one project; the answer is for that person, and is
neither kept nor part of the explanation's JSON.
"""

from __future__ import annotations

from typing import Any

from access import queries as access_queries
from access.callers import Caller
from access.domain import rights
from access.rows import ProjectRow
from ledger.present import address
from ledger.queries import elsewhere

Document = dict[str, Any]
PROJECTS = 200
"""Projects that are looked through; who reads more is told how many."""


def answer(
    caller: Caller, project: ProjectRow, explanation: Document, *, is_asked: bool
) -> Document | None:
    """Offer to ask, or give what was found; None where there is nothing to ask, or nowhere."""
    pointer = explanation.get("pointer") or {}
    sought = pointer.get("sought")
    others = _readable(caller, project) if sought else []
    if not sought or not others:
        return None
    looked = others[:PROJECTS]
    hits = [hit for one in looked for hit in _hits(one, sought)] if is_asked else []
    return {"asked": is_asked, "looked": len(looked), "of": len(others), "hits": hits}


def _readable(caller: Caller, project: ProjectRow) -> list[ProjectRow]:
    """Give the other projects in which a person has the right to read, by slug."""
    if caller.kind != "user":
        return []
    held = access_queries.roles_of(caller.id)
    return [
        one for one, role in held if one.id != project.id and rights.READ in rights.get_role(role)
    ]


def _hits(project: ProjectRow, sought: Document) -> list[Document]:
    found = elsewhere.find_in(project.id, sought["receipt"], sought["job"])
    return [
        {
            **one,
            "project": project.name or project.slug,
            "url": address(project, "receipts", one["ref"], "explain"),
        }
        for one in found
    ]
