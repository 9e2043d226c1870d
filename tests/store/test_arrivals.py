"""Once a minute the log tells which numbers of which spools arrived, once and for all of them."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection

from kit import bulk
from ledger import arrivals, ingest, keys, sequence, store
from ledger.domain import arrivals as domain
from ledger.domain.draft import Envelope
from ledger.models import Arrival, ReceiptBody
from ledger.statements import load_range
from tests.desk import Desk

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)


def post(desk: Desk, spool: str, first: int, lines: int, at: datetime = NINE) -> None:
    with time_machine.travel(at, tick=False):
        body = [{"kind": "done", "id": f"{spool}-{first + n}"} for n in range(lines)]
        reply = desk.post_lines(*body, counterfoil_feed=f"{spool}; first={first}")
        assert reply.status == 200


def drain(desk: Desk, at: datetime) -> int:
    with time_machine.travel(at, tick=False):
        return arrivals.drain(desk.project.id)


def told(desk: Desk) -> list[dict[str, Any]]:
    """Give the bodies of the project's own `arrived` receipts, in order."""
    while sequence.sequence(desk.project.id):
        pass
    leaves = desk.leaves()
    items = load_range(desk.project.id, 0, len(leaves))
    own = [one for one in items if one.statement.what == "arrived"]
    return [json.loads(bytes(ReceiptBody.objects.get(pk=one.receipt).raw)) for one in own]


def waiting(desk: Desk) -> list[tuple[str, int, int, int]]:
    rows = Arrival.objects.filter(project_id=desk.project.id).order_by("id")
    return list(rows.values_list("spool", "first_number", "last_number", "replayed"))


def test_what_arrives_is_noted_a_row_for_each_run_without_a_hole(desk: Desk) -> None:
    post(desk, "w1", 1, 3)
    post(desk, "w1", 3, 2)
    post(desk, "w1", 8, 1)

    assert waiting(desk) == [("w1", 1, 3, 0), ("w1", 3, 4, 1), ("w1", 8, 8, 0)]


def test_a_minute_later_the_log_tells_it_once_merged_with_its_times(desk: Desk) -> None:
    post(desk, "w1", 1, 3)
    post(desk, "w1", 4, 2, NINE + timedelta(seconds=10))
    post(desk, "w1", 8, 1, NINE + timedelta(seconds=20))
    post(desk, "w1", 2, 1, NINE + timedelta(seconds=30))
    post(desk, "w2", 1, 1, NINE + timedelta(seconds=40))

    early = drain(desk, NINE + timedelta(seconds=59))
    due = drain(desk, NINE + timedelta(seconds=61))
    again = drain(desk, NINE + timedelta(minutes=9))

    assert (early, due, again) == (0, 2, 0)
    first, second = told(desk)
    assert (first["spool"], first["ranges"]) == ("w1", [["1", "5"], ["8", "8"]])
    assert first["since"] == ["2026-10-05T09:00:00.000000Z", "2026-10-05T09:00:20.000000Z"]
    assert (first["replayed"], first["occurred_at"]) == (1, "2026-10-05T09:00:30.000000Z")
    assert first["sender"].isdecimal() and "token" not in first
    assert (second["spool"], second["ranges"]) == ("w2", [["1", "1"]])
    assert waiting(desk) == []


def test_the_first_line_of_a_spool_tells_when_it_began(desk: Desk) -> None:
    first = {"kind": "done", "occurred_at": "2026-10-05T08:59:58.500000Z"}
    twice = b'{"kind": "done", "n": 1, "n": 2, "occurred_at": "2026-10-05T08:00:00Z"}'
    with time_machine.travel(NINE, tick=False):
        desk.post_lines(first, {**first, "n": 2}, counterfoil_feed="w1; first=1")
        desk.post_lines(twice, counterfoil_feed="w2; first=1")
        desk.post_lines(b"{", counterfoil_feed="w3; first=1")
        desk.post_lines(first, counterfoil_feed="w4; first=2")

    drain(desk, NINE + timedelta(minutes=2))

    began = {one["spool"]: one.get("began") for one in told(desk)}
    at = "2026-10-05T08:59:58.500000Z"
    assert began == {"w1": at, "w2": "2026-10-05T08:00:00.000000Z", "w3": None, "w4": None}


