"""Numbers that open their lists, states in words, empty pages that say why, and earlier times."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser import history
from tests.browser.conftest import Windows
from tests.browser.house import House
from tests.browser.test_looks import address

pytestmark = pytest.mark.slow


def read_number(text: str) -> int:
    return int(re.sub(r"[^0-9]", "", text))


def read_count(page: Page) -> int:
    """Read how many rows a list says that it has."""
    word = page.locator(".verdict .badge").first.inner_text()
    return 0 if word == "none" else read_number(word)


def read_links(found: list[Locator]) -> list[tuple[int, str]]:
    return [(read_number(one.inner_text()), one.get_attribute("href") or "") for one in found]


def test_every_number_of_the_overview_is_the_length_of_its_list(windows: Windows) -> None:
    page = windows.open("/p/orders/")
    figures = page.locator(".figures a")
    links = [
        (read_number(figure.locator("b").inner_text()), figure.get_attribute("href") or "")
        for figure in figures.all()
    ]
    links += read_links(page.locator(".cols td.num a").all())
    numbers = page.locator(".cols td.num")

    assert len(links) == figures.count() + numbers.count() > 10
    found = []
    for _, href in links:
        page.goto(href)
        found.append((read_count(page), href))
    assert found == links


def test_every_item_leads_to_what_it_speaks_of(windows: Windows) -> None:
    page = windows.open("/p/orders/")
    hrefs = [link.get_attribute("href") or "" for link in page.locator(".attn .next").all()]

    counts = []
    for href in hrefs:
        page.goto(href)
        counts.append(read_count(page))

    assert counts == [1, 1, 1, 2, 1, 2, 5, 1]


def test_every_count_beside_a_list_is_the_length_of_its_list(windows: Windows) -> None:
    page = windows.open("/p/orders/receipts")
    links = [
        (read_number(link.locator(".num").inner_text()), link.get_attribute("href") or "")
        for link in page.locator(".facets a").all()
    ]

    found = []
    for _, href in links:
        page.goto(href)
        found.append((read_count(page), href))

    assert found == links


@pytest.mark.parametrize(
    "path", ["/p/orders/receipts", "/p/orders/receipts?q=kind:skip", "/p/orders/quarantine"]
)
def test_every_state_is_an_icon_and_a_word(path: str, windows: Windows) -> None:
    page = windows.open(path)

    badges = page.locator(".badge:not(.long)").all()

    assert badges
    assert all(badge.locator("svg.icon").count() == 1 for badge in badges)
    assert all(badge.inner_text().strip() for badge in badges)


def test_a_list_without_a_match_says_what_was_searched(windows: Windows, house: House) -> None:
    known = house.read("orders", "receipts?limit=1")["count"]["value"]
    page = windows.open("/p/orders/receipts?q=task:nothing.like.it")

    expect(page.locator(".empty")).to_contain_text("No receipt matches")
    expect(page.locator(".empty")).to_contain_text("Not searched")
    expect(page.locator("#rows")).to_contain_text(f"Searched {known} receipts")
    page.click(".empty >> text=Clear the query")
    assert read_count(page) == known


def test_an_empty_project_says_how_to_send_the_first_receipt(windows: Windows) -> None:
    page = windows.open("/p/empty/receipts")

    expect(page.locator(".empty")).to_contain_text("Nothing has been sent here yet")
    expect(page.locator(".empty")).to_contain_text("token create --project empty")
    expect(page.locator(".empty")).to_contain_text(f"{windows.house.url}/api/v1/receipts")


def test_a_query_that_is_not_understood_is_named_and_nothing_is_searched(
    windows: Windows,
) -> None:
    windows.may_complain = True
    page = windows.open("/p/orders/receipts?q=colour:red")

    expect(page.get_by_role("alert")).to_contain_text("colour")
    expect(page.locator(".empty")).to_contain_text("Nothing was searched")


def test_an_object_without_receipts_says_what_was_looked_for(windows: Windows) -> None:
    page = windows.open("/p/orders/subjects/payout/PO-0")

    expect(page.locator(".empty")).to_contain_text("payout")
    expect(page.locator(".empty")).to_contain_text("PO-0")


def test_a_page_as_of_then_says_so_and_shows_what_was_known(windows: Windows, house: House) -> None:
    slug = house.take_project()
    house.send(slug, kind="start", id="s1", job={"id": "7", "task": "t"})
    skip = {"kind": "skip", "id": "s2", "reason": "already_done", "original": {"job": "7"}}
    ref = house.send(slug, **skip)
    house.wait_until_derived(slug)
    then = int(house.read(slug, f"receipts/{ref}")["leaf_index"])
    house.send(slug, kind="done", id="s3", job={"id": "7", "task": "t"})
    house.wait_until_derived(slug)
    page = windows.open(f"/p/{slug}/receipts/{ref}/explain")
    expect(page.locator(".hops")).to_contain_text("found, done")

    page.fill("#as-of", f"n{then}")
    page.click("text=Read it as of then")

    expect(page.locator(".top")).to_contain_text(f"as of №{then}")
    expect(page.locator(".hops")).to_contain_text("found, still running")
    assert page.input_value("#as-of") == f"n{then}"
    page.goto(f"/p/{slug}/receipts?as_of=n{then}")
    assert read_count(page) == then + 1
    expect(page.locator(".top")).to_contain_text(f"as of №{then}")


def test_paper_shows_the_ticket_and_no_controls(windows: Windows, house: House) -> None:
    page = windows.open(address(house, "explain"))

    page.emulate_media(media="print")

    expect(page.locator(".ticket")).to_be_visible()
    expect(page.locator(".print-only")).to_contain_text("№")
    expect(page.locator("form:visible, footer:visible, nav:visible")).to_have_count(0)
    background = page.evaluate("getComputedStyle(document.querySelector('.card')).color")
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.querySelector('.card')).color") == background


def test_a_receipt_shows_bytes_that_cannot_be_seen(windows: Windows, house: House) -> None:
    ref = house.ref_of("odd", history.name_id("rule 3"))

    page = windows.open(f"/p/odd/receipts/{ref}")

    expect(page.locator("main dl").first).to_contain_text("ESC")
