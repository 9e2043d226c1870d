"""The page about contradictions names every invariant and rule, and no other."""

from __future__ import annotations

import re

from jobs.domain.invariants import BY_CODE, RULE_WORDS
from tests.architecture import ROOT

TEXT = (ROOT / "docs" / "reference" / "contradictions.md").read_text(encoding="utf-8")


def rows_of(heading: str) -> dict[str, str]:
    """Give the second cell of each row of a section's table, by the code in the first."""
    section = TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section, re.MULTILINE))


def test_every_invariant_is_described() -> None:
    assert rows_of("What must hold").keys() == BY_CODE.keys()


def test_every_rule_is_described_in_the_words_of_the_page() -> None:
    assert rows_of("Rules") == RULE_WORDS
