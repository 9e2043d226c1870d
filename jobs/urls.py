"""The jobs pages, below `/p/{project}/`; each tail is the API's."""

from __future__ import annotations

from django.urls import URLPattern

app_name = "jobs"

urlpatterns: list[URLPattern] = []
