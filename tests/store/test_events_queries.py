"""What the answers about buses cost: statements, which do not grow, and tables read by an index.

`tests/data/events_query_budgets.json` holds the number for each address, of the API or, with a
slash before it, of a page. Whoever makes an answer cost more, or less, changes the file with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from access.rows import ProjectRow
from events.domain.told import names
from ledger import ingest, keys, sequence
from ledger.domain.draft import Envelope
from tests import buses, factories, stories
from tests.architecture import ROOT
from tests.databases import Database
from tests.http.events_house import answers, replicas
from tests.http.events_house import keys as sampled

BUDGETS = ROOT / "tests" / "data" / "events_query_budgets.json"
NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
API = "/api/v1/"
BUS, LANE = names.bus_id("i1", "activity"), names.lane_id("i1", "activity", "tail")
OTHER, BESIDE = (names.lane_id("i1", "activity", one) for one in ("r2", "r9"))
OWN = f"installations/{names.installation_id('i1')}"
ADDRESSES = (
    "installations", OWN, f"{OWN}/rollout", f"{OWN}/resets", f"{OWN}/resumes",
    f"{OWN}/resumes?code=any", f"buses/{BUS}", f"buses/{BUS}?as_of=n5", f"buses/{BUS}/timeline",
    f"buses/{BUS}/timeline?as_of=n5", f"buses/{BUS}/findings", f"buses/{BUS}/findings?code=GAP",
    f"buses/{BUS}/findings?severity=critical", f"lanes/{LANE}", f"lanes/{LANE}?as_of=n5",
    f"lanes/{LANE}/buffer", f"lanes/{LANE}/buffer?beside={BESIDE}", f"lanes/{OTHER}/buffer",
    f"lanes/{LANE}/buffer.ndjson", f"lanes/{LANE}/resume?cursor=70",
    f"lanes/{LANE}/resume?cursor=70&version=v2",
)  # fmt: skip
PAGES = (
    "/installations", f"/{OWN}", f"/{OWN}/rollout", f"/{OWN}/resets", f"/{OWN}/resumes",
    f"/buses/{BUS}", f"/buses/{BUS}?as_of=n5", f"/buses/{BUS}/findings", f"/lanes/{LANE}",
    f"/lanes/{LANE}/buffer", f"/lanes/{LANE}/buffer?beside={BESIDE}", f"/lanes/{OTHER}/buffer",
    f"/lanes/{LANE}/resume", f"/lanes/{LANE}/resume?cursor=70",
)  # fmt: skip


def bodies(size: int) -> Iterator[dict[str, Any]]:
    """Tell of a bus of two lanes, with as many of everything else as `size` says."""
    rows = [
        *buses.run(range(1, 41), 0, epoch=None),
        *buses.run(range(1, 21), 60, epoch=None, title="again"),
        *buses.run(range(21, 61 + 20 * size), 130, 0.2),
        *buses.run([1, 2], 900, epoch="8"),
    ]
    yield from buses.segments([*rows, buses.hole(990, 5)])
    yield from buses.segments(rows[::2], replica="r9")
    for number in range(size):
        lost = [one for one in range(1, 12) if one % 3]
        yield from buses.segments(buses.run(lost, number), bus=f"watch {number}", profile="watch")
        yield from answers()
        yield from replicas()
    yield sampled()


def fill(project: ProjectRow, size: int) -> None:
    """Let it arrive, and read it."""
    given = Envelope(project.id, NINE + timedelta(minutes=50))
    ingest.ingest([json.dumps(one).encode() for one in bodies(size)], given)
    sequence.sequence(project.id)
    stories.derive_in(project.id, 500)


@pytest.fixture(scope="module")
def readers(shared_database: Database) -> Iterator[list[tuple[ProjectRow, Client, Client]]]:
    """Give a small project and a large one, each with a program and a person that read."""
    keys.forget()
    made = []
    with time_machine.travel(NINE + timedelta(minutes=50), tick=False):
        for size in (1, 12):
            project = factories.make_project()
            fill(project, size)
            _, token = factories.make_token(project, "read", name="reader")
            member = factories.make_member(project, "viewer", f"vera-{project.id}")
            person = Client()
            person.force_login(factories.get_user_model_of(member))
            made.append((project, Client(headers={"authorization": f"Bearer {token}"}), person))
    yield made
    keys.forget()


def statements(readers: tuple[ProjectRow, Client, Client], tail: str) -> list[str]:
    """Give the statements of an answer."""
    project, program, person = readers
    client, start = (person, f"/p/{project.slug}") if tail.startswith("/") else (program, API)
    with time_machine.travel(NINE + timedelta(hours=1), tick=False):
        client.get(f"{start}{tail}")
        with CaptureQueriesContext(connection) as captured:
            response = client.get(f"{start}{tail}")
    assert response.status_code == 200, response.content
    return [one["sql"] for one in captured]


@pytest.mark.parametrize("tail", [*ADDRESSES, *PAGES])
def test_an_answer_costs_what_is_written_down_however_much_is_stored(
    readers: list[tuple[ProjectRow, Client, Client]], tail: str
) -> None:
    small, large = (len(statements(one, tail)) for one in readers)

    assert large == small
    assert small == json.loads(BUDGETS.read_text())[tail]


def test_every_address_has_a_budget_and_no_other() -> None:
    assert sorted(json.loads(BUDGETS.read_text())) == sorted([*ADDRESSES, *PAGES])


GROWING = (
    "bus_message", "bus_segment", "bus_minute", "bus_finding", "bus_lane_step", "bus_hole",
    "bus_resume", "bus_buffer", "bus_reset", "leaf", "receipt", "f", "m", "x", "s", "r", "b",
)  # fmt: skip
WHOLE = re.compile(
    rf"(?:SCAN|SEARCH) (?:{'|'.join(GROWING)})(?: USING [A-Z ]*\w+ \(project_id=\?\))?"
)
"""A table that grows with the log read from end to end, or all of it that is the project's."""
SEQUENTIAL = re.compile(
    r"Seq Scan on (?:bus_message|bus_segment|bus_minute|bus_finding|bus_lane_step|bus_hole|"
    r"bus_resume|bus_buffer|bus_reset|leaf|receipt)\b"
)
"""The same on PostgreSQL, which would rather not."""


@pytest.mark.parametrize("tail", [*ADDRESSES, *PAGES])
def test_no_answer_reads_all_that_a_project_has(
    readers: list[tuple[ProjectRow, Client, Client]], tail: str
) -> None:
    selects = [one for one in statements(readers[1], tail)
               if one.lstrip().startswith(("SELECT", "WITH"))]  # fmt: skip

    lines = plans(selects)

    assert lines
    assert [line for line in lines if WHOLE.fullmatch(line) or SEQUENTIAL.search(line)] == []


def plans(selects: list[str]) -> list[str]:
    """Give the plans of statements, line by line; PostgreSQL is told that it has much to read."""
    is_sqlite = connection.vendor == "sqlite"
    explain = "EXPLAIN QUERY PLAN" if is_sqlite else "EXPLAIN"
    with transaction.atomic(), connection.cursor() as cursor:
        if not is_sqlite:
            cursor.execute("SET LOCAL enable_seqscan = off")
        found: list[str] = []
        for one in selects:
            cursor.execute(f"{explain} {one}")
            found += [row[3] if is_sqlite else row[0] for row in cursor.fetchall()]
    return found
