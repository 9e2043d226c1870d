"""What can be seen of a task, in a sentence that claims no more than was announced or came."""

from __future__ import annotations

import pytest

from ledger.domain import sights
from tests.unit.ledger.celery import SHOP
from tests.unit.ledger.shelf import make

NOTHING_OF_SKIPS = "Nothing is seen of skips: none on record does not mean that there are none."


@pytest.mark.parametrize(
    ("told", "seen", "skips", "expected"),
    [
        ((), (), (), "Nothing tells in which ways receipts of it come."),
        (("signals",), (), (), f"Seen by signals. {NOTHING_OF_SKIPS}"),
        ((), ("rows",), (), f"Seen by rows. {NOTHING_OF_SKIPS}"),
        (("once", "signals"), ("signals",), (),
         "Seen by the locks of celery-once and signals. Skips are told by the locks of "
         "celery-once."),
        (("signals",), ("signals", "own calls"), ("own calls",),
         "Seen by its own calls and signals. Skips are told by its own calls."),
    ],
    ids=["nothing", "signals", "rows", "a lock", "own calls"],
)  # fmt: skip
def test_what_is_seen_of_a_task(
    told: tuple[str, ...], seen: tuple[str, ...], skips: tuple[str, ...], expected: str
) -> None:
    assert sights.sees(told, seen, skips) == expected


def test_an_announcement_is_read_as_far_as_it_can_be() -> None:
    tasks = [
        {"task": "a", "sees": ["signals", "once", "once", 7, None]}, {"task": "b"}, {"sees": []},
        "c", {"task": "d", "sees": "signals"},
    ]  # fmt: skip
    told = make(0, "observe", source=SHOP, what="tasks", tasks=tasks)

    assert list(sights.announced(told)) == [("a", ("7", "once", "signals")), ("b", ()), ("d", ())]


def test_another_observation_announces_nothing() -> None:
    told = make(0, "observe", source=SHOP, what="heads", tasks=[{"task": "a", "sees": []}])

    assert list(sights.announced(told)) == []


@pytest.mark.parametrize(
    ("via", "way"), [("client", "own calls"), ("signal", "signals"), ("carrier pigeon" * 9, None)]
)
def test_the_way_of_a_receipt_is_that_of_its_source(via: str, way: str | None) -> None:
    told = make(0, "done", source={**SHOP, "via": via})

    assert sights.way_of(told) == (way or via[: sights.LONGEST])
