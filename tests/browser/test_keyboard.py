"""A person without a mouse gets everywhere, sees where they are, and can switch the keys off."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Windows
from tests.browser.house import House
from tests.browser.test_looks import address

pytestmark = pytest.mark.slow

LIST = "/p/orders/receipts?q=kind:skip"


def read_focus(page: Page) -> str:
    """Name what has the focus: its text, label or name."""
    found: str = page.evaluate(
        """() => { const one = document.activeElement;
           return one.getAttribute('aria-label') || one.innerText?.trim() || one.name || '' }"""
    )
    return found


def read_outline(page: Page) -> str:
    found: str = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    return found


def focused_row(page: Page) -> str | None:
    found: str | None = page.evaluate("document.activeElement.closest('[data-row]')?.id ?? null")
    return found


def test_the_first_tab_stop_skips_to_the_content(windows: Windows) -> None:
    page = windows.open(LIST)

    page.keyboard.press("Tab")
    first = read_focus(page)
    page.keyboard.press("Enter")

    assert first == "Skip to the content"
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('main') !== null")


def test_tab_goes_through_the_page_in_reading_order_and_is_always_seen(windows: Windows) -> None:
    page = windows.open("/p/orders/")
    stops, unseen = [], []
    for _ in range(24):
        page.keyboard.press("Tab")
        stops.append(read_focus(page))
        if read_outline(page) == "none":
            unseen.append(stops[-1])

    named = ["Skip to the content", "Counterfoil", "Overview", "Receipts", "Jobs"]
    assert stops[:5] == named
    assert unseen == []
    assert stops.index("acknowledged items") < stops.index("list them")


def test_slash_finds_and_escape_leaves(windows: Windows) -> None:
    page = windows.open("/p/orders/")

    page.keyboard.press("/")
    page.keyboard.type("kind:cancel")
    page.keyboard.press("Enter")
    page.wait_for_url("**/receipts?q=kind*")

    expect(page.locator("#rows tbody tr")).to_have_count(1)


def test_the_question_mark_opens_the_sheet_and_escape_closes_it(windows: Windows) -> None:
    page = windows.open(LIST)

    page.keyboard.press("?")
    expect(page.locator("#help")).to_be_visible()
    page.keyboard.press("Escape")

    expect(page.locator("#help")).to_be_hidden()


def test_j_and_k_walk_the_rows_and_enter_opens_one(windows: Windows) -> None:
    page = windows.open(LIST)
    rows = [row.get_attribute("id") for row in page.locator("tr[data-row]").all()]

    page.keyboard.press("j")
    page.keyboard.press("j")
    second = focused_row(page)
    page.keyboard.press("k")
    first = focused_row(page)
    page.keyboard.press("Enter")
    page.wait_for_url("**/explain")

    assert [first, second] == rows[:2]
    assert str(first).removeprefix("row-") in page.url


def test_e_explains_and_o_goes_to_the_original(windows: Windows, house: House) -> None:
    page = windows.open(address(house, "receipt"))

    page.keyboard.press("e")
    page.wait_for_url("**/explain")
    page.keyboard.press("o")
    page.wait_for_function("document.querySelector('h1').innerText.includes('Skipped') === false")

    expect(page.locator(".crumbs")).to_contain_text("№")


def test_both_pieces_of_a_contradiction_are_opened_from_its_row(windows: Windows) -> None:
    opened = []
    for key in ("e", "o"):
        page = windows.open("/p/orders/contradictions")
        page.keyboard.press("j")
        page.keyboard.press(key)
        page.wait_for_url("**/explain")
        opened.append(page.url)

    assert opened[0] != opened[1]


def test_single_keys_can_be_switched_off_and_stay_off(windows: Windows) -> None:
    page = windows.open(LIST)
    page.click("text=Help and keys")
    page.uncheck("#keys-on")
    page.keyboard.press("Escape")

    page.reload()
    page.keyboard.press("j")

    assert focused_row(page) is None
    assert "off" in page.evaluate("JSON.stringify(localStorage)")


def test_keys_leave_typing_alone(windows: Windows) -> None:
    page = windows.open(LIST)

    page.focus("#find")
    page.keyboard.press("End")
    page.keyboard.type(" jke?/")

    assert page.input_value("#find") == "kind:skip jke?/"
