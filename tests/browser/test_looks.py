"""Every page in both themes, wide and narrow: drawn, accessible, and without sideways scroll."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from kit import ids
from tests.architecture import ROOT
from tests.browser import bus_story, feeds, history, shop
from tests.browser.conftest import NARROW, WIDE, Windows
from tests.browser.house import House

pytestmark = pytest.mark.slow

FOLDER = ROOT / "docs" / "screenshots"
KEPT = ("overview", "list", "explain", "quarantine", "bus", "lane")
TALLEST = 1_200
HEAVIEST = 300 * 1024
THEMES = ("light", "dark")
ODD_SUBJECT = ids.segment(history.SCRIPT)

PAGES = {
    "overview": "/p/orders/",
    "acknowledged": "/p/orders/?acknowledged=1",
    "list": "/p/orders/receipts",
    "no match": "/p/orders/receipts?q=task:nothing.like.it",
    "bad query": "/p/orders/receipts?q=colour:red",
    "nothing yet": "/p/empty/receipts",
    "nothing to do": "/p/empty/",
    "explain": "/p/orders/receipts/{mock skip}/explain",
    "explained by a rule": "/p/orders/receipts/{rate skip}/explain",
    "not found": "/p/orders/receipts/{lost skip}/explain",
    "found elsewhere": "/p/orders/receipts/{pending skip}/explain?elsewhere=1",
    "several candidates": "/p/orders/receipts/{two answers}/explain",
    "not here yet": "/p/orders/receipts/{pending skip}/explain",
    "explained work": "/p/orders/receipts/{mock start}/explain",
    "explained original": "/p/orders/receipts/{mock enqueue}/explain",
    "explained act": "/p/orders/receipts/{pause}/explain",
    "explained beat": "/p/orders/receipts/{lobby beat}/explain",
    "explained tally": "/p/orders/receipts/{tally}/explain",
    "quarantine": "/p/orders/quarantine",
    "contradictions": "/p/orders/contradictions",
    "one contradiction": "/p/orders/contradictions?invariant=original_succeeded",
    "no contradictions": "/p/empty/contradictions",
    "explained contradiction": "/p/orders/receipts/{failed skip}/explain",
    "receipt": "/p/orders/receipts/{mock skip}",
    "clash": "/p/orders/receipts/{clash}",
    "subject": "/p/orders/subjects/payout/PO-88213",
    "tasks": "/p/orders/tasks",
    "task": f"/p/orders/tasks/{ids.segment('stock.sync')}",
    "tasks of a shop": "/p/shop/tasks",
    "task in tallies": f"/p/shop/tasks/{ids.segment('mail.send')}",
    "policies": "/p/shop/policies",
    "no policies": "/p/empty/policies",
    "not recorded": "/p/shop/receipts/{ping-skip}/explain",
    "found in a tally": "/p/shop/receipts/{c1-skip}/explain",
    "announced policy": "/p/shop/receipts/{policy-1}/explain",
    "traced receipt": "/p/shop/receipts/{p1-enqueue}",
    "list of a shop": "/p/shop/receipts",
    "job run twice": "/p/shop/jobs/celery/shop/r1",
    "tallied job": "/p/shop/jobs/celery/shop/x1",
    "reconcile": "/p/orders/reconcile",
    "reconciled": "/p/orders/reconcile?type=payout&unnumbered=1&id=PO-88213&id=PO-9",
    "not watched": "/p/orders/reconcile?type=payout&from=2020-01-01&id=PO-88213",
    "nothing watched": "/p/empty/reconcile",
    "login": "/login",
    "producers": "/p/feeds/producers",
    "not complete": "/p/feeds/producers?incomplete=1",
    "no producers": "/p/empty/producers",
    "spool with a gap": f"/p/feeds/producers/{ids.segment(feeds.HOLED)}",
    "silent spool": f"/p/feeds/producers/{ids.segment(feeds.SILENT)}",
    "disputed spool": f"/p/feeds/producers/{ids.segment(feeds.DISPUTED)}",
    "whole spool": f"/p/feeds/producers/{ids.segment(feeds.WHOLE)}",
    "odd spool": f"/p/feeds/producers/{ids.segment(feeds.ODD)}",
    "not complete list": "/p/feeds/receipts",
    "silence in the overview": "/p/feeds/",
    "tokens": "/p/orders/tokens",
    "members": "/p/orders/members",
    "projects": "/projects",
    "odd list": "/p/odd/receipts",
    "odd script": "/p/odd/receipts/{harm 0}/explain",
    "odd rule": "/p/odd/receipts/{rule 1}/explain",
    "odd turned": "/p/odd/receipts/{harm 2}/explain",
    "odd unseen": "/p/odd/receipts/{rule 3}",
    "odd long": "/p/odd/receipts/{harm 4}/explain",
    "odd long rule": "/p/odd/receipts/{rule 4}/explain",
    "odd long receipt": "/p/odd/receipts/{rule 4}",
    "odd quotes": "/p/odd/receipts/{rule 5}/explain",
    "odd subject": f"/p/odd/subjects/order/{ODD_SUBJECT}",
    "odd contradictions": "/p/odd/contradictions",
    "odd reconciled": f"/p/odd/reconcile?type=order&unnumbered=1&id={quote(history.SCRIPT)}",
    "odd aside": "/p/odd/quarantine",
    "odd tasks": "/p/odd/tasks",
}
_BUS = (bus_story.INSTALLATION, bus_story.BUS)
PAGES_OF_BUSES = {
    "bus": f"/p/buses/buses/{ids.public_id('b', *_BUS)}",
    "lane": f"/p/buses/lanes/{ids.public_id('l', *_BUS, 'r2')}/buffer?limit=8",
}
"""Of these alone the pictures are taken here: test_events tries them."""
REFUSED = {"bad query"}
"""Pages whose answer is not 200, of which a browser complains."""


def address(house: House, page: str) -> str:
    """Give the address of a page, with the ref of the receipt that it names."""
    path = (PAGES | PAGES_OF_BUSES)[page]
    if "{" not in path:
        return path
    before, _, rest = path.partition("{")
    name, _, after = rest.partition("}")
    project = path.split("/")[2]
    receipt = name if project == shop.PROJECT else history.name_id(name)
    return before + house.ref_of(project, receipt) + after


def read_violations(page: Page, *, colours_only: bool = False) -> list[str]:
    """Run axe on a page as it stands; a theme changes nothing but colours."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    chosen = {"resultTypes": ["violations"]}
    if colours_only:
        chosen["runOnly"] = ["color-contrast"]
    found: Any = page.evaluate("(chosen) => axe.run(document, chosen)", chosen)
    return [
        f"{one['id']}: {node['html'][:200]} {node['failureSummary'][:300]}"
        for one in found["violations"]
        for node in one["nodes"][:3]
    ]


