"""The recorded history of Oban through the store: handed in as receipts, derived and explained."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import time_machine
from django.db import connections

from access.models import ApiToken
from access.rows import ProjectRow
from jobs.domain import evaluate, fixture, oban
from kit import bulk, http, ids
from ledger import documents, ingest, keys, rebuild, sequence
from ledger.domain import words
from ledger.domain.draft import Envelope
from ledger.dump import dump
from ledger.models import Entry, Leaf, PointerEvent
from ledger.registry import registry
from ledger.shadow import live_name
from tests import cuts, factories, stories
from tests.databases import Database, copy_of_sqlite

DATA = Path(__file__).parents[1] / "data" / "oban_fixture.json"
FIXTURE: dict[str, Any] = json.loads(DATA.read_text())
HISTORY = fixture.merge_defaults(FIXTURE)
NOON = HISTORY.now
ANSWER = evaluate.evaluate(FIXTURE)
TABLES = ("job", "call_receipt", "entry", "pointer_event")
BATCHES = (1, 7, 500)
Body = dict[str, Any]


def bodies() -> list[Body]:
    """Give the history as receipts whose ids are the fixture's names, telemetry first."""
    told = [
        {**oban.event_receipt(one, instance="prod-1"), "id": one["r"]} for one in HISTORY.receipts
    ]
    rows = [
        {**oban.row_receipt(one, instance="prod-1", seen_at=NOON), "id": f"row-{one['id']}"}
        for one in HISTORY.rows
    ]
    return [*told, *rows]


@dataclass
class Kept:
    """A project that holds the history."""

    project: ProjectRow

    @property
    def size(self) -> int:
        return int(Leaf.objects.filter(project_id=self.project.id).count())

    def verdicts(self) -> dict[str, str]:
        """Give the verdict of each receipt of telemetry at noon, by its name."""
        rows = Entry.objects.filter(project_id=self.project.id)
        return {
            one.id_text: one.verdict_when_due if _is_due(one.due_at) else one.verdict
            for one in rows
        }

    def explain(self, ref: str, as_of: str = "") -> Body:
        return documents.explanation(self.project.id, ref, as_of)


def _is_due(due_at: datetime | None) -> bool:
    return due_at is not None and due_at <= NOON


def put(given: Sequence[Body]) -> Kept:
    """Hand receipts in, each at the time at which it happened, and sequence them in this order."""
    with time_machine.travel(NOON - timedelta(days=1), tick=False):
        project = factories.make_project()
        listing, _ = factories.make_token(project, source="oban/prod-1")
    token = ApiToken.objects.get(prefix=listing.prefix).pk
    for place, body in enumerate(given):
        at = datetime.fromisoformat(body["occurred_at"]) + timedelta(microseconds=place)
        envelope = Envelope(project.id, at, token_id=token)
        with time_machine.travel(at, tick=False):
            ingest.ingest([json.dumps(body).encode()], envelope)
            sequence.sequence(project.id)
    return Kept(project)


def of_jobs(kept: Kept) -> dict[str, str]:
    rows = bulk.select_rows(
        "SELECT number, verdict FROM job WHERE project_id = %s AND row_leaf IS NOT NULL",
        [kept.project.id],
    )
    return dict(sorted(rows))


def dumped() -> dict[str, list[str]]:
    return {table: list(dump(table, live_name(table))) for table in TABLES}


@pytest.fixture(scope="module")
def stored(shared_database: Database, django_db_blocker: Any) -> Iterator[Kept]:
    """Give a project that holds the history, derived, to all tests of a database."""
    keys.forget()
    with django_db_blocker.unblock():
        made = put(bodies())
        stories.derive_in(made.project.id, 500)
        yield made
        connections["default"].close()


@pytest.fixture
def kept(stored: Kept, at_noon: None) -> Kept:
    return stored


@pytest.fixture
def at_noon() -> Iterator[None]:
    keys.forget()
    with time_machine.travel(NOON, tick=False):
        yield


def test_each_row_is_judged_as_without_a_database(kept: Kept) -> None:
    expected = {number: one["verdict"] for number, one in ANSWER["rows"].items()}

    assert of_jobs(kept) == dict(sorted(expected.items()))


def test_each_receipt_is_judged_as_without_a_database(kept: Kept) -> None:
    found = kept.verdicts()

    expected = {name: one["verdict"] for name, one in ANSWER["receipts"].items()}
    assert {name: found[name] for name in expected} == expected


@pytest.mark.slow
def test_batches_of_any_size_make_the_same_rows(kept: Kept) -> None:
    before = dumped()

    reports = [rebuild.rebuild(registry.projectors, batch=batch) for batch in BATCHES]

    assert [(one.differing, one.first) for one in reports] == [(0, [])] * len(BATCHES)
    assert dumped() == before


def test_each_explanation_gives_the_code_that_the_list_gives_with_a_sentence(kept: Kept) -> None:
    verdicts = kept.verdicts()

    for name, code in verdicts.items():
        entry = Entry.objects.get(project_id=kept.project.id, id_text=name)
        found = kept.explain(ids.ref_of(entry.receipt))["verdict"]
        assert found["code"] == code, name
        assert found["sentence"].endswith(".") and found["rule"] in words.RULE_WORDS, name


@pytest.mark.slow
@pytest.mark.parametrize("order", ["rows first", "backwards"])
def test_the_log_may_have_any_order(shared_database: Database, kept: Kept, order: str) -> None:
    given = bodies()
    rows = [one for one in given if one["id"].startswith("row-")]
    turned = [*rows, *given[: -len(rows)]] if order == "rows first" else given[::-1]

    other = put(turned)
    stories.derive_in(other.project.id, 500)

    expected = kept.verdicts()
    assert (of_jobs(other), other.verdicts()) == (of_jobs(kept), expected)


def looked_at(leaf: int, chance: random.Random) -> set[int]:
    """Choose receipts of a ledger that ends with a leaf: itself, what it changed, and others."""
    moved = PointerEvent.objects.filter(at_leaf=leaf).values_list("leaf_index", flat=True)
    return {leaf, *moved, *chance.sample(range(leaf + 1), min(leaf + 1, 3))}


@pytest.mark.slow
def test_as_of_each_leaf_a_receipt_is_explained_as_in_a_ledger_cut_there(
    database: Database, at_noon: None, sqlite_template: Path, tmp_path: Path
) -> None:
    own = put(bodies())
    project_id, leaves = own.project.id, range(own.size)
    stories.derive_in(project_id, 500)
    log = cuts.take()

    def look(ref: str, as_of: str = "") -> bytes:
        return bytes(http.json_response(own.explain(ref, as_of)).content)

    chance = random.Random(1)
    noted: dict[tuple[int, int], bytes] = {}
    folder = tmp_path / "cut"
    folder.mkdir()
    with copy_of_sqlite(sqlite_template, folder):
        keys.forget()
        log.begin()
        for leaf in leaves:
            at = log.head(leaf).committed_at
            log.grow(leaf, at)
            stories.derive_in(project_id, 1)
            with time_machine.travel(at, tick=False):
                noted |= {(one, leaf): look(f"n{one}") for one in looked_at(leaf, chance)}

    keys.forget()
    for (one, leaf), shown in noted.items():
        assert look(f"n{one}", f"n{leaf}") == shown, (one, leaf)
