"""Answers that were really given to resumes, beside what was safe."""

from __future__ import annotations

from typing import Any

import pytest

from events.domain.given_answers import given_answer, judge_given
from events.domain.resume import Boundary, Lane

LANE = Lane("e1", 4, 9)
RESTARTED = Lane(None, 1, 9, boundaries=(Boundary(20, "reset"),))
UNION = range(1, 10)


@pytest.mark.parametrize(
    ("lane", "cursor", "given", "code", "missed"),
    [
        (LANE, 5, {"given_word": "replayed", "first": 6, "last": 9}, None, ()),
        (LANE, 5, {"given_word": "sync_required"}, "NEEDLESS_RESYNC", ()),
        (LANE, 1, {"given_word": "sync_required"}, None, ()),
        (LANE, 1, {"given_word": "replayed", "first": 4, "last": 9}, "SILENT_SKIP", (2, 3)),
        (LANE, 1, {"given_word": "replayed 6", "served": 6}, "SILENT_SKIP", (2, 3)),
        (LANE, 1, {"given_word": "caught_up"}, "SILENT_SKIP", tuple(range(2, 10))),
        (LANE, 0, {"given_word": "sync_required"}, None, ()),
        (LANE, 0, {"given_word": "serve", "served": 6}, None, ()),
        (LANE, None, {"given_word": "fresh"}, None, ()),
        (LANE, "x", {"given_word": "serve", "first": "4", "last": "9"}, "SILENT_SKIP", (1, 2, 3)),
        (RESTARTED, 7, {"given_word": "served", "served": 2}, "AMBIGUOUS_RESUME", ()),
        (RESTARTED, 7, {"given_word": "refuse"}, None, ()),
        (LANE, 5, {"given_word": "perhaps"}, None, ()),
    ],
)
def test_only_three_kinds_of_answer_differ_from_the_rule(
    lane: Lane, cursor: object, given: dict[str, Any], code: str | None, missed: tuple[int, ...]
) -> None:
    found = judge_given(lane, cursor, None, ids_of_union=UNION, **given)

    assert (found.code, found.missed) == (code, missed)


def test_invented_test_2_a_buffer_emptied_by_age_is_not_caught_up() -> None:
    found = judge_given(Lane("e1", 4, 3), 1, None, "caught up", ids_of_union=[1, 2, 3])

    assert (found.code, len(found.missed)) == ("SILENT_SKIP", 2)


def test_invented_test_6_an_unknown_id_is_refused_and_no_position_invented() -> None:
    found = judge_given(Lane("e1", 1, 5), "does-not-exist", None, "earliest")

    assert (found.safe.answer, found.safe.rule, found.code) == ("refuse", "bad_cursor", None)


def test_a_cursor_of_another_epoch_misses_all_of_this_one_that_was_not_sent() -> None:
    found = judge_given(LANE, 7, "e0", "replayed", first=8, last=9, ids_of_union=UNION)

    assert (found.code, found.missed) == ("SILENT_SKIP", tuple(range(1, 8)))


@pytest.mark.parametrize("word", [None, 3, "", "sure", [], "\x00"])
def test_a_word_that_tells_nothing_is_no_answer(word: object) -> None:
    assert given_answer(word) is None
