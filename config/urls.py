"""Every address of the server; each app brings its own."""

from __future__ import annotations

from django.urls import include, path

urlpatterns = [
    path("", include("access.urls")),
]
