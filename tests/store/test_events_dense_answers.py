"""Answers really given on a dense bus, where an id that did not come is a loss."""

from __future__ import annotations

import pytest

from events.projectors import folds
from ledger import keys
from tests.bus_desk import BusDesk, begin, numbered
from tests.databases import Database


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()
    folds.forget()


@pytest.fixture
def desk(sqlite_database: Database) -> BusDesk:
    return begin()


@pytest.mark.parametrize(
    ("came", "cursor", "code"),
    [
        ((5, 6, 8, 9), "6", "SILENT_SKIP"),
        ((5, 6, 8, 9), "7", ""),
        ((5, 6, 9, 8, 7), "6", ""),
        ((5, 6, 7), "5", ""),
    ],
)
def test_serving_across_a_hole_is_a_silent_skip(
    desk: BusDesk, came: tuple[int, ...], cursor: str, code: str
) -> None:
    desk.act("configure", settings={"density": "dense"})
    desk.told(*map(numbered, came), replica="r1")

    desk.observe("resume", replica="r1", channel="ws-1", cursor=cursor, answer="replayed")

    assert desk.select("code", "bus_resume") == [code]
