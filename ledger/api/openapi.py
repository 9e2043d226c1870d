"""The OpenAPI document, completed by what the framework cannot know.

Receiving is an ASGI callable outside it, and the reading views answer with documents that are
made further in; both are described here by hand, and held to it by tests/contract/.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from ledger.api import bus_shapes, shapes
from ledger.api.answers import JSON, PROBLEM
from ledger.api.receive import NDJSON, PATH
from ledger.api.shapes import Schema, named

Operation = dict[str, Any]

BEARER = "token"
_READING = (400, 401, 403, 404, 422, 429, 503)
_ACTING = (*_READING, 409, 410)
_RECEIVING = (401, 403, 409, 413, 429, 500, 503)
_RETRIED = (429, 503)
_RETRY_AFTER = {
    "description": "Seconds after which to try again",
    "schema": {"type": "string", "pattern": "^[0-9]+$"},
}
_LOCATION = {"description": "Where the receipt is", "schema": shapes.TEXT}
_REPLAYED = {"description": "`true` when it was stored before", "schema": shapes.TEXT}

_ANSWERS: Mapping[str, Schema] = {
    "list_receipts": shapes.page_of(named("Item")),
    "count_receipts": shapes.object_of(
        {
            "items": shapes.list_of(
                shapes.object_of({"count": shapes.COUNT, "tallied": shapes.COUNT, "q": shapes.TEXT})
            )
        }
    ),
    "get_receipt": named("Receipt"),
    "explain_receipt": named("Explanation"),
    "get_subject": shapes.object_of(
        {
            "type": shapes.TEXT,
            "id": shapes.TEXT,
            "became": shapes.one_of(
                "done", "skipped", "failed", "cancelled", "in_progress", "nothing_recorded"
            ),
            "items": shapes.list_of(named("Item")),
            "watched_since": shapes.or_null(shapes.TEXT),
        }
    ),
    "list_tasks": shapes.object_of(
        {"items": shapes.list_of(shapes.TASK), "window": named("Window")}
    ),
    "get_task": shapes.TASK,
    "list_policies": shapes.object_of(
        {"items": shapes.list_of(shapes.POLICY), "window": named("Window")}
    ),
    "list_jobs": shapes.object_of(
        {
            "items": shapes.list_of(shapes.JOB_ROW),
            "next": shapes.or_null(shapes.TEXT),
            "count": named("Count"),
            "window": named("Window"),
        }
    ),
    "find_job": shapes.JOB,
    "get_job": shapes.JOB,
    "get_scope": shapes.SCOPE,
    "get_invoke": shapes.INVOKE,
    "simulate": shapes.TRIAL,
    "show_simulation": shapes.object_of(
        {"recorded": shapes.list_of(shapes.ANY_OBJECT), "fields": shapes.list_of(shapes.TEXT)}
    ),
    "list_keys": shapes.object_of(
        {
            "items": shapes.list_of(shapes.KEY),
            "next": shapes.or_null(shapes.TEXT),
            "count": named("Count"),
            "recipes": shapes.list_of(shapes.TEXT),
            "window": named("Window"),
        }
    ),
    "get_key": shapes.KEY,
    "release_key": shapes.object_of(
        {"recipe": shapes.TEXT, "digest": shapes.TEXT, "noted": shapes.FLAG}
    ),
    "list_contradictions": shapes.page_of(
        shapes.CONTRADICTION, {"checks": shapes.list_of(shapes.CHECK)}
    ),
    "reconcile": shapes.object_of(
        {
            "type": shapes.TEXT,
            "expected": shapes.COUNT,
            "verdict": shapes.object_of(
                {
                    "code": shapes.one_of(
                        "accounted", "unrecorded", "not_watched", "feed_incomplete"
                    ),
                    "sentence": shapes.TEXT,
                    "rule": shapes.TEXT,
                }
            ),
            "counts": shapes.ANY_OBJECT,
            "items": shapes.list_of(shapes.ANY_OBJECT),
            "watched_since": shapes.or_null(shapes.TEXT),
        }
    ),
    "show_reconcile": shapes.ANY_OBJECT,
    "list_producers": shapes.page_of(
        shapes.PRODUCER, {"unnumbered": shapes.list_of(shapes.ANY_OBJECT)}
    ),
    "get_producer": shapes.SPOOL,
    "waive": shapes.object_of(
        {"spool": shapes.TEXT, "gap": shapes.or_null(shapes.TEXT), "state": shapes.one_of("waived")}
    ),
    "list_quarantine": shapes.page_of(shapes.ANY_OBJECT, {"open": shapes.COUNT}),
    "list_attention": shapes.object_of(
        {"items": shapes.list_of(shapes.ANY_OBJECT), "count": shapes.COUNT}
    ),
    "redrive": shapes.object_of(
        {"ref": named("Ref"), "state": shapes.TEXT, "derived_from": named("Ref")}
    ),
    "close": shapes.object_of({"ref": named("Ref"), "state": shapes.one_of("closed")}),
    "acknowledge": shapes.ANY_OBJECT,
    **bus_shapes.ANSWERS,
}
_OTHER_TYPES: Mapping[str, tuple[str, ...]] = {
    "export_csv": ("text/csv",),
    "export_ndjson": (NDJSON,),
    "export_buffer": (NDJSON,),
    "show_reconcile_csv": ("text/csv",),
    "get_raw": (JSON, "text/plain"),
}


def complete(document: Schema) -> Schema:
    """Add receiving, the shapes of all answers, the errors and the token to a document."""
    components = document.setdefault("components", {})
    components.setdefault("schemas", {}).update(shapes.SCHEMAS)
    components["securitySchemes"] = {BEARER: {"type": "http", "scheme": "bearer"}}
    document["security"] = [{BEARER: []}]
    for operations in document["paths"].values():
        for method, operation in operations.items():
            _describe(operation, _READING if method == "get" else _ACTING)
    document["paths"].setdefault(PATH, {})["post"] = receiving()
    return document


def receiving() -> Operation:
    """Describe `POST /api/v1/receipts` (contract, section 3)."""
    stored = {"Location": _LOCATION}
    again = {**stored, "Receipt-Replayed": _REPLAYED}
    return {
        "operationId": "post_receipts",
        "summary": "Hand in a receipt, or a batch of them",
        "description": (
            "One JSON object, or up to 1,000 lines or 8 MiB of NDJSON, whose answer has a line "
            "for each with the `status` that it would have had alone. What cannot be read is "
            "kept as well. Sending the same again is always safe."
        ),
        "tags": ["ledger"],
        "parameters": [
            _parameter("wait", "query", "`leaf` waits up to two seconds for the leaf index"),
            _parameter("Counterfoil-Feed", "header", "`SPOOL; first=N`: the number of line one"),
        ],
        "requestBody": {
            "content": {
                JSON: {"schema": _statement()},
                NDJSON: {"schema": {"type": "string", "format": "binary"}},
            },
        },
        "responses": {
            "200": {
                "description": "It was stored before; or a batch, line by line",
                "headers": {"Receipt-Replayed": _REPLAYED},
                "content": {
                    JSON: {"schema": named("Stored")},
                    NDJSON: {"schema": {"type": "string", "format": "binary"}},
                },
            },
            "201": _answer("Stored", named("Stored"), stored),
            "202": _answer("Kept, but set aside", named("SetAside"), again),
            **_problems(_RECEIVING),
        },
    }


def _statement() -> Schema:
    return {
        "type": "object",
        "required": ["kind"],
        "properties": {
            "id": {"type": "string", "minLength": 1, "maxLength": 255},
            "kind": {"type": "string", "minLength": 1},
            "occurred_at": shapes.WHEN,
            "reason": shapes.TEXT,
            "job": shapes.ANY_OBJECT,
            "subjects": {"type": "array", "maxItems": 16, "items": shapes.SUBJECT},
            "original": shapes.or_null(shapes.ANY_OBJECT),
            "sent": shapes.ANY_OBJECT,
            "data": {},
        },
    }


def _describe(operation: Operation, problems: Iterable[int]) -> None:
    name = operation["operationId"]
    types = _OTHER_TYPES.get(name, ())
    ok = _answer("OK", _ANSWERS.get(name, {}))
    if types:
        ok = {"description": "OK", "content": {one: {"schema": _bytes(one)} for one in types}}
    operation["responses"] = {"200": ok, **_problems(problems)}
    if name == "find_job":
        several = _answer("Several sources have a job of this number", shapes.JOB_CHOICES)
        operation["responses"]["300"] = several


def _bytes(content_type: str) -> Schema:
    """Describe bytes; those that are JSON may be any."""
    return {} if content_type == JSON else {"type": "string", "format": "binary"}


def _parameter(name: str, where: str, description: str) -> Schema:
    return {"name": name, "in": where, "description": description, "schema": shapes.TEXT}


def _answer(
    description: str, schema: Schema, headers: Mapping[str, Schema] | None = None
) -> Operation:
    found: Operation = {"description": description, "content": {JSON: {"schema": schema}}}
    return {**found, "headers": dict(headers)} if headers else found


def _problems(statuses: Iterable[int]) -> dict[str, Operation]:
    return {str(status): _problem(status) for status in sorted(statuses)}


def _problem(status: int) -> Operation:
    found: Operation = {
        "description": HTTPStatus(status).phrase,
        "content": {PROBLEM: {"schema": named("Problem")}},
    }
    return {**found, "headers": {"Retry-After": _RETRY_AFTER}} if status in _RETRIED else found
