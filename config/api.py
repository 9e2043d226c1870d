"""The HTTP API: each app's router under `/api/v1`, described by one OpenAPI document."""

from __future__ import annotations

from typing import Any

from ninja import NinjaAPI
from ninja.openapi.schema import OpenAPISchema

from events.api import router as events_router
from jobs.api import router as jobs_router
from jobs.lab_api import router as lab_router
from kit import http
from ledger.api import openapi
from ledger.api.reconcile import router as reconcile_router
from ledger.api.routes import router as ledger_router


class Api(NinjaAPI):
    """The framework's API, with a document that also describes what lies outside it."""

    def get_openapi_schema(self, **given: Any) -> OpenAPISchema:
        document = super().get_openapi_schema(**given)
        openapi.complete(document)
        return document


api = Api(
    title="Counterfoil",
    version="1",
    description="Receipts in; explanations, lists and evidence out.",
    openapi_url="/openapi.json",
    docs_url=None,
    urls_namespace="api",
)
http.register(api)
api.add_router("", ledger_router)
api.add_router("", reconcile_router)
api.add_router("", jobs_router)
api.add_router("", lab_router)
api.add_router("", events_router)