def read_overflow(page: Page) -> list[str]:
    """Name the elements that reach over the right edge of a page that scrolls sideways."""
    found: list[str] = page.evaluate(
        """() => document.documentElement.scrollWidth <= innerWidth ? [] :
           [...document.querySelectorAll("body *")]
             .filter((one) => one.getBoundingClientRect().right > innerWidth + 1)
             .map((one) => `${one.tagName}.${one.className} ${one.textContent.slice(0, 40)}`)"""
    )
    return found


def take_picture(page: Page, to: Path | None = None) -> bytes:
    """Draw a page from its top, as far down as a reader would look in a document."""
    height = page.evaluate("document.documentElement.scrollHeight")
    width = page.viewport_size["width"] if page.viewport_size else WIDE
    clip = {"x": 0, "y": 0, "width": width, "height": min(height, TALLEST)}
    return page.screenshot(path=to, full_page=True, clip=clip)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_can_be_read_by_all_in_every_theme_and_width(
    name: str, windows: Windows, house: House
) -> None:
    windows.may_complain = name in REFUSED
    # A colour that fades into another has, on its way, the contrast of neither.
    person = "" if name == "login" else "alice"
    page = windows.open(address(house, name), person, reduced_motion="reduce")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")

    found = {"wide, light": read_violations(page) + read_overflow(page)}
    page.emulate_media(color_scheme="dark")
    found["wide, dark"] = read_violations(page, colours_only=True)
    page.set_viewport_size({"width": NARROW, "height": 800})
    found["narrow, dark"] = read_violations(page) + read_overflow(page)
    page.emulate_media(color_scheme="light")
    found["narrow, light"] = read_violations(page, colours_only=True)

    assert {view: faults for view, faults in found.items() if faults} == {}


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("name", KEPT)
def test_the_pictures_of_the_documents_are_of_these_pages(
    name: str, theme: str, windows: Windows, house: House, tmp_path: Path
) -> None:
    kept = FOLDER / f"{name}-{theme}.png"
    is_writing = os.environ.get("COUNTERFOIL_WRITE_SCREENSHOTS") == "1"
    page = windows.open(address(house, name), theme=theme)
    if name == "bus":
        expect(page.locator("[data-timeline][data-state=settled]")).to_be_visible()

    take_picture(page, kept if is_writing else tmp_path / kept.name)

    assert kept.exists()
    assert kept.stat().st_size <= HEAVIEST


def test_what_a_producer_wrote_is_shown_and_never_run(windows: Windows, house: House) -> None:
    page = windows.open("/p/odd/receipts")

    assert history.SCRIPT in page.inner_text("#rows")
    assert page.locator("#rows script, #rows img").count() == 0
    assert page.locator("#rows .mark", has_text="U+202E").count() > 0


def test_the_two_sides_of_the_ticket_stand_on_one_line(windows: Windows, house: House) -> None:
    page = windows.open(address(house, "explain"))

    tops = [
        [round(one.bounding_box()["y"]) for one in page.locator(chosen).all()]  # type: ignore[index]
        for chosen in (
            ".ticket > section:first-of-type .rows > div",
            ".ticket > section:last-of-type .rows > div",
        )
    ]
    marks = [
        round(one.bounding_box()["y"])  # type: ignore[index]
        for one in page.locator(".perf li:not(.rule-name)").all()
    ]

    assert tops[0] == tops[1]
    assert len(tops[0]) == len(marks)
    assert all(abs(side - mark) <= 2 for side, mark in zip(tops[0], marks, strict=True))
