"""How many statements each answer costs: a number that is written down, and does not grow.

`tests/data/query_budgets.json` holds it for each address, of the API or, with a slash before it,
of a page, which costs what stands around every page besides. Whoever makes an answer cost more, or
less, changes the file with it; a number that depends on how much is stored fails here too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from access.models import ApiToken
from access.rows import ProjectRow
from ledger import ingest, keys, sequence
from ledger.domain.draft import Envelope
from tests import factories, stories
from tests.architecture import ROOT
from tests.databases import Database

BUDGETS = ROOT / "tests" / "data" / "query_budgets.json"
NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
API = "/api/v1/"
ADDRESSES = (
    "receipts",
    "receipts?q=kind:skip pointer:resolved executions:<5",
    "receipts?q=data.event:stop",
    "receipts?as_of=n5",
    "receipts/n1",
    "receipts/n1/explain",
    "receipts/n2/explain",
    "receipts/n1/explain?as_of=n5",
    "receipts/counts?by=task,reason",
    "subjects/payout/PO-88213",
    "tasks",
    "tasks/payout",
    "quarantine",
    "producers",
    "producers/w1",
    "contradictions",
    "contradictions?invariant=one_done",
    "reconcile",
    "attention",
    "/",
    "/receipts",
    "/receipts?q=pointer:unresolved",
    "/receipts?q=PO-88213",
    "/receipts?as_of=n5",
    "/receipts/n1",
    "/receipts/n1/explain",
    "/receipts/n2/explain",
    "/subjects/payout/PO-88213",
    "/tasks",
    "/tasks/payout",
    "/quarantine",
    "/producers",
    "/producers/w1",
    "/reconcile?type=payout&id=PO-88213",
)


def rows(number: int) -> list[dict[str, Any]]:
    """Give one of each: a done, a skip that names it, one by its key, one that names nothing."""
    key = {"recipe": "calls", "fields": {"call": number}}
    job = {"id": str(number), "task": "payout", "queue": "q"}
    payout = [{"type": "payout", "id": "PO-88213"}]
    data = {"event": "stop" if number % 2 else "start"}
    return [
        {"kind": "done", "id": f"d{number}", "job": job, "key": key, "data": data},
        {"kind": "skip", "reason": "already_done", "original": {"receipt": f"d{number}"},
         "subjects": payout, "data": data, "key": {**key, "recipe": "others"}},
        {"kind": "skip", "reason": "already_done", "key": key, "job": {"task": "payout"}},
        {"kind": "skip", "reason": "already_done", "invoke": {"scope": f"e{number}"}},
        {"kind": 5},
        {"kind": "observe", "what": "feed", "spool": f"w{number}", "written": 9, "unsent": 0},
    ]  # fmt: skip


def fill(project: ProjectRow, size: int) -> None:
    """Let `size` rounds arrive, each of a token of its own."""
    for number in range(size):
        listing, _ = factories.make_token(project, name=f"token {number}")
        token = ApiToken.objects.get(prefix=listing.prefix).pk
        given = Envelope(project.id, NINE + timedelta(seconds=number), token_id=token)
        ingest.ingest([json.dumps(one).encode() for one in rows(number)], given)
    sequence.sequence(project.id)
    stories.derive_in(project.id, 500)


@pytest.fixture(scope="module")
def readers(shared_database: Database) -> Iterator[list[tuple[ProjectRow, Client, Client]]]:
    """Give a small project and a large one, each with a program and a person that read."""
    keys.forget()
    made = []
    with time_machine.travel(NINE, tick=False):
        for size in (3, 30):
            project = factories.make_project()
            fill(project, size)
            _, token = factories.make_token(project, "read", name="reader")
            member = factories.make_member(project, "viewer", f"vera-{project.id}")
            person = Client()
            person.force_login(factories.get_user_model_of(member))
            made.append((project, Client(headers={"authorization": f"Bearer {token}"}), person))
    yield made
    keys.forget()


def cost(readers: tuple[ProjectRow, Client, Client], tail: str) -> int:
    """Count the statements of an answer."""
    project, program, person = readers
    is_page = tail.startswith("/")
    client, start = (person, f"/p/{project.slug}") if is_page else (program, API)
    address = f"{start}{tail}"
    with time_machine.travel(NINE + timedelta(hours=2), tick=False):
        client.get(address)
        with CaptureQueriesContext(connection) as captured:
            response = client.get(address)
    assert response.status_code == 200, response.content
    return len(captured)


@pytest.mark.parametrize("tail", ADDRESSES)
def test_an_answer_costs_what_is_written_down_however_much_is_stored(
    readers: list[tuple[ProjectRow, Client, Client]], tail: str
) -> None:
    small, large = (cost(one, tail) for one in readers)

    assert large == small
    assert small == json.loads(BUDGETS.read_text())[tail]


def test_every_address_has_a_budget_and_no_other() -> None:
    assert sorted(json.loads(BUDGETS.read_text())) == sorted(ADDRESSES)
