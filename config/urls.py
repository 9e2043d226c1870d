"""Every address of the server; each app brings its own."""

from __future__ import annotations

from django.urls import include, path

from config import health, overview, twins
from config.api import api

handler400 = "kit.http.bad_request"
handler403 = "kit.http.forbidden"
handler404 = "kit.http.not_found"
handler500 = "kit.http.server_error"

urlpatterns = [
    path("", include("access.urls")),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("api/v1/", api.urls),
    path("p/<str:slug>/<path:tail>.json", twins.json_twin, name="json_twin"),
    path("p/<str:slug>/<path:tail>.csv", twins.csv_twin, name="csv_twin"),
    path("p/<str:slug>/<path:tail>.ndjson", twins.ndjson_twin, name="ndjson_twin"),
    path("p/<str:slug>/", overview.overview, name="overview"),
    path("p/<str:slug>/", include("ledger.urls")),
    path("p/<str:slug>/", include("jobs.urls")),
    path("p/<str:slug>/", include("events.urls")),
]
