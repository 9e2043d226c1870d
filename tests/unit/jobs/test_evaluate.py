"""`evaluate jobs` over the fixture, and over what is no history."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from jobs.domain.evaluate import BadHistory, evaluate
from kit.commands import UsageError
from tests.unit.jobs import history
from tests.unit.jobs.history import NOW, invoke, stored

DATA = Path(__file__).parents[2] / "data" / "oban_fixture.json"
FIXTURE: dict[str, Any] = json.loads(DATA.read_text())
ANSWER = evaluate(FIXTURE)
ROWS = {f"{one['expect']['case']}: {one['id']}": one for one in FIXTURE["rows"]}
RECEIPTS = {f"{one['r']}: {one['event']}": one for one in FIXTURE["receipts"]}


def document(**members: Any) -> dict[str, Any]:
    return {"now": NOW, "rows": [invoke(101)], "receipts": [stored(101, 1, "09:00")], **members}


@pytest.mark.parametrize("row", ROWS.values(), ids=list(ROWS))
def test_a_row_of_the_fixture_is_judged_as_it_says(row: dict[str, Any]) -> None:
    found = ANSWER["rows"][str(row["id"])]

    expected = row["expect"]
    scope = expected.get("logical_scope", row["args"]["scope"])
    assert found["verdict"] == expected["verdict"]
    assert (found["generation"], found["logical_scope"]) == (expected.get("generation"), scope)


@pytest.mark.parametrize("receipt", RECEIPTS.values(), ids=list(RECEIPTS))
def test_a_receipt_of_the_fixture_is_judged_as_it_says(receipt: dict[str, Any]) -> None:
    assert ANSWER["receipts"][receipt["r"]]["verdict"] == receipt["expect"]["verdict"]


def test_all_rows_and_receipts_of_the_fixture_are_answered_and_no_other() -> None:
    assert list(ANSWER["rows"]) == [str(one["id"]) for one in FIXTURE["rows"]]
    assert list(ANSWER["receipts"]) == [one["r"] for one in FIXTURE["receipts"]]


def test_what_is_expected_decides_nothing() -> None:
    bare = {
        name: [{key: one[key] for key in one if key != "expect"} for one in FIXTURE[name]]
        for name in ("rows", "receipts")
    }

    assert evaluate({**FIXTURE, **bare}) == ANSWER


BAD: dict[str, tuple[Any, str]] = {
    "null": (None, "send {"),
    "a list": ([document()], "send {"),
    "a text": ("now", "send {"),
    "no now": ({"rows": [], "receipts": []}, "now: "),
    "now is null": (document(now=None), "now: "),
    "now is true": (document(now=True), "now: "),
    "now is a word": (document(now="soon"), "now: "),
    "now is a list": (document(now=[NOW]), "now: "),
    "now is no number": (document(now=float("nan")), "now: "),
    "now is endless": (document(now=float("inf")), "now: "),
    "now is past all calendars": (document(now=10**300), "now: "),
    "now is as long as a time and none": (document(now="a time of 26 characters...Z"), "now: "),
    "rows are an object": (document(rows={"101": {}}), "rows: send a list"),
    "rows are a text": (document(rows="101"), "rows: send a list"),
    "a row is a number": (document(rows=[invoke(1), 101]), "rows[1]: send an object"),
    "a row is null": (document(rows=[None]), "rows[0]: send an object"),
    "a row has no id": (document(rows=[{"worker": "W"}]), "rows[0].id: "),
    "a row's id is a list": (document(rows=[{"id": [1]}]), "rows[0].id: "),
    "a row's id is true": (document(rows=[{"id": True}]), "rows[0].id: "),
    "a row's id is empty": (document(rows=[{"id": ""}]), "rows[0].id: "),
    "a row's time is a word": (
        document(rows=[{**invoke(1), "completed_at": "noon"}]), "rows[0].completed_at: ",
    ),
    "a row's time is an object": (
        document(rows=[{**invoke(1), "inserted_at": {}}]), "rows[0].inserted_at: ",
    ),
    "a default time is a word": (
        document(row_defaults={"discarded_at": "never"}), "rows[0].discarded_at: ",
    ),
    "receipts are a number": (document(receipts=5), "receipts: send a list"),
    "a receipt is a list": (document(receipts=[[]]), "receipts[0]: send an object"),
    "a receipt's time is true": (
        document(receipts=[{"event": "x", "at": True}]), "receipts[0].at: ",
    ),
    "a receipt's name is a list": (document(receipts=[{"r": []}]), "receipts[0].r: "),
    "two receipts of one name": (
        document(receipts=[{"r": "r1"}, {"r": "r1"}]), "receipts[1].r: ",
    ),
    "defaults are a list": (document(row_defaults=[]), "row_defaults: send an object"),
    "queues are a text": (document(queue_by_worker="q"), "queue_by_worker: send an object"),
    "default arguments are null and rows a text": (
        document(args_defaults=None, rows=""), "rows: send a list",
    ),
    "default arguments are a number": (document(args_defaults=1), "args_defaults: send an object"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "message"), BAD.values(), ids=list(BAD))
def test_what_is_no_history_is_refused_and_the_place_named(given: Any, message: str) -> None:
    with pytest.raises(BadHistory) as raised:
        evaluate(given)

    assert message in str(raised.value)


ODD: dict[str, dict[str, Any]] = {
    "nothing but now": {"now": NOW},
    "null lists": document(rows=None, receipts=None),
    "defaults of defaults": document(row_defaults=None, queue_by_worker=None, args_defaults={}),
    "default arguments of a kind are a list": document(args_defaults={"invoke": [], "timer": 5}),
    "a queue is a list": document(queue_by_worker={history.INVOKE: ["q"]}),
    "no worker": document(rows=[{"id": 1}]),
    "a worker of any shape": document(rows=[{"id": 1, "worker": {"a": []}}]),
    "a state of any shape": document(rows=[{**invoke(1), "state": 5, "attempt": "1"}]),
    "no columns but the id": document(rows=[{"id": n} for n in range(3)]),
    "errors of any shape": document(
        rows=[{**invoke(n), "errors": errors} for n, errors in enumerate(([1, None], "x", {}))]
    ),
    "arguments of any shape": document(
        rows=[{**invoke(n), "args": args} for n, args in enumerate(([], "x", 5, None, {"a": 1}))]
    ),
    "call members of any shape": document(
        rows=[invoke(1, [], scope=5), invoke(2, {"a": 1}), invoke(3, None, name=None)]  # type: ignore[arg-type]
    ),
    "indices of any shape": document(
        rows=[invoke(1, index={}), history.child(2, "a", state_index=[])]  # type: ignore[arg-type]
    ),
    "timers of any shape": document(
        rows=[history.timer(1, None), history.timer(2, {}), history.timer(3, scope=None)]
    ),
    "an event of no name": document(receipts=[{}]),
    "an event of any shape": document(
        receipts=[{"event": []}, {"event": 5, "at": None}, {"event": "oban.plugin.stop"}]
    ),
    "counts and rows of any shape": document(
        receipts=[
            {**history.cancel("09:00"), "count": count, "rows": rows}
            for count, rows in ((-1, None), ("2", "x"), (None, {}), (1.5, [None, [], 7]))
        ]
    ),
    "sweeps of any shape": document(
        receipts=[
            {"event": "oban.plugin.stop", "pruned": found} for found in (None, 5, {}, [{}, [], 1])
        ]
    ),
    "numbers of every kind": document(
        rows=[invoke(10**30, 10**30), invoke(2, -1), invoke(3, 1.5), invoke(4, True)]
    ),
    "unstorable names": document(
        rows=[invoke(1, scope="\ud800", name="a\0b")], receipts=[{"r": "\ud800"}]
    ),
    "one row twice": document(rows=[invoke(1, 1, "executing"), invoke(1)]),
}  # fmt: skip


@pytest.mark.parametrize("given", ODD.values(), ids=list(ODD))
def test_odd_values_are_read_as_far_as_they_can_be(given: dict[str, Any]) -> None:
    answer = evaluate(given)

    assert len(answer["receipts"]) == len(given.get("receipts") or ())
    assert len(answer["rows"]) == len({str(one["id"]) for one in given.get("rows") or ()})
    json.dumps(answer, ensure_ascii=False).encode()


def test_numbers_as_times_are_seconds() -> None:
    def seconds(clock: str) -> float:
        return history.shelf.at(clock).timestamp()

    row = invoke(101, 2, "completed", "09:00", "09:05")
    numbered = {
        **row, "inserted_at": seconds("09:00"), "completed_at": seconds("09:05"),
        "attempted_at": int(seconds("09:00:01")), "scheduled_at": seconds("09:00"),
    }  # fmt: skip
    late = {**stored(102, 3, "09:02"), "at": seconds("09:02")}

    answer = evaluate({"now": seconds("12:00"), "rows": [numbered], "receipts": [late]})

    assert answer["rows"]["101"]["verdict"] == "delivery.stale_suspect"


@pytest.mark.parametrize("zone", ["", "+00:00", ".000000", "Z"])
def test_a_column_without_a_zone_is_in_utc(zone: str) -> None:
    row = {**invoke(101, 2), "completed_at": f"2026-10-05 09:05:00{zone}"}

    found = history.judged([row], [stored(102, 3, "09:04:59")])

    assert found["101"] == "delivery.stale_suspect"


def test_ids_as_texts_and_as_numbers_are_the_same() -> None:
    rows = [{**invoke(101, 4, state_index=1, invoke_index=0), "id": "101"}, invoke(102, 5)]

    answer = evaluate(document(rows=rows, receipts=[{**history.skipped(101, 4, "10:00"), "r": 7}]))

    assert list(answer["rows"]) == ["101", "102"]
    assert answer["receipts"] == {"7": {"verdict": "dedup.replay"}}


def test_receipts_without_a_name_are_named_by_their_places() -> None:
    assert list(evaluate(document(receipts=[{}, {"r": None}]))["receipts"]) == ["0", "1"]


def test_values_nested_deeper_than_can_be_read_are_refused() -> None:
    deep: Any = 1
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(BadHistory, match="nested too deeply"):
        evaluate(document(rows=[{**invoke(1), "meta": {"deep": deep}}]))
    while isinstance(deep, list):
        deep = deep.pop()


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"\xff", b"[" * 100_000, b'"now"', b'{"now": 1e999}', b'{"now": NaN}']
)
def test_the_command_refuses_what_is_no_history_in_one_line(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "history.json"
    path.write_bytes(raw)

    with pytest.raises(UsageError) as raised:
        call_command("evaluate", "jobs", "--input", str(path))

    assert "\n" not in str(raised.value) and str(path) in str(raised.value)
