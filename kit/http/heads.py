"""HEAD, answered as GET is but without the body (RFC 9110, section 9.3.2)."""

from __future__ import annotations

from typing import cast

from django.http import HttpRequest
from django.http.response import HttpResponseBase

from kit.http.middleware import Middleware
from kit.http.rows import RowStream


class HeadMiddleware(Middleware):
    """Lets every view that answers GET answer HEAD, whatever its router thinks of it.

    Stands last in the list: the middlewares above it, and the log, see the method as it was sent.
    """

    def around(self, request: HttpRequest) -> HttpResponseBase:
        if request.method != "HEAD":
            return super().around(request)
        request.method = "GET"
        try:
            return _without_stream(super().around(request))
        finally:
            request.method = "HEAD"

    async def around_async(self, request: HttpRequest) -> HttpResponseBase:
        if request.method != "HEAD":
            return await super().around_async(request)
        request.method = "GET"
        try:
            return _without_stream(await super().around_async(request))
        finally:
            request.method = "HEAD"


def _without_stream(response: HttpResponseBase) -> HttpResponseBase:
    """Put an empty stream in place of one that would be read to its end, or has none.

    Other bodies are left: their length goes into a header, and the server drops the rest.
    """
    if not response.streaming:
        return response
    empty = RowStream(iter(()), status=response.status_code, headers=dict(response.items()))
    empty.cookies = cast(RowStream, response).cookies
    response.close()
    return empty
