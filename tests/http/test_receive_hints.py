"""What an answer says beside its status: places, faults of the feed line, second dones."""

from __future__ import annotations

import pytest

from tests.desk import Desk


def test_a_replay_names_the_leaf_that_the_first_has_got(desk: Desk) -> None:
    desk.post({"id": "r-1", "kind": "done"})
    desk.catch_up()

    reply = desk.post({"id": "r-1", "kind": "done"})

    found = desk.get(f"receipts/{reply.document['ref']}").json()
    assert reply.document["leaf_index"] == found["leaf_index"] is not None


def test_a_feed_line_that_cannot_be_read_is_named_in_the_answer(desk: Desk) -> None:
    reply = desk.post({"kind": "done"}, counterfoil_feed="x; first=-1")

    assert reply.status == 201
    assert "first=N" in reply.document["feed_fault"]


def test_a_second_done_of_a_key_is_named_on_both(desk: Desk) -> None:
    key = {"recipe": "r", "fields": {"payout": "PO-1"}}
    refs = [desk.post({"id": f"d-{n}", "kind": "done", "key": key}).document["ref"] for n in (1, 2)]
    desk.catch_up()

    named = [
        [one["refs"] for one in desk.get(f"receipts/{ref}/explain").json()["contradictions"]]
        for ref in refs
    ]

    assert named == [[[refs[1]]], [[refs[0]]]]


def test_dones_of_a_key_outside_its_window_do_not_speak_against_each_other(desk: Desk) -> None:
    key = {"recipe": "r", "fields": {"day": "x"}, "window_s": 60}
    refs = [
        desk.post(
            {"id": f"d-{n}", "kind": "done", "key": key, "occurred_at": f"2026-10-0{n}T00:00:00Z"}
        ).document["ref"]
        for n in (1, 2)
    ]
    desk.catch_up()

    assert desk.get(f"receipts/{refs[0]}/explain").json()["contradictions"] == []


@pytest.mark.parametrize(
    "tail", ["quarantine", "tasks", "tasks/x", "attention", "receipts/counts?by=kind"]
)
def test_what_is_shown_only_as_it_is_now_refuses_another_time(desk: Desk, tail: str) -> None:
    mark = "&" if "?" in tail else "?"

    reply = desk.get(f"{tail}{mark}as_of=n0")

    assert (reply.status_code, reply.json()["code"]) == (400, "as_of")
