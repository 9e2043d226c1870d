"""Open pages follow the log: by a stream, by asking where there is none, and not while paused."""

from __future__ import annotations

import json
import sqlite3

import httpx
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Windows
from tests.browser.house import House, wait_for

pytestmark = pytest.mark.slow

SOON_MS = 10_000
"""Room for a busy machine; the pages are made for about a second."""

DONE = {"kind": "done", "job": {"task": "mail.send"}}


def wait_until_live(page: Page) -> None:
    """Wait for the stream; a page that was refused one asks by polling, so it is opened again.

    On a busy machine the streams of the pages before may not have been given back yet.
    """
    state = page.locator("#live-state")
    for _ in range(3):
        try:
            expect(state).to_have_attribute("data-state", "open", timeout=15_000)
            return
        except AssertionError:
            page.reload()
    expect(state).to_have_attribute("data-state", "open", timeout=30_000)


def mark_page(page: Page) -> None:
    """Leave a mark that a reload would wipe out."""
    page.evaluate("window.notReloaded = true")


def is_same_page(page: Page) -> bool:
    return bool(page.evaluate("window.notReloaded === true"))


def test_a_receipt_appears_in_an_open_list(windows: Windows, house: House) -> None:
    slug = house.take_project(DONE)
    page = windows.open(f"/p/{slug}/receipts")
    wait_until_live(page)
    mark_page(page)

    house.send(slug, kind="fail", job={"task": "mail.bounced"})

    expect(page.locator("#rows")).to_contain_text("mail.bounced", timeout=SOON_MS)
    assert is_same_page(page)


def test_the_first_receipt_of_all_appears(windows: Windows, house: House) -> None:
    slug = house.take_project()
    page = windows.open(f"/p/{slug}/receipts")
    wait_until_live(page)

    house.send(slug, kind="done", job={"task": "mail.first"})

    expect(page.locator("#rows")).to_contain_text("mail.first", timeout=SOON_MS)


def test_the_overview_counts_on(windows: Windows, house: House) -> None:
    slug = house.take_project(DONE)
    page = windows.open(f"/p/{slug}/")
    wait_until_live(page)
    mark_page(page)

    house.send(slug, kind="skip", job={"task": "stock.sync"})

    expect(page.locator("h1")).to_contain_text("One thing needs someone", timeout=SOON_MS)
    assert is_same_page(page)


def test_a_contradiction_appears_and_the_page_no_longer_says_none(
    windows: Windows, house: House
) -> None:
    one = {"key": {"recipe": "payout", "fields": {"payout": "PO-1"}}}
    slug = house.take_project({"kind": "done", "occurred_at": "2026-10-05T09:00:00Z", **one})
    page = windows.open(f"/p/{slug}/contradictions")
    expect(page.locator("#rows")).to_contain_text("Zero")
    wait_until_live(page)

    house.send(slug, kind="done", occurred_at="2026-10-05T10:00:00Z", **one)

    expect(page.locator("#rows .verdict .badge")).to_contain_text("1", timeout=SOON_MS)
    expect(page.locator("#rows")).not_to_contain_text("Zero")


def test_an_explanation_comes_as_soon_as_its_receipt_was_read(
    windows: Windows, house: House
) -> None:
    slug = house.take_project()
    database = house.server.data_dir / "counterfoil.sqlite3"
    body = "\n".join(json.dumps({**DONE, "id": f"bulk-{n}"}) for n in range(900))
    with sqlite3.connect(database, isolation_level=None, timeout=60) as lock:
        headers = {"authorization": f"Bearer {house.tokens[slug]['ingest']}"}
        headers["content-type"] = "application/x-ndjson"
        url = f"{house.url}/api/v1/receipts"
        lines = httpx.post(url, content=body, headers=headers, timeout=60).text.splitlines()
        lock.execute("BEGIN IMMEDIATE")
        page = windows.open(f"/p/{slug}/receipts/{json.loads(lines[-1])['ref']}/explain")
        expect(page.locator("main")).to_contain_text("not read yet")
        wait_until_live(page)
        mark_page(page)
        lock.execute("ROLLBACK")

    expect(page.locator(".verdict")).to_contain_text("recorded when it happened", timeout=30_000)
    assert is_same_page(page)
    expect(page.locator("#live-state")).to_be_hidden()


