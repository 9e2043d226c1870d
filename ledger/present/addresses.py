"""Addresses of pages, and of the lists that a job or a term opens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from access.rows import ProjectRow
from kit import ids

Document = dict[str, Any]


def address(project: ProjectRow, *parts: str, **query: str) -> str:
    """Give the address of a page; every part is a segment of its own."""
    tail = "/".join(ids.segment(part) for part in parts)
    asked = {name: value for name, value in query.items() if value}
    return f"/p/{project.slug}/{tail}" + (f"?{urlencode(asked)}" if asked else "")


def job_link(project: ProjectRow, one: Document) -> Document | None:
    job = one["job"]
    if job is None:
        return None
    source = [part for part in (job["system"], job["instance"]) if part]
    text = "/".join([*source, job["id"]])
    if one["kind"] == "skip":
        return {"text": text, "url": address(project, "receipts", q=f"job:{_quoted(text, job)}")}
    parts = [job[name] or "" for name in ("system", "instance", "id")]
    return {"text": text, "url": address(project, "jobs", *parts)}


def _quoted(text: str, job: Mapping[str, Any]) -> str:
    """Write a job as the query wants it: whole where its source is known, else by its number."""
    value = text if job["system"] and job["instance"] else job["id"]
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
