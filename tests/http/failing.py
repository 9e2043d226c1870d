"""The server's addresses and one more, whose view fails with secrets at hand."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.urls import path

from config import urls

TOKEN = "cf_abcdefgh_62dspirbpdrl5i3dndzh4x76peszguozezqje2hnkxqbbyshetaq"

handler400, handler403 = urls.handler400, urls.handler403
handler404, handler500 = urls.handler404, urls.handler500


def fail(request: HttpRequest, secret: str) -> HttpResponse:
    raise RuntimeError(f"it broke on {TOKEN}")


urlpatterns = [path("login/link/<str:secret>/fails", fail), *urls.urlpatterns]
