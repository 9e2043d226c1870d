"""The head of a page leads through the house: sections first, then the pages of the section."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from tests import factories
from tests.desk import Desk


def rows(desk: Desk, tail: str) -> list[list[str]]:
    """Give the labels of each row of links in the head; that of the page itself in brackets."""
    client = Client()
    user = factories.make_member(desk.project, "viewer")
    client.force_login(factories.get_user_model_of(user))
    text = client.get(f"/p/{desk.project.slug}/{tail}").content.decode()
    head = text[text.index("<header") : text.index("</header>")]
    found = re.findall(r"<nav.*?</nav>", head, re.DOTALL)
    return [[_label(*link) for link in re.findall(r"<a ([^>]*)>([^<]*)</a>", nav)] for nav in found]


def _label(attributes: str, label: str) -> str:
    return f"[{label}]" if "aria-current" in attributes else label


@pytest.mark.parametrize(
    ("tail", "section", "here"),
    [
        ("receipts", "[Receipts]", "[Receipts]"),
        ("tasks", "[Receipts]", "[Tasks]"),
        ("subjects/payout/PO-1", "[Receipts]", "[Receipts]"),
        ("simulate", "[Jobs]", "[Key lab]"),
        ("policies", "[Producers]", "[Recording policies]"),
    ],
)
def test_a_page_shows_its_section_and_the_pages_beside_it(
    desk: Desk, tail: str, section: str, here: str
) -> None:
    first, second = rows(desk, tail)

    assert [one for one in first if one.startswith("[")] == [section]
    assert [one for one in second if one.startswith("[")] == [here]


def test_the_first_row_holds_sections_alone(desk: Desk) -> None:
    (first,) = rows(desk, "")

    assert first[0] == "[Overview]"
    assert "Keys" not in first
    assert {"Receipts", "Jobs", "Producers"} < set(first)
