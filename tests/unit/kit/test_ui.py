from __future__ import annotations

import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.template import Context, Template

from kit.templatetags import ui

MOMENT = datetime(2026, 10, 5, 9, 0, 30, 214_000, tzinfo=UTC)


def draw(template: str, /, **context: Any) -> str:
    """Render a template with the tags loaded."""
    return Template("{% load ui %}" + template).render(Context(context))


def test_a_moment_is_shown_with_its_date_and_zone() -> None:
    shown = ui.when(MOMENT)

    assert ">2026-10-05 09:00:30 UTC<" in shown
    assert 'datetime="2026-10-05T09:00:30.214000Z"' in shown


def test_a_moment_of_another_zone_is_shown_in_utc() -> None:
    assert ">2026-10-05 09:00:30 UTC<" in ui.when("2026-10-05T11:00:30+02:00")


def test_a_precise_moment_shows_milliseconds() -> None:
    assert ">2026-10-05 09:00:30.214 UTC<" in ui.when(MOMENT, precise=True)


def test_without_a_first_moment_the_second_is_shown() -> None:
    assert "2026-10-05" in ui.when({"at": None, "by": "producer"}, MOMENT)


def test_no_moment_at_all_is_said_and_not_left_empty() -> None:
    assert "not said" in ui.when(None)


def test_what_is_no_time_is_shown_as_it_came_and_escaped() -> None:
    assert "&lt;b&gt;soon" in ui.when("<b>soon")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b", ">NUL<"),
        ("a\x1b[31m", ">ESC<"),
        ("a\u202eb", ">U+202E<"),
        ("a\ud800b", ">U+D800<"),
        ("\ufeffa", ">BOM<"),
    ],
    ids=["NUL", "escape", "direction mark", "lone surrogate", "byte order mark"],
)
def test_what_cannot_be_seen_is_marked(text: str, shown: str) -> None:
    assert shown in ui.visible(text)


def test_lines_and_tabs_of_a_text_stay() -> None:
    assert ui.visible("a\n\tb") == "a\n\tb"


def test_a_producers_text_is_escaped() -> None:
    assert "<script>" not in draw("{{ text|visible }}{% say text %}", text="<script>x</script>")


def test_say_passes_over_what_says_nothing() -> None:
    assert draw("{% say missing.name empty 'none' %}", empty="") == "none"


def test_a_badge_has_icon_word_and_tone() -> None:
    shown = ui.badge("skip", "skip, paused")

    assert "skip, paused" in shown
    assert "icons.svg#skip" in shown
    assert 'class="badge skip' in shown


def test_an_unknown_tone_is_plain() -> None:
    assert 'class="badge plain' in ui.badge("glitter", "word")


def test_a_chip_of_a_found_pointer_never_says_resolved() -> None:
    assert "resolved" not in ui.chip({"state": "resolved"})


def test_a_chip_says_the_words_that_its_pointer_brings() -> None:
    shown = ui.chip({"state": "resolved", "chip": "found, failed", "outcome": "failed"})

    assert "found, failed" in shown
    assert 'class="badge bad' in shown


def test_no_pointer_has_no_chip() -> None:
    assert ui.chip(None) == ""


@pytest.mark.parametrize(
    ("count", "words"),
    [
        ({"value": 1377, "method": "exact"}, "1,377"),
        ({"value": 10000, "method": "capped"}, "10,000 or more"),
        ({"value": 103_000_000, "method": "estimate"}, "about 103,000,000"),
        ({"value": 0, "method": "exact"}, "0"),
    ],
    ids=["exact", "capped", "estimate", "none"],
)
def test_a_count_is_said_as_well_as_it_is_known(count: dict[str, Any], words: str) -> None:
    assert ui.count_words(count) == words


def test_numbers_are_grouped_and_other_texts_left_alone() -> None:
    assert ui.num("116873") == "116,873"
    assert ui.num("not known") == "not known"


def test_a_leaf_is_named_by_its_number() -> None:
    assert ui.no("116873") == "№116,873"
    assert ui.no(0) == "№0"
    assert ui.no(None) == "not numbered yet"


def test_a_page_address_writes_each_part_as_a_segment() -> None:
    context = Context({"shell": {"project": SimpleNamespace(slug="orders")}})

    assert ui.page(context, "receipts", "r1", "explain") == "/p/orders/receipts/r1/explain"
    assert "/p/orders/tasks/~" in ui.page(context, "tasks", "payouts.send")


def test_what_is_copied_is_the_text_and_not_its_markup() -> None:
    shown = draw('{% copyable "command" %}{{ text }}{% endcopyable %}', text='a "b" <c> & d')

    assert 'data-copy="a &quot;b&quot; &lt;c&gt; &amp; d"' in shown
    assert "<c>" not in shown


def test_members_called_items_do_not_hide_an_object() -> None:
    assert ui.pairs({"items": 3}) == [("items", 3)]


def test_a_bar_stays_between_nothing_and_all() -> None:
    assert re.findall(r'width="(-?\d+)%"', ui.bar(140)) == ["100", "100"]
    assert re.findall(r'width="(-?\d+)%"', ui.bar(-3)) == ["100", "0"]


def test_texts_beside_one_another_are_escaped_once() -> None:
    assert draw("{{ texts|listed }}", texts=["<b>", "c"]) == "&lt;b&gt;, c"
