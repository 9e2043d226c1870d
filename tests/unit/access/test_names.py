from __future__ import annotations

import pytest

from access.domain import names


@pytest.mark.parametrize("slug", ["a", "acme", "team-1", "0", "a" * 40])
def test_a_slug_is_up_to_forty_plain_characters(slug: str) -> None:
    assert names.check_slug(slug) == slug


@pytest.mark.parametrize("slug", ["", "A", "a b", "a_b", "é", "a" * 41, "a\n", "a/b", "٣"])
def test_another_text_is_no_slug(slug: str) -> None:
    with pytest.raises(names.BadName):
        names.check_slug(slug)


@pytest.mark.parametrize("username", ["", "a b", "a/b", "a" * 65, "a\x00", "é"])
def test_another_text_is_no_user_name(username: str) -> None:
    with pytest.raises(names.BadName):
        names.check_username(username)


def test_a_name_loses_the_white_space_around_it() -> None:
    assert names.check_name("  Payouts ") == "Payouts"


@pytest.mark.parametrize("name", ["", "   ", "a\x00b", "a\ud800", "a" * 101, "a\x1b[31m"])
def test_a_name_that_cannot_be_shown_is_refused(name: str) -> None:
    with pytest.raises(names.BadName):
        names.check_name(name)


def test_a_source_is_a_system_and_an_instance() -> None:
    assert names.parse_source("oban/prod-1") == ("oban", "prod-1")
    assert names.parse_source("") == ("", "")


def test_a_reason_becomes_one_line() -> None:
    assert names.check_reason("  month end,\r\n\tsee the mail ") == "month end, see the mail"


@pytest.mark.parametrize("text", ["", " \n", "x" * 501, "a\0b", "a\ud800", "\x1b[31m", "a\x7f"])
def test_another_text_is_no_reason(text: str) -> None:
    with pytest.raises(names.BadName):
        names.check_reason(text)


@pytest.mark.parametrize(
    "text",
    ["oban", "oban/", "/prod", "a/b/c", "a b/c", "a/" + "b" * 65, "a/b\ud800", "a\0/b"],
)
def test_another_text_is_no_source(text: str) -> None:
    with pytest.raises(names.BadName):
        names.parse_source(text)
