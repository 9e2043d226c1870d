"""The page about findings names every code and rule as the code does, and no other."""

from __future__ import annotations

import json
import re

import pytest

from events.domain import codes, key_health
from events.domain.evaluate_stream import evaluate
from events.domain.finding_rules import RULES
from events.domain.findings import Finding
from events.domain.sentences import sentence
from tests.architecture import ROOT, documents

DOMAIN = ROOT / "events" / "domain"
TEXT = (ROOT / "docs" / "reference" / "findings.md").read_text(encoding="utf-8")


def rows_of(heading: str) -> dict[str, str]:
    """Give the second cell of each row of a section's table, by the code in the first."""
    section = TEXT.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", section, re.MULTILINE))


def entry_of(code: str) -> str:
    return TEXT.split(f"### `{code}`\n", 1)[1].split("\n## ", 1)[0].split("\n### ", 1)[0]


def told(code: str) -> str:
    """Say a finding of a code with facts that leave nothing open."""
    facts: dict[str, str | int] = {
        "from": "7", "to": "8", "high": "100", "ids": "5", "missing": "1", "other": "i2",
        "before": "4", "head": "9", "step": 256, "sibling": "r2",
    }  # fmt: skip
    return sentence(Finding(code, "note", 0, "i1", "b", "rule", "r1", epoch="8", id=5, facts=facts))


def test_every_code_has_an_entry_and_no_other() -> None:
    assert re.findall(r"^### `([A-Z_]+)`$", TEXT, re.MULTILINE) == list(codes.MARKS)


@pytest.mark.parametrize("code", codes.MARKS)
def test_an_entry_quotes_the_sentence_and_says_how_it_is_shown(code: str) -> None:
    entry, mark = entry_of(code), codes.MARKS[code]

    (quoted,) = re.findall(r"^> (.+)$", entry, re.MULTILINE)
    pattern = ".+".join(re.escape(part) for part in quoted.split("…"))
    assert re.match(pattern, told(code)), told(code)
    assert f" {mark.severity.capitalize()}. Shown as “{mark.word}”." in entry


@pytest.mark.parametrize("code", codes.MARKS)
def test_a_sentence_leaves_nothing_open(code: str) -> None:
    assert not {"?", "None"} & set(re.findall(r"\?|\bNone\b", told(code)))


def test_every_fault_of_a_key_is_described_in_its_own_words() -> None:
    assert rows_of("Keys") == {code: kind.sentence for code, kind in key_health.CODES.items()}


def test_every_rule_is_described_in_the_words_of_the_page() -> None:
    assert rows_of("Rules") == RULES


def test_no_rule_is_described_by_which_no_detector_speaks() -> None:
    sources = [path for path in DOMAIN.glob("*.py") if path.name != "finding_rules.py"]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)

    assert [rule for rule in RULES if f'"{rule}"' not in text] == []


def test_letters_of_marks_are_all_different() -> None:
    letters = [mark.letter for mark in codes.MARKS.values()]

    assert len(set(letters)) == len(letters)


def test_the_recorded_history_is_judged_as_the_page_says() -> None:
    answer = evaluate(json.loads(documents.get_fence(TEXT, "stream")))

    assert [one["code"] for one in answer["findings"]] == ["EPOCH_CHANGE", "GAP"]
    assert len(answer["spaces"]) == 2
