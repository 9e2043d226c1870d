"""The page about resumes names every rule, check, reset and expectation in the pages' own words."""

from __future__ import annotations

import pytest

from events.domain import resets, resume
from events.domain.given_answers import AMBIGUOUS_RESUME, NEEDLESS_RESYNC, SILENT_SKIP
from events.domain.replicas import answers
from events.domain.roll_counters import COUNTERS, Around, Sample, growth_of, judge
from events.domain.roll_phases import ALL_1, ALL_2, ROLL_1, ROLL_2
from tests.architecture import documents

SECTIONS = documents.sections_of(documents.read("docs/reference/resumes.md"))
MIXES = (ROLL_1, ALL_1, ROLL_2, ALL_2)


def rows_of(heading: str) -> list[list[str]]:
    """Give the rows of a section's table, the codes without their marks."""
    return [[cell.strip("`") for cell in row] for row in documents.iter_rows(SECTIONS[heading])]


def test_every_rule_is_told_in_the_words_of_the_page() -> None:
    told = {rule: sentence for rule, _, sentence in rows_of("What is safe")}

    assert told == resume.SENTENCES


@pytest.mark.parametrize("row", rows_of("What is safe"), ids=lambda row: row[0])
def test_every_rule_gives_the_answer_that_is_told(row: list[str]) -> None:
    asked = {
        "no_cursor": (resume.Lane("e1", 5, 9), None, None),
        "bad_cursor": (resume.Lane("e1", 5, 9), "x", None),
        "cursor_zero": (resume.Lane("e1", 5, 9), 0, None),
        "cold": (resume.Lane("e1", 0, 0, cold=True), 7, None),
        "other_epoch": (resume.Lane("e1", 5, 9), 7, "e0"),
        "above_high_water": (resume.Lane("e1", 5, 9), 10, None),
        "below_floor": (resume.Lane("e1", 5, 9), 3, None),
        "after_epoch_change": (changed("epoch"), 4, None),
        "number_in_two_spaces": (changed("reset"), 6, None),
        "unsettled": (resume.Lane("e1", 5, 9, unsettled=[1]), 7, None),
        "covered": (resume.Lane("e1", 5, 9), 7, None),
    }

    found = resume.answer(*asked[row[0]])

    assert [found.rule, found.answer] == row[:2]


def changed(kind: str) -> resume.Lane:
    """Give a lane behind a boundary."""
    return resume.Lane("e1", 5, 9, boundaries=(resume.Boundary(8, kind),))


def test_every_code_is_told() -> None:
    told = [row[0] for row in rows_of("Where an answer differs")]

    assert told == [SILENT_SKIP, AMBIGUOUS_RESUME, NEEDLESS_RESYNC]


def test_every_check_of_a_model_is_told_in_the_words_of_the_page() -> None:
    assert dict(rows_of("What a version checks")) == answers.SENTENCES


def test_every_reason_of_a_reset_is_told() -> None:
    meant = [
        [one.name, one.since, one.scope, one.floor, one.meaning] for one in resets.REASONS.values()
    ]

    assert rows_of("Resets") == meant


def test_every_expectation_of_a_counter_is_told() -> None:
    growth = growth_of([Sample(0, 0)], 0, 0)

    meant = [
        [
            counter,
            *(
                judge(counter, growth, Around(mix, "v2", is_armed=mix in (ROLL_2, ALL_2))).expected
                for mix in MIXES
            ),
        ]
        for counter in COUNTERS
    ]
    assert rows_of("Counters during a roll") == meant