def test_without_the_stream_the_page_asks_and_says_so(windows: Windows, house: House) -> None:
    windows.may_complain = True
    slug = house.take_project(DONE)
    page = windows.open("/login", "alice")
    page.clock.install()
    page.route("**/live", lambda route: route.abort())
    page.goto(f"/p/{slug}/receipts")
    expect(page.locator("#live-state")).to_contain_text("asking every 15 s")

    house.send(slug, kind="fail", job={"task": "mail.bounced"})
    house.wait_until_derived(slug)
    page.clock.run_for(16_000)

    expect(page.locator("#rows")).to_contain_text("mail.bounced", timeout=SOON_MS)


def test_a_paused_page_stands_still_and_catches_up(windows: Windows, house: House) -> None:
    slug = house.take_project(DONE)
    page = windows.open(f"/p/{slug}/receipts")
    wait_until_live(page)
    page.click("#live-pause")

    house.send(slug, kind="fail", job={"task": "mail.bounced"})
    expect(page.locator("#live-state")).to_contain_text("newer in the log", timeout=SOON_MS)
    assert "mail.bounced" not in page.inner_text("#rows")
    page.click("#live-pause")

    expect(page.locator("#rows")).to_contain_text("mail.bounced", timeout=SOON_MS)


def test_the_keyboard_keeps_its_row_when_rows_come(windows: Windows, house: House) -> None:
    slug = house.take_project(DONE)
    page = windows.open(f"/p/{slug}/receipts")
    wait_until_live(page)
    page.keyboard.press("j")
    before = page.evaluate("document.activeElement.closest('tr').id")

    house.send(slug, kind="fail", job={"task": "mail.bounced"})
    expect(page.locator("#rows")).to_contain_text("mail.bounced", timeout=SOON_MS)

    assert page.evaluate("document.activeElement.closest('tr')?.id") == before


def test_older_rows_change_the_address_and_back_shows_a_whole_page(windows: Windows) -> None:
    page = windows.open("/p/orders/receipts")
    first = page.locator("tr[data-row]").first.get_attribute("id")

    page.click(".pager >> text=Older")
    page.wait_for_url("**cursor=*")
    expect(page.locator("tr[data-row]").first).not_to_have_attribute("id", str(first))
    page.goto("/p/orders/tasks")
    page.go_back()
    expect(page.locator("header.top")).to_have_count(1)
    expect(page.locator("header.top")).to_be_visible()
    page.go_back()

    expect(page.locator("tr[data-row]").first).to_have_attribute("id", str(first))
    expect(page.locator("header.top")).to_have_count(1)


def test_a_part_and_a_whole_page_are_told_apart_by_every_cache(house: House) -> None:
    cookies = {one["name"]: one["value"] for one in house.cookies["alice"]}
    with httpx.Client(base_url=house.url, cookies=cookies, timeout=60) as client:
        for tail in ("", "receipts", "quarantine"):
            whole = client.get(f"/p/orders/{tail}")
            part = client.get(f"/p/orders/{tail}", headers={"HX-Request": "true"})

            assert "HX-Request" in whole.headers["vary"]
            assert "HX-Request" in part.headers["vary"]
            assert "<!doctype html>" in whole.text
            assert "<!doctype html>" not in part.text


def test_a_page_without_a_live_part_is_given_whole(house: House) -> None:
    cookies = {one["name"]: one["value"] for one in house.cookies["alice"]}
    headers = {"HX-Request": "true"}

    answer = httpx.get(f"{house.url}/p/orders/tasks", cookies=cookies, headers=headers, timeout=60)

    assert answer.status_code == 200
    assert "<!doctype html>" in answer.text


def test_a_stream_is_given_back_when_its_page_is_left(windows: Windows, house: House) -> None:
    for _ in range(9):
        page = windows.open("/p/orders/receipts")
        wait_until_live(page)
        page.goto("/p/orders/tasks")

    page.goto("/p/orders/receipts")
    wait_for(lambda: page.locator("#live-state").get_attribute("data-state") == "open")
