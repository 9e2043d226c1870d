"""What a request says of itself: its id, and the form of answer that it wants."""

from __future__ import annotations

import re
import uuid

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails

_API_PREFIXES = ("/api/", "/log/")
_TWIN = re.compile(r"\.(json|csv|ndjson)$")
_REQUEST_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{7,63}")


def request_id(request: HttpRequest) -> str:
    """Give the id of a request, making one the first time it is asked for."""
    known = getattr(request, "request_id", None)
    if isinstance(known, str):
        return known
    sent = request.headers.get("X-Request-ID", "")
    chosen = sent if _REQUEST_ID.fullmatch(sent) else uuid.uuid4().hex
    request.request_id = chosen  # type: ignore[attr-defined]
    return chosen


def is_partial(request: HttpRequest) -> bool:
    """Whether htmx asked for a part of the page.

    Not for boosted links, a restored history entry or a request for the whole body: Back would
    show a naked fragment. Marks the request, so that the answer varies on it.
    """
    request.varies_on_htmx = True  # type: ignore[attr-defined]
    details = HtmxDetails(request)
    is_whole = details.boosted or details.history_restore_request or details.request_type == "full"
    return bool(details) and not is_whole


def wants_problem(request: HttpRequest) -> bool:
    """Whether errors are told to a program: the API, the log, twins of pages, and any token."""
    is_ours = request.path.startswith(_API_PREFIXES) or _TWIN.search(request.path)
    if is_ours or "Authorization" in request.headers:
        return True
    accepted = request.headers.get("Accept", "")
    return "json" in accepted and "text/html" not in accepted
