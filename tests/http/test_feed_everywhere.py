"""Wherever something is counted or listed, what did not come is said beside it."""

from __future__ import annotations

import pytest

from tests.desk import Desk
from tests.http.test_producers import SPOOLS, Floor, worked


@pytest.fixture
def floor(desk: Desk) -> Floor:
    return worked(desk, SPOOLS[:5])


@pytest.mark.parametrize("page", ["receipts", "tasks", "tasks/payout", "jobs", "keys"])
def test_every_list_and_count_says_that_it_is_not_complete(floor: Floor, page: str) -> None:
    with floor.at():
        floor.desk.post({"kind": "done", "job": {"task": "payout"}})
        floor.desk.catch_up()

    document, shown = floor.read(page), floor.page(page)

    assert document["feed"]["incomplete"] == 2
    assert document["window"]["complete"] is False
    assert "2 not complete" in shown


def test_a_business_object_of_an_incomplete_feed_is_not_called_complete(floor: Floor) -> None:
    with floor.at():
        floor.desk.post({"kind": "done", "subjects": [{"type": "payout", "id": "PO-1"}]})
        floor.desk.catch_up()

    document = floor.read("subjects/payout/PO-1")

    assert (document["complete"], document["cut"]) == (False, False)


def test_the_overview_does_not_call_the_rest_accounted_for(floor: Floor) -> None:
    shown = floor.page("")

    assert "Everything else is accounted for" not in shown
    assert "What did not come cannot be accounted for." in shown
