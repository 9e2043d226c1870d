"""The API does what its OpenAPI document says: no 5xx, and no status or content type beside it.

Schemathesis keeps one event loop for the whole run, whose threads keep their connections, so it
can speak to one database only.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import schemathesis
from django.test import Client
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests import factories
from tests.desk import NDJSON, Desk, only_on
from tests.http import events_house
from tests.http.events_house import BUS, INSTALLATION, LANE

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
EXAMPLES = settings(
    max_examples=8,
    deadline=None,
    database=None,
    derandomize=True,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
READING = [
    "list_receipts", "export_csv", "export_ndjson", "count_receipts", "get_receipt", "get_raw",
    "explain_receipt", "get_subject", "list_tasks", "get_task", "list_policies",
    "list_quarantine",
    "list_producers", "get_producer", "waive",
    "list_attention", "redrive", "close", "acknowledge", "simulate", "show_simulation",
    "list_keys", "get_key", "release_key", "list_contradictions", "list_jobs", "find_job",
    "get_job", "get_scope", "get_invoke", "reconcile", "show_reconcile", "show_reconcile_csv",
    "list_installations", "get_installation", "get_rollout", "list_resets", "list_resumes",
    "get_bus", "get_timeline", "list_findings", "get_finding", "get_lane", "get_buffer",
    "export_buffer", "try_resume",
]  # fmt: skip


def document() -> dict[str, Any]:
    from config.api import api

    found: dict[str, Any] = json.loads(json.dumps(api.get_openapi_schema()))
    return found


@pytest.fixture
def filled(desk: Desk) -> Desk:
    """Have one receipt of each state to read."""
    desk.post({"id": "a", "kind": "done", "job": {"task": "t"}})
    desk.post({"id": "a", "kind": "done", "n": 1})
    desk.post({"kind": "skip", "original": {"receipt": "b"}})
    desk.post(b"{")
    desk.post(b"x" * 1_100_000)
    desk.post({"kind": "observe", "what": "feed", "spool": "w1", "written": 9, "unsent": 0})
    desk.post_lines(*events_house.story(), *events_house.replicas(), *events_house.answers())
    desk.catch_up()
    return desk


@schemathesis.serializer(NDJSON)
def write_lines(context: object, value: Any) -> bytes:
    """Send a batch as the bytes that were made up for it."""
    made: bytes = getattr(value, "data", value)
    return made if isinstance(made, bytes) else str(made).encode("utf-8", "surrogatepass")


def find_operation(operation_id: str) -> Any:
    from config.asgi import application

    schema = schemathesis.openapi.from_dict(document())
    schema.app = application
    return schema.find_operation_by_id(operation_id)


def call(desk: Desk, case: schemathesis.Case) -> int:
    """Send a request and hold its answer to the document; gives the status."""
    _, token = factories.make_token(desk.project, "admin")
    response = case.call(headers={"authorization": f"Bearer {token}"})
    case.validate_response(response, checks=CHECKS)
    status: int = response.status_code
    return status


@only_on("postgresql")
@pytest.mark.parametrize("operation_id", ["post_receipts", *READING])
def test_an_operation_answers_made_up_input_as_documented(filled: Desk, operation_id: str) -> None:
    operation = find_operation(operation_id)
    modes = [operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode]
    seen: list[int] = []

    @given(case=st.one_of(*modes))
    @EXAMPLES
    def try_out(case: schemathesis.Case) -> None:
        seen.append(call(filled, case))

    try_out()

    assert seen


ROUTES: dict[str, dict[str, Any]] = {
    "list_receipts": {"query": {"limit": 2}},
    "export_csv": {},
    "export_ndjson": {},
    "count_receipts": {"query": {"by": "kind"}},
    "get_receipt": {"path_parameters": {"ref": "n0"}},
    "get_raw": {"path_parameters": {"ref": "n0"}},
    "explain_receipt": {"path_parameters": {"ref": "n2"}},
    "get_subject": {"path_parameters": {"type": "payout", "id": "PO-1"}},
    "list_tasks": {},
    "get_task": {"path_parameters": {"task": "t"}},
    "list_policies": {},
    "list_quarantine": {},
    "list_attention": {},
    "list_producers": {"query": {"incomplete": False}},
    "get_producer": {"path_parameters": {"spool": "w1"}},
    "waive": {"path_parameters": {"spool": "w1"}, "body": {"reason": "gone", "gap": "1-9"}},
    "simulate": {"body": {"recipe": {"fields": ["task"]}, "compare": {"window_s": 5}}},
    "show_simulation": {"query": {"fields": "task"}},
    "list_keys": {"query": {"gone": True}},
    "list_contradictions": {"query": {"invariant": "one_done"}},
    "show_reconcile": {"query": {"type": "payout", "id": ["PO-1"]}},
    "show_reconcile_csv": {"query": {"type": "payout", "id": ["PO-1"]}},
    "reconcile": {"body": {"type": "payout", "ids": ["PO-1", "PO-1", "PO-2"]}},
    "list_installations": {},
    "get_installation": {"path_parameters": {"installation": INSTALLATION}},
    "get_rollout": {"path_parameters": {"installation": INSTALLATION}},
    "list_resets": {"path_parameters": {"installation": INSTALLATION}},
    "list_resumes": {"path_parameters": {"installation": INSTALLATION}},
    "get_bus": {"path_parameters": {"bus": BUS}},
    "get_timeline": {"path_parameters": {"bus": BUS}, "query": {"width": "300"}},
    "list_findings": {"path_parameters": {"bus": BUS}},
    "get_lane": {"path_parameters": {"lane": LANE}},
    "get_buffer": {"path_parameters": {"lane": LANE}},
    "export_buffer": {"path_parameters": {"lane": LANE}},
    "try_resume": {"path_parameters": {"lane": LANE}, "query": {"cursor": "7:70"}},
    "redrive": {"path_parameters": {"ref": "n3"}, "body": {"reason": "the rules changed"}},
    "close": {"path_parameters": {"ref": "n3"}, "body": {"reason": "it was a test"}},
}


@only_on("postgresql")
@pytest.mark.parametrize("operation_id", ROUTES)
def test_what_is_there_is_read_in_the_documented_shape(filled: Desk, operation_id: str) -> None:
    case = find_operation(operation_id).Case(**ROUTES[operation_id])

    assert call(filled, case) == 200


@only_on("postgresql")
@pytest.mark.parametrize("ref", ["n0", "n1", "n2", "n3", "n4"])
@pytest.mark.parametrize("operation_id", ["get_receipt", "explain_receipt", "get_raw"])
def test_receipts_of_every_state_have_the_documented_shape(
    filled: Desk, operation_id: str, ref: str
) -> None:
    case = find_operation(operation_id).Case(path_parameters={"ref": ref})

    assert call(filled, case) == 200


BODIES: dict[str, tuple[Any, str, int]] = {
    "new": ({"kind": "done"}, "application/json", 201),
    "again": ({"id": "a", "kind": "done", "job": {"task": "t"}}, "application/json", 200),
    "other content": ({"id": "a", "kind": "fail"}, "application/json", 409),
    "invalid": ({"kind": 3}, "application/json", 202),
    "too long": ({"kind": "done", "data": "x" * 1_100_000}, "application/json", 413),
    "a batch": (b'{"kind":"done"}\n{', "application/x-ndjson", 200),
    "a batch too long": (b'{"kind":"done"}\n' * 1_001, "application/x-ndjson", 413),
}


@only_on("postgresql")
@pytest.mark.parametrize("name", BODIES)
def test_each_answer_of_a_post_has_the_documented_shape(filled: Desk, name: str) -> None:
    body, media_type, status = BODIES[name]
    case = find_operation("post_receipts").Case(body=body, media_type=media_type)

    assert call(filled, case) == status


def test_every_operation_is_documented_with_its_errors_and_its_shape(desk: Desk) -> None:
    found = {
        operation["operationId"]: operation["responses"]
        for operations in document()["paths"].values()
        for operation in operations.values()
    }

    assert found.keys() == {"post_receipts", *READING}
    for responses in found.values():
        assert {"200", "401", "403", "503"} <= responses.keys()
        for answer in responses.values():
            assert all("schema" in one for one in answer["content"].values())


def test_the_document_is_served(desk: Desk) -> None:
    served = desk.get("openapi.json")

    assert served.status_code == 200
    assert "post_receipts" in json.dumps(served.json())


@pytest.mark.parametrize("tail", ["receipts", "tasks", "quarantine", "attention"])
def test_reading_without_a_token_is_answered_as_documented(desk: Desk, tail: str) -> None:
    response = Client().get(f"/api/v1/{tail}")

    assert response.status_code == 401
    assert response.headers["Content-Type"] == "application/problem+json"
