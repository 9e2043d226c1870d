"""How far a clock is from ours is written in a unit that somebody can read."""

from __future__ import annotations

import pytest

from ledger.present import producers


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        (1.9, "agrees"),
        (2, "2 s behind"),
        (-119.5, "119 s ahead"),
        (120, "2 min behind"),
        (7_200, "2 h behind"),
        (-172_800, "2 days ahead"),
        (63_931_637_581, "2,025 years behind"),
    ],
)
def test_a_clock_is_told_in_its_largest_unit(seconds: float | None, words: str) -> None:
    assert producers.skew_words(seconds) == words
