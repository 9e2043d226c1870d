"""The quieter pages about buses, in both themes, wide and narrow: drawn, accessible, unscrolled."""

from __future__ import annotations

from pathlib import Path

import pytest

from events.domain.told import names
from tests import buses
from tests.browser.conftest import NARROW, Windows
from tests.browser.history import SCRIPT
from tests.browser.house import House, wait_for
from tests.browser.test_looks import read_overflow, read_violations, take_picture
from tests.http import events_house
from tests.http.events_house import BUS, INSTALLATION, OTHER

pytestmark = pytest.mark.slow

ODD = names.bus_id(SCRIPT, SCRIPT)
PAGES = (
    "installations",
    f"installations/{INSTALLATION}",
    f"installations/{names.installation_id('i3')}",
    f"installations/{INSTALLATION}/rollout",
    f"installations/{INSTALLATION}/resets",
    f"installations/{INSTALLATION}/resets?reason=nothing",
    f"installations/{INSTALLATION}/resumes",
    f"installations/{INSTALLATION}/resumes?code=NEEDLESS_RESYNC",
    f"buses/{BUS}/findings",
    f"buses/{BUS}/findings?code=RESET_NO_EPOCH",
    f"buses/{BUS}/findings?severity=critical&lane=none",
    f"lanes/{OTHER}",
    f"buses/{ODD}",
    f"buses/{ODD}/findings",
)


@pytest.fixture(scope="module")
def project(house: House) -> str:
    """Give a project of three installations, one with a roll, and names that mean harm."""
    token = "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e0f"
    fed = buses.run(range(1, 20), 0, epoch=token)
    odd = buses.run([1, 2, 4], 0, scope=SCRIPT, title=SCRIPT)
    slug = house.take_project(
        *events_house.story(),
        *events_house.replicas(),
        *events_house.answers(),
        events_house.keys(),
        *(one for name in ("i2", "i3")
          for one in buses.segments(fed, bus="watch", profile="watch", installation=name)),
        *buses.segments(odd, bus=SCRIPT, profile="watch", installation=SCRIPT, replica=SCRIPT),
    )  # fmt: skip
    wait_for(lambda: not house.read(slug, "installations")["window"]["lag"])
    return slug


@pytest.mark.parametrize("tail", PAGES)
def test_a_page_can_be_read_by_all_in_every_theme_and_width(
    tail: str, windows: Windows, project: str, tmp_path: Path
) -> None:
    page = windows.open(f"/p/{project}/{tail}", reduced_motion="reduce")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")

    faults = {"wide, light": read_violations(page) + read_overflow(page)}
    take_picture(page, tmp_path / "light.png")
    page.emulate_media(color_scheme="dark")
    faults["wide, dark"] = read_violations(page, colours_only=True)
    page.set_viewport_size({"width": NARROW, "height": 800})
    faults["narrow, dark"] = read_violations(page) + read_overflow(page)
    take_picture(page, tmp_path / "narrow.png")

    assert {view: found for view, found in faults.items() if found} == {}


def test_the_page_of_a_project_without_a_bus_tells_how_to_begin(windows: Windows) -> None:
    page = windows.open("/p/empty/installations")

    assert "No bus is watched" in page.locator("main").inner_text()
    assert read_violations(page) + read_overflow(page) == []


def test_a_finding_is_reached_from_its_list_and_leads_to_the_timeline(
    windows: Windows, project: str
) -> None:
    page = windows.open(f"/p/{project}/buses/{BUS}/findings?code=RESET_NO_EPOCH")

    page.locator("a.row-link").first.click()
    page.get_by_role("link", name="The timeline a minute around it").click()

    assert f"/buses/{BUS}?from=" in page.url
    assert page.locator("h1").inner_text() == "activity of i1"
