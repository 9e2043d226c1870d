"""The bytes of an answer: one form of JSON, and tags that follow from it.

A page's `.json` twin and the API give the same bytes because both are written here.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import uuid
from datetime import UTC, date, datetime
from typing import cast

from django.http import HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response


def json_bytes(value: object) -> bytes:
    """Write a value as JSON, the same bytes for equal values.

    Members are sorted, times are RFC 3339 in UTC with microseconds, dataclasses are objects. A
    lone surrogate is written as an escape. Raises ValueError for NaN and infinities.
    """
    text = json.dumps(
        value,
        default=_plain,
        sort_keys=True,
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    return text.encode("utf-8", "backslashreplace")


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, date | uuid.UUID):
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def rfc3339(at: datetime) -> str:
    """Write an aware time in UTC with microseconds and a Z, as the contract wants it."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def json_response(value: object, status: int = 200) -> HttpResponse:
    """Answer with the JSON of a value."""
    return HttpResponse(json_bytes(value), content_type="application/json", status=status)


def etag(*parts: object) -> str:
    """Make a strong entity tag from whatever decides the bytes of an answer."""
    digest = hashlib.sha256(json_bytes([str(part) for part in parts])).hexdigest()
    return f'"{digest[:32]}"'


def with_etag(request: HttpRequest, response: HttpResponse, tag: str) -> HttpResponse:
    """Tag an answer, or make it a 304 where the caller has it already (RFC 9110 section 13)."""
    response.headers["ETag"] = tag
    return cast(HttpResponse, get_conditional_response(request, etag=tag, response=response))
