"""Buses as of any leaf are what they were when that leaf was the newest."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import pytest

from events.domain.told.names import BusName
from events.projectors import folds
from events.queries import bus_settings, buses, lane_state
from kit import bulk
from ledger import derive, keys, sequence
from tests import bus_facts, stories
from tests.bus_desk import begin, numbered
from tests.databases import Database

Look = dict[str, Any]
NOW = 2**62


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()
    folds.forget()


def look(project_id: int, end: int | None) -> Look:
    """Give what is known of all buses, now or below a leaf."""
    known = bulk.select_rows("SELECT bus, installation, name FROM bus ORDER BY bus", [])
    lanes = buses.lanes_of(project_id, [bus for bus, _, _ in known], end)
    cuts = [lane_state.find_lane(project_id, one["lane"], end or NOW) for one in lanes]
    return {
        "lanes": [{**one, "held_from": None} for one in lanes],
        "spaces": [
            {name: value for name, value in one.items() if name != "last_leaf"}
            for one in buses.spaces_of(project_id, [one["lane"] for one in lanes], end)
        ],
        "facts": [None if cut is None else cut.facts for cut in cuts],
        "findings": findings(project_id, end or NOW),
        "settings": [
            bus_settings.settings_at(project_id, BusName(installation, name), end or NOW)
            for bus, installation, name in known
            if any(one["bus"] == bus for one in lanes)
        ],
    }


def findings(project_id: int, end: int) -> list[tuple[Any, ...]]:
    """Give the forms of findings that stand below a leaf."""
    return bulk.select_rows(
        "SELECT finding, code, closed_at, facts, space FROM bus_finding WHERE project_id = %s "
        "AND leaf_index < %s AND (until_leaf IS NULL OR until_leaf >= %s) ORDER BY finding",
        [project_id, end, end],
    )


def grown(story: stories.Story) -> Iterator[int]:
    """Derive a story leaf by leaf, and give the number of leaves after each."""
    with story.travel():
        while sequence.sequence(story.project.id, 500):
            pass
    for end in range(1, derive.log_size(story.project.id) + 1):
        derive.derive(story.project.id, 1)
        yield end


@pytest.mark.parametrize(
    "seed", [41, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (42, 47))]
)
def test_a_bus_as_of_a_leaf_is_the_bus_of_a_ledger_that_ends_there(
    database: Database, seed: int
) -> None:
    with stories.time_machine.travel(stories.BEGINS, tick=False):
        story = stories.Story(stories.factories.make_project(), seed)
    facts = bus_facts.BusFacts(random.Random(seed))
    story.watch(facts.first(story.now))
    for _ in range(16):
        story.wait(facts.chance.choice((1, 5, 90)))
        story.watch(facts.next(story.now))

    seen = {end: look(story.project.id, None) for end in grown(story)}

    for end, shown in seen.items():
        past = look(story.project.id, end)
        for part, there in shown.items():
            assert [one for one in past[part] if one not in there] == [], (end, part, there)
            assert past[part] == there, (end, part)
    assert len(seen) > 60


def test_a_low_id_that_later_proved_a_reset_had_not_proved_it_before(
    sqlite_database: Database,
) -> None:
    desk = begin()
    desk.told(numbered(100, None)).told(numbered(1, None))
    before, end = look(desk.project_id, None), derive.log_size(desk.project_id)

    desk.told(numbered(2, None), numbered(3, None))

    assert look(desk.project_id, None)["spaces"][-1]["kind"] == "reset"
    assert look(desk.project_id, end) == before