def test_nothing_is_told_where_nothing_was_delivered_by_number(desk: Desk) -> None:
    with time_machine.travel(NINE, tick=False):
        desk.post({"kind": "done"})

    assert drain(desk, NINE + timedelta(minutes=5)) == 0
    assert told(desk) == []


def test_what_was_set_aside_or_conflicts_has_arrived_too(desk: Desk) -> None:
    with time_machine.travel(NINE, tick=False):
        lines: list[Any] = [b"{", {"id": "a", "kind": "done"}, {"id": "a", "kind": "fail"}]
        desk.post_lines(*lines, counterfoil_feed="w1; first=1")

    drain(desk, NINE + timedelta(minutes=2))

    assert told(desk)[0]["ranges"] == [["1", "3"]]


def test_a_spool_full_of_holes_is_told_in_several_receipts(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain, "MOST_RANGES", 2)
    for number in (1, 3, 5, 7, 9):
        post(desk, "w1", number, 1)
    post(desk, "w1", 9, 1)

    drain(desk, NINE + timedelta(minutes=2))

    parts = told(desk)
    assert [len(one["ranges"]) for one in parts] == [2, 2, 1]
    assert sum(one["replayed"] for one in parts) == 1


def test_a_crash_before_the_end_leaves_everything_to_be_told_again(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    post(desk, "w1", 1, 3)
    whole = store.append

    def dies(drafts: Any) -> Any:
        whole(drafts)
        raise RuntimeError("the process dies")

    with monkeypatch.context() as patch:
        patch.setattr(store, "append", dies)
        with pytest.raises(RuntimeError):
            drain(desk, NINE + timedelta(minutes=2))
    assert (told(desk), waiting(desk)) == ([], [("w1", 1, 3, 0)])

    drain(desk, NINE + timedelta(minutes=2))

    assert [one["ranges"] for one in told(desk)] == [[["1", "3"]]]


def test_two_followers_at_once_tell_each_number_once(desk: Desk) -> None:
    for number in range(1, 40):
        post(desk, f"w{number % 5}", number, 1)
    both = threading.Barrier(2)

    def follow() -> None:
        both.wait()
        arrivals.drain(desk.project.id)
        connection.close()

    with time_machine.travel(NINE + timedelta(minutes=2), tick=False):
        threads = [threading.Thread(target=follow) for _ in range(2)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()

    ranges = [int(first) for one in told(desk) for first, _ in one["ranges"]]
    assert (sorted(ranges), waiting(desk)) == (list(range(1, 40)), [])


def test_only_a_receipt_of_our_own_tells_what_arrived(desk: Desk) -> None:
    post(desk, "w1", 1, 3)
    drain(desk, NINE + timedelta(minutes=2))
    (true,) = told(desk)
    key = keys.project_key(desk.project.id)
    forged = [
        {**true, "id": "arrived:1-1-0:" + "0" * 32, "spool": "w9"},
        {**true, "id": "arrived", "spool": "w9"},
        {name: value for name, value in true.items() if name != "id"},
    ]
    desk.post_lines(*forged)
    ingest.ingest(
        [json.dumps(one).encode() for one in forged], Envelope(desk.project.id, NINE)
    )  # Without a token, as an import would be stored.

    told(desk)
    items = load_range(desk.project.id, 0, len(desk.leaves()))
    own = [one.statement.body["spool"] for one in items if domain.is_own(one.statement, key)]

    assert own == ["w1"]


def test_an_append_takes_one_more_statement_for_any_number_of_lines(desk: Desk) -> None:
    rows = bulk.insert_rows
    tables = []

    def noted(table: str, columns: Any, given: Any) -> None:
        tables.append((table, len(given)))
        rows(table, columns, given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk, "insert_rows", noted)
        post(desk, "w1", 1, 100)

    assert [one for one in tables if one[0] == "arrival"] == [("arrival", 1)]
