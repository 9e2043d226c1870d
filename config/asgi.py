"""The ASGI application: receipts go to the ledger's own callable, all else to Django."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

django_application = get_asgi_application()

# Django must be set up before anything that reads settings or models is imported.
from ledger.api import receive as receiving  # noqa: E402
from ledger.api.writer import writer  # noqa: E402
from ledger.live import close as close_streams  # noqa: E402

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


async def application(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one connection."""
    if scope["type"] == "lifespan":
        await _live(receive, send)
    elif receiving.is_ingest(scope):
        await receiving.receive_receipts(scope, receive, send)
    else:
        await django_application(scope, receive, send)  # type: ignore[arg-type]


async def _live(receive: Receive, send: Send) -> None:
    """Start and stop with the server; at the end what has queued is written."""
    await receive()
    await send({"type": "lifespan.startup.complete"})
    await receive()
    close_streams()
    writer.close()
    await send({"type": "lifespan.shutdown.complete"})
