"""Everything that can be done is done by plain links and forms when JavaScript is off."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser import history
from tests.browser.conftest import Windows
from tests.browser.house import House

pytestmark = pytest.mark.slow

BROKEN = b'{"kind": "done", "id": '
UNEXPLAINED = {"kind": "skip", "id": "lonely", "job": {"task": "stock.sync"}}


def read_refs(page: Page) -> list[str]:
    return [row.get_attribute("id") or "" for row in page.locator("tr[data-row]").all()]


@pytest.mark.parametrize(
    "path",
    ["/p/orders/", "/p/orders/receipts", "/p/orders/quarantine", "/p/orders/tasks"],
)
def test_a_page_is_whole(path: str, windows: Windows) -> None:
    page = windows.open(path, js=False)

    assert page.locator("[data-row]").count() > 0
    assert page.locator(".needs-js:visible, .copy:visible").count() == 0


def test_search_is_a_form(windows: Windows) -> None:
    page = windows.open("/p/orders/", js=False)

    page.fill("#find", "kind:skip task:stock.sync")
    page.press("#find", "Enter")

    expect(page).to_have_url(page.url)
    assert "/p/orders/receipts?q=kind" in page.url
    assert len(read_refs(page)) == 6


def test_the_pager_leads_on_and_back_without_losing_a_row(windows: Windows) -> None:
    page = windows.open("/p/orders/receipts", js=False)
    first = read_refs(page)

    page.click(".pager >> text=Older")
    second = read_refs(page)
    page.click(".pager >> text=Newest")

    assert second
    assert not set(first) & set(second)
    assert read_refs(page) == first


def test_the_theme_stays_chosen(windows: Windows) -> None:
    page = windows.open("/p/orders/receipts?q=kind:skip", js=False)

    page.click("button[value=dark]")

    assert page.url.endswith("/p/orders/receipts?q=kind:skip")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.goto("/p/orders/tasks")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


def test_an_item_is_acknowledged_with_a_reason(windows: Windows, house: House) -> None:
    slug = house.take_project(UNEXPLAINED)
    page = windows.open(f"/p/{slug}/", js=False)

    page.click("summary:has-text('acknowledge')")
    page.fill(".ack input[name=reason]", "known, fixed tomorrow")
    page.click(".ack button")

    expect(page.locator(".attn li")).to_have_count(0)
    page.click("text=acknowledged items")
    expect(page.locator(".attn")).to_contain_text("known, fixed tomorrow")


@pytest.mark.parametrize(
    ("button", "word"), [("Drive again", "still cannot be read"), ("Close", "Closed")]
)
def test_what_was_set_aside_is_settled_by_a_form(
    button: str, word: str, windows: Windows, house: House
) -> None:
    slug = house.take_project(BROKEN)
    page = windows.open(f"/p/{slug}/quarantine", js=False)

    page.click("summary:has-text('drive again')")
    form = page.locator("form", has=page.get_by_role("button", name=button))
    form.locator("[name=reason]").fill("the producer was fixed")
    form.get_by_role("button", name=button).click()

    expect(page.get_by_role("status").first).to_contain_text(word)


def test_a_token_is_made_and_shown_once(windows: Windows, house: House) -> None:
    slug = house.take_project()
    page = windows.open(f"/p/{slug}/tokens", js=False)

    page.fill("[name=name]", history.SCRIPT)
    page.click("text=Make the token")

    expect(page.locator("main")).to_contain_text("shown once")
    secret = page.locator(".block pre").first.inner_text()
    expect(page.locator("tbody")).to_contain_text(history.SCRIPT)
    page.goto(f"/p/{slug}/tokens")
    assert secret not in page.content()


def test_a_link_logs_in_once_and_the_button_logs_out(windows: Windows, house: House) -> None:
    link = house.links["bob"].pop()
    page = windows.open(link, "", js=False)

    page.click("main button:has-text('Log in')")
    page.goto("/p/orders/")
    expect(page.locator("h1")).to_contain_text("need someone")
    page.click("[aria-label^='Log out']")
    page.goto("/p/orders/receipts")

    assert "/login" in page.url
