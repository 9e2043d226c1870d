"""A receipt that waited in its spool for days keeps its level; one that is only late does not."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from access.rows import ProjectRow
from config import follower
from ledger import documents, ingest, keys, rebuild
from ledger.domain.draft import Envelope
from ledger.domain.leaf import rfc3339
from ledger.models import Entry
from ledger.registry import registry
from tests import factories
from tests.databases import Database

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
DAYS_AGO = NINE - timedelta(days=2)


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()


@dataclass
class Backlog:
    """A project whose producer could not send for two days."""

    project: ProjectRow = field(default_factory=factories.make_project)
    now: datetime = NINE

    def __post_init__(self) -> None:
        self.token = factories.make_token(self.project)[0].id

    def send(self, *numbers: int, spool: str = "w1", **body: Any) -> None:
        for number in numbers:
            at = rfc3339(DAYS_AGO + timedelta(minutes=number))
            given = {"kind": "done", "id": f"{spool}-{number}", "occurred_at": at, **body}
            envelope = Envelope(
                self.project.id, self.now, self.token, feed_spool=spool, feed_number=number
            )
            ingest.ingest([json.dumps(given).encode()], envelope)

    def wait(self, seconds: float = 61) -> None:
        self.now += timedelta(seconds=seconds)
        with time_machine.travel(self.now, tick=False):
            follower.catch_up()

    def levels(self, spool: str = "w1") -> dict[str, str]:
        rows = Entry.objects.filter(project_id=self.project.id, id_text__startswith=f"{spool}-")
        return {row.id_text.removeprefix(f"{spool}-"): row.level for row in rows}

    def list(self, as_of: str = "") -> dict[str, str]:
        with time_machine.travel(self.now, tick=False):
            asked = documents.asked(self.project.id, "kind:done", as_of_text=as_of)
            items = documents.receipt_list(self.project.id, asked)["items"]
        return {item["id"]: item["level"] for item in items}


def test_what_lies_between_others_of_its_spool_keeps_its_level(database: Database) -> None:
    backlog = Backlog()
    backlog.send(1, 2, 3, 4, 5, 7)
    backlog.wait(1)
    before = backlog.levels()
    backlog.wait()

    assert set(before.values()) == {"reconstructed"}
    assert backlog.levels() == {
        "1": "reconstructed", "2": "recorded", "3": "recorded", "4": "recorded",
        "5": "reconstructed", "7": "reconstructed",
    }  # fmt: skip


def test_the_last_of_a_minute_follows_when_the_next_one_comes(database: Database) -> None:
    backlog = Backlog()
    backlog.send(1, 2, 3)
    backlog.wait()
    first = backlog.levels()
    backlog.send(4, 5)
    backlog.wait()

    assert (first["3"], backlog.levels()["3"], backlog.levels()["4"]) == (
        "reconstructed", "recorded", "recorded",
    )  # fmt: skip


def test_a_late_receipt_without_a_number_stays_reconstructed(sqlite_database: Database) -> None:
    backlog = Backlog()
    body = {"kind": "done", "id": "w1-x", "occurred_at": rfc3339(DAYS_AGO)}
    ingest.ingest([json.dumps(body).encode()], Envelope(backlog.project.id, NINE, backlog.token))
    backlog.send(1, 2, 3)
    backlog.wait()

    assert (backlog.levels()["x"], backlog.levels()["2"]) == ("reconstructed", "recorded")


def test_a_producers_lower_claim_still_counts(sqlite_database: Database) -> None:
    backlog = Backlog()
    backlog.send(1, 2, 3, evidence="asserted")
    backlog.send(1, 2, 3, spool="log", source={"system": "x", "via": "log"})
    backlog.wait()

    assert set(backlog.levels().values()) == {"asserted"}
    assert set(backlog.levels("log").values()) == {"reconstructed"}


def test_a_skip_that_points_to_it_is_judged_again(database: Database) -> None:
    backlog = Backlog()
    backlog.send(1, 2, 3)
    skip = {"kind": "skip", "reason": "already_done", "original": {"receipt": "w1-2"}}
    ingest.ingest([json.dumps({"id": "s", **skip}).encode()], Envelope(backlog.project.id, NINE))
    backlog.wait(1)

    def level() -> str:
        return Entry.objects.get(project_id=backlog.project.id, id_text="s").level

    before = level()
    backlog.wait()

    assert (before, level()) == ("reconstructed", "recorded")


def test_a_number_before_the_arrival_shows_the_level_of_then(sqlite_database: Database) -> None:
    backlog = Backlog()
    backlog.send(1, 2, 3)
    backlog.wait(1)
    leaf = Entry.objects.get(project_id=backlog.project.id, id_text="w1-3").leaf_index
    backlog.wait()

    assert backlog.list()["w1-2"] == "recorded"
    assert backlog.list(f"n{leaf}")["w1-2"] == "reconstructed"
    with time_machine.travel(backlog.now, tick=False):
        levels = [
            documents.explanation(backlog.project.id, f"n{leaf - 1}", as_of)["verdict"]["level"]
            for as_of in ("", f"n{leaf}")
        ]
    assert levels == ["recorded", "reconstructed"]


def test_a_rebuild_of_late_receipts_changes_nothing_whatever_the_batches(
    database: Database,
) -> None:
    backlog = Backlog()
    for start in range(1, 20, 4):
        backlog.send(start, start + 1, start + 3)
        backlog.wait(30)
    backlog.send(3, 7, 11)
    backlog.wait()

    reports = [rebuild.rebuild(registry.projectors, batch=batch) for batch in (1, 3, 2_000)]

    assert [(one.differing, one.first) for one in reports] == [(0, [])] * 3
    assert set(backlog.levels().values()) == {"recorded", "reconstructed"}
