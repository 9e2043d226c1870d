"""The reference of producers against the rules and the answers that it tells of."""

from __future__ import annotations

from ledger.api import shapes
from ledger.domain.feed_states import INCOMPLETE, RULES
from tests.architecture import documents

PAGE = documents.sections_of(documents.read("docs/reference/producers.md"))


def test_every_rule_of_a_feed_is_told_in_its_own_words() -> None:
    told = {row[1].strip("`"): row[2] for row in documents.iter_rows(PAGE["States"])}

    assert told == RULES


def test_the_states_in_which_nothing_is_complete_come_first() -> None:
    states = [row[0].strip("`") for row in documents.iter_rows(PAGE["States"])]

    assert set(dict.fromkeys(states)) >= set(INCOMPLETE)
    assert list(dict.fromkeys(states))[: len(INCOMPLETE)] == list(INCOMPLETE)


def test_every_member_of_feed_is_described() -> None:
    told = [row[0].strip("`") for row in documents.iter_rows(PAGE["`feed` in answers"])]

    assert told == list(shapes.FEED["properties"])
