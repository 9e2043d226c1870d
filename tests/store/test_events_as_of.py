"""A page about buses as of a number is the page of a ledger that ends there, whole and as JSON.

Left out are how far each had read, and what is kept of the present alone: the newest head that was
sampled of a bus, and how many messages are still kept of a lane.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import pytest
import time_machine

from events import documents, lane_documents
from events.asking import Range
from events.lane_documents import Asked, Asking
from events.projectors import folds
from kit import bulk, http
from kit.http import ProblemError
from ledger import derive, keys, sequence
from ledger.models import TreeHead
from tests import bus_facts, stories
from tests.databases import Database

Look = dict[tuple[str, str], Any]
OF_BUS = ("bus", "timeline", "findings")
WEEK = timedelta(days=7)
SPAN = Range("2026-10-05T09:00:00Z", "2026-10-05T10:00:00Z", "200")


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()
    folds.forget()


def look(project_id: int, as_of: str = "") -> Look:
    """Give every answer about the buses that are known now."""
    asking = Asking("30", as_of=as_of)
    answers: dict[str, Callable[[str], Any]] = {
        "bus": lambda name: documents.bus(project_id, name, as_of),
        "timeline": lambda name: documents.bus_timeline(project_id, name, SPAN, as_of),
        "findings": lambda name: documents.finding_list(project_id, name, {}, as_of_text=as_of),
        "lane": lambda name: lane_documents.lane(project_id, name, as_of),
        "buffer": lambda name: lane_documents.lane_buffer(project_id, name, Asked(as_of=as_of)),
        "resume": lambda name: lane_documents.lane_resume(project_id, name, asking),
    }
    known = {"b": "SELECT bus FROM bus", "l": "SELECT lane FROM bus_lane"}
    return {
        (page, name): shown(partial(answer, name))
        for page, answer in answers.items()
        for (name,) in bulk.select_rows(known["b" if page in OF_BUS else "l"], [])
    }


def shown(answer: Callable[[], Any]) -> Any:
    """Give an answer as JSON without what is kept of the present alone, or why there is none."""
    try:
        found = json.loads(http.json_bytes(answer()))
    except ProblemError as error:
        return error.status
    return stripped(found)


def stripped(value: Any) -> Any:
    if isinstance(value, list):
        return [stripped(one) for one in value if not is_of_authority(one)]
    if isinstance(value, dict):
        return {name: stripped(one) for name, one in value.items()
                if name not in ("authority", "authority_kept", "kept", "window")}  # fmt: skip
    return value


def is_of_authority(one: Any) -> bool:
    """Tell whether a region of a ruler goes by the newest head."""
    return isinstance(one, dict) and one.get("state") == "missing"


def grown(story: stories.Story) -> Iterator[int]:
    """Derive a story leaf by leaf, and give the last leaf of each head."""
    with story.travel():
        while sequence.sequence(story.project.id, 3):
            pass
    heads = set(TreeHead.objects.filter(project_id=story.project.id).values_list("size", flat=True))
    for end in range(1, derive.log_size(story.project.id) + 1):
        derive.derive(story.project.id, 1)
        if end in heads:
            yield end - 1


class KeptFacts(bus_facts.BusFacts):
    """Facts of buses that keep all their messages: what was let go since cannot be shown."""

    def configure(self, now: datetime, keep: int = 0) -> bus_facts.Body:
        return super().configure(now, 100_000)


@pytest.mark.parametrize(
    "seed", [51, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (52, 53))]
)
def test_an_answer_as_of_a_number_is_that_of_a_ledger_that_ends_there(
    database: Database, seed: int
) -> None:
    with time_machine.travel(stories.BEGINS, tick=False):
        story = stories.Story(stories.factories.make_project(), seed)
    facts = KeptFacts(random.Random(seed))
    story.watch(facts.first(story.now))
    for _ in range(10):
        story.wait(facts.chance.choice((1, 5, 90)))
        story.watch(facts.next(story.now))
    project_id = story.project.id
    noted: dict[int, Look] = {}
    for leaf in grown(story):
        head = TreeHead.objects.get(project_id=project_id, size=leaf + 1)
        with time_machine.travel(head.committed_at, tick=False):
            noted[leaf] = look(project_id)

    assert len(noted) > 5
    with time_machine.travel(story.now + WEEK, tick=False):
        for leaf, then in noted.items():
            past = look(project_id, f"n{leaf}")
            for page, told in then.items():
                assert past[page] == told, (leaf, page)
