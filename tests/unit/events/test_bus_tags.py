"""What the pages of buses draw of answers, raw messages and the ids of a buffer."""

from __future__ import annotations

import pytest

from events.domain import codes, resume, ruler
from events.domain.replicas import answers
from events.templatetags import buses

SCRIPT = "<script>alert(1)</script>"


@pytest.mark.parametrize("name", [resume.FRESH, resume.SERVE, resume.REFUSE, resume.AMBIGUOUS])
def test_every_answer_of_the_rule_has_a_word(name: str) -> None:
    assert name in buses.ANSWERS
    assert buses.ANSWERS[name][0] in buses.answer(name)


def test_every_answer_of_a_version_has_a_word() -> None:
    given = {answers.REPLAY, answers.CAUGHT_UP, answers.SYNC_REQUIRED, answers.FRESH}

    assert given <= set(buses.ANSWERS)


def test_an_answer_nobody_knows_is_shown_as_it_came() -> None:
    assert "&lt;script&gt;" in buses.answer(SCRIPT)
    assert "not known" in buses.answer(None)


def test_a_code_is_a_badge_in_words_and_no_code_is_nothing() -> None:
    assert codes.MARKS[codes.SILENT_SKIP].word in buses.coded(codes.SILENT_SKIP)
    assert buses.coded(None) == ""


def test_a_prefix_is_tinted_field_by_field_and_keeps_its_bars() -> None:
    drawn = buses.prefixed("7|1876951040000000001|")

    assert '<span class="wire-epoch">7</span>|' in drawn
    assert '<span class="wire-id">1876951040000000001</span>|' in drawn
    assert buses.prefixed("") == ""


def test_json_is_a_tree_that_escapes_what_it_shows() -> None:
    drawn = buses.tree({"a": [1, True, None], SCRIPT: SCRIPT, "none": {}})

    assert "<script" not in drawn
    assert "3 items" in drawn
    assert ">true<" in drawn
    assert ">null<" in drawn


def test_a_tree_ends_at_its_depth_and_says_how_many_more() -> None:
    deep: object = 1
    for _ in range(50):
        deep = [deep]

    assert buses.tree(deep).count("<details") == buses.DEEPEST
    assert "and 100 more" in buses.tree(list(range(300)))


def test_a_small_region_can_be_seen_beside_a_large_one() -> None:
    regions = [
        {
            "state": "evicted",
            "from": "1",
            "to": "1876951040000000000",
            "count": 1876951040000000000,
        },
        {"state": "unvouched", "from": "5", "to": "4", "count": 0},
        {"state": "held", "from": "1876951040000000001", "to": "1876951040000000001", "count": 1},
    ]

    parts = ruler.parts_of(regions)

    assert [one["state"] for one in parts] == ["evicted", "held"]
    assert min(one["width"] for one in parts) >= 40
    assert parts[-1]["x"] + parts[-1]["width"] == pytest.approx(ruler.WIDTH, abs=1)
    assert all(one["says"] for one in buses.ruler_parts(regions))
