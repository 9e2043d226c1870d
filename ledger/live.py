"""Pokes for open pages: how far the lists of a project have come, and nothing else."""

from __future__ import annotations

import asyncio

from django.db import connection
from django.http import HttpRequest, HttpResponseBase

from access.callers import get_caller
from access.domain import rights
from access.guard import require
from access.rows import ProjectRow
from kit import http, sse
from ledger import queries

INTERVAL_S = 0.3


def _read_heads() -> dict[str, int]:
    try:
        return {str(project): leaf for project, leaf in queries.derived_heads().items()}
    finally:
        connection.close()


async def _heads() -> dict[str, int]:
    return await asyncio.to_thread(_read_heads)


hub = sse.Hub(_heads, INTERVAL_S)


def close() -> None:
    """End every stream, so that the server need not wait for its readers."""
    hub.close()


@require(rights.READ)
async def stream(request: HttpRequest, project: ProjectRow) -> HttpResponseBase:
    """Stream pokes of one project to one page."""
    caller = get_caller(request)
    try:
        frames = sse.stream(
            hub,
            str(project.id),
            request.headers.get("Last-Event-ID"),
            user=f"{caller.kind}:{caller.id}",
        )
    except sse.StreamError as error:
        return http.problem(429, "streams", "No more live streams", str(error), retry_after=15)
    return sse.event_stream(frames)
