"""An open bus follows the log where it ends now, and keeps what its reader chose meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from events.domain.records import BARE
from events.domain.rows import Row
from events.domain.segments import Builder, Lane
from events.domain.times import micros
from tests.browser.conftest import Windows
from tests.browser.house import House, wait_for
from tests.browser.test_live import SOON_MS, is_same_page, mark_page, wait_until_live

pytestmark = pytest.mark.slow

FIGURE, STAGE = "[data-timeline]", "[data-part=stage]"
STEP = 20_000
LATER_MS = 2 * SOON_MS
NAME = ".stage .band-name text"


@dataclass
class Bus:
    """A bus of one replica that goes on while a page shows it."""

    house: House
    project: str
    at: datetime
    builder: Builder = field(
        default_factory=lambda: Builder(Lane("inst-b", "activity", "r1", "bare", "0000-1"))
    )

    def tell(self, first: int, last: int, seconds: float = 5) -> None:
        """Let messages come, close together, that end some seconds later."""
        at = micros(self.at + timedelta(seconds=seconds)) - (last - first) * STEP
        for number in range(first, last + 1):
            row = Row(at, BARE, None, number, "ws-1", f"print-{number}-{at}", 40, "{}")
            assert self.builder.add(row) is None
            at += STEP
        self.at += timedelta(seconds=seconds)
        made = self.builder.close()
        assert made is not None
        self.house.load(self.project, [made.raw])
        wait_for(lambda: self.house.has_buses(self.project))

    @property
    def address(self) -> str:
        found: Any = self.house.read(self.project, "installations")
        return f"/p/{self.project}/buses/{found['items'][0]['buses'][0]['id']}"


@pytest.fixture
def bus(house: House) -> Iterator[Bus]:
    found = Bus(house, house.take_project(), datetime.now(UTC) - timedelta(minutes=5))
    found.tell(100, 130, 60)
    yield found


def open_live(windows: Windows, address: str) -> Page:
    page = windows.open(address)
    expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
    wait_until_live(page)
    expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
    mark_page(page)
    return page


def settle(page: Page) -> None:
    page.wait_for_function(
        "() => document.querySelector('[data-timeline]').dataset.state === 'settled'"
    )


def test_what_comes_is_drawn_listed_and_tabled_without_a_reload(windows: Windows, bus: Bus) -> None:
    page = open_live(windows, bus.address)
    page.click("summary:has-text('The same as tables')")
    expect(page.locator(NAME)).to_contain_text("100…130")

    bus.tell(131, 150)
    expect(page.locator(NAME)).to_contain_text("100…150", timeout=LATER_MS)
    bus.tell(1, 6, 60)

    expect(page.locator(NAME)).to_have_count(2, timeout=LATER_MS)
    expect(page.locator(".findings")).to_contain_text("counter restarted", timeout=LATER_MS)
    expect(page.locator(".verdict")).to_contain_text("1 finding")
    expect(page.locator("#timeline-table tbody").first).to_contain_text("space 2")
    expect(page.locator("#timeline-table table").first).to_be_visible()
    assert is_same_page(page)


def test_a_part_that_does_not_end_now_stays_and_so_do_focus_and_choice(
    windows: Windows, bus: Bus
) -> None:
    bus.tell(1, 6, 30)
    page = open_live(windows, bus.address)
    page.locator(STAGE).focus()
    page.keyboard.press("n")
    page.keyboard.press("+")
    page.keyboard.press("+")
    settle(page)
    span, chosen = page.inner_text("[data-part=span]"), page.inner_text("#finding")

    bus.tell(7, 20)
    expect(page.locator("#rows .replicas")).to_contain_text("up to 20", timeout=LATER_MS)
    bus.tell(21, 40)
    expect(page.locator("#rows .replicas")).to_contain_text("up to 40", timeout=LATER_MS)
    settle(page)

    assert page.inner_text("[data-part=span]") == span
    assert page.inner_text("#finding") == chosen
    assert page.evaluate("document.activeElement.dataset.part") == "stage"
    page.keyboard.press("Escape")
    expect(page.locator(NAME).last).to_contain_text("1…40", timeout=LATER_MS)


def test_a_part_that_ends_now_moves_along_and_keeps_its_length(windows: Windows, bus: Bus) -> None:
    begin = bus.at - timedelta(milliseconds=200)
    page = open_live(windows, f"{bus.address}?from={begin:%Y-%m-%dT%H:%M:%S.%fZ}")
    settle(page)
    before, lasts = page.inner_text("[data-part=span]").split(" UTC, ")

    bus.tell(131, 150)

    expect(page.locator("[data-part=span]")).not_to_contain_text(before, timeout=LATER_MS)
    expect(page.locator("[data-part=span]")).to_contain_text(lasts)


def test_a_mark_that_has_the_focus_keeps_it(windows: Windows, bus: Bus) -> None:
    bus.tell(1, 6, 30)
    page = open_live(windows, bus.address)
    page.locator(".stage .finding").click()

    bus.tell(7, 20)
    expect(page.locator(NAME).last).to_contain_text("1…20", timeout=LATER_MS)
    settle(page)

    focused = page.locator(".stage .finding:focus")
    expect(focused).to_have_attribute("data-finding", page.url.rpartition("finding=")[2])


def test_a_paused_bus_stands_still_and_catches_up(windows: Windows, bus: Bus) -> None:
    page = open_live(windows, bus.address)
    page.locator("h1").click()
    page.click("#live-pause")

    bus.tell(131, 150)
    expect(page.locator("#live-state")).to_contain_text("newer in the log", timeout=SOON_MS)
    assert "100…130" in page.inner_text(FIGURE)
    page.click("#live-pause")

    expect(page.locator(NAME)).to_contain_text("100…150", timeout=LATER_MS)


def test_a_time_that_the_address_pins_does_not_follow(windows: Windows, bus: Bus) -> None:
    page = windows.open(f"{bus.address}?from=2h&to={bus.at:%Y-%m-%dT%H:%M:%SZ}")

    expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
    expect(page.locator("#live-state")).to_be_hidden()


def test_a_bus_is_a_plain_page_without_a_script(windows: Windows, bus: Bus) -> None:
    page = windows.open(bus.address, js=False)

    expect(page.locator("svg.bands .band")).to_have_count(1)
    expect(page.locator(".replicas")).to_contain_text("up to 130")
