"""Traces: where a trace id leads, and the list of the receipts that bear it."""

from __future__ import annotations

from django.conf import settings

from access.rows import ProjectRow
from ledger.present.addresses import Document, address


def trace(project: ProjectRow, trace_id: str | None) -> Document | None:
    """Give a trace with its addresses; `url` is empty where no `TRACE_URL` is set."""
    if not trace_id:
        return None
    return {
        "id": trace_id,
        "url": settings.TRACE_URL.replace("{trace_id}", trace_id),
        "list_url": address(project, "receipts", q=f"trace:{trace_id}"),
    }
