"""The HTTP API: each app's router under `/api/v1`, described by one OpenAPI document."""

from __future__ import annotations

from ninja import NinjaAPI

from kit import http
from ledger.api.routes import router as ledger_router

api = NinjaAPI(
    title="Counterfoil",
    version="1",
    description="Receipts in; explanations, lists and evidence out.",
    openapi_url="/openapi.json",
    docs_url=None,
    urls_namespace="api",
)
http.register(api)
api.add_router("", ledger_router)
