"""The receipt of an import, the ids of lines, and which receipts show that a source is watched."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from ledger.domain import accounts, imports, reading
from ledger.domain.canonical import canonical_text
from ledger.domain.imports import Told
from ledger.domain.statement import Statement, read_statement
from tests.unit.ledger.shelf import make

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
TEN = datetime(2026, 10, 5, 10, tzinfo=UTC)
TOLD = Told(
    source=("celery", "shop"), file="w.log", file_sha256="ab", length=9, map_name="celery-log",
    map_sha256="cd", covers="all", lines=4, taken=3, left_out=0, told_live=0, set_aside=1,
    receipts=3, first_at=NINE, last_at=TEN, faults=((2, "time"),),
)  # fmt: skip


def stated(told: Told = TOLD, **more: Any) -> Statement:
    body = {**imports.import_receipt(told), **more}
    given: dict[str, Any] = {"leaf": 0, "ref": "r0", "state": "accepted", "received_at": TEN}
    return read_statement(body, **given)


def test_an_import_is_a_receipt_that_can_be_read() -> None:
    found = reading.read(canonical_text(imports.import_receipt(TOLD), without=()))

    assert (found.state, found.kind, found.faults) == ("accepted", "observe", ())


def test_an_import_covers_the_time_from_its_first_line_to_its_last() -> None:
    assert imports.imported_span(stated()) == (NINE, TEN)
    assert imports.imported_span(stated(replace(TOLD, covers="some"))) is None
    assert imports.imported_span(stated(replace(TOLD, first_at=None))) is None
    assert imports.imported_span(stated(kind="done")) is None


def test_the_same_import_has_the_same_id_and_any_other_another() -> None:
    others: dict[str, Any] = {
        "file": "x", "file_sha256": "x", "map_sha256": "x", "taken": 9, "told_live": 9,
        "set_aside": 9, "receipts": 9, "source": ("a", "b"), "last_at": NINE,
    }  # fmt: skip
    told = [TOLD, *(replace(TOLD, **{name: value}) for name, value in others.items())]

    ids = {imports.import_receipt(one)["id"] for one in told}

    assert len(ids) == len(told)
    assert imports.import_receipt(TOLD)["id"] in ids


def test_an_import_is_told_in_a_sentence_and_its_parts() -> None:
    found = stated()

    assert accounts.account(found) == (
        "An observation: the file w.log was imported: 3 of its 4 lines make receipts"
    )
    assert ("set_aside", "1") in accounts.fields(found)


def test_a_line_has_an_id_of_its_source_its_bytes_its_repetition_and_its_part() -> None:
    ids = {
        imports.line_id(source, digest, ordinal, part)
        for source in ("a/b", "a/c")
        for digest in ("1", "2")
        for ordinal in (0, 1)
        for part in (0, 1)
    }

    assert len(ids) == 16


LIVE: dict[str, tuple[Statement, bool]] = {
    "a receipt that was posted": (make(0, "done"), True),
    "a row of the table": (make(0, "observe", source={"via": "row"}), True),
    "a line that was imported": (make(0, "done", source={"via": "import"}), False),
    "an import": (stated(), False),
    "what was set aside": (make(0, "done", state="quarantined"), False),
    "an act of ours": (
        replace(make(0, "act", source={"system": "counterfoil"}), token_id=None),
        False,
    ),
    "a reader of ours": (
        replace(make(0, "observe", source={"via": "row"}), token_id=None),
        True,
    ),
}


@pytest.mark.parametrize("case", LIVE)
def test_a_receipt_shows_whether_its_source_was_watched_when_it_came(case: str) -> None:
    statement, is_live = LIVE[case]

    assert imports.is_heard_live(statement) is is_live
