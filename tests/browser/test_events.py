"""A bus and its lanes in a browser: drawn for all, moved by keys, and whole without a script."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from events.twin import time_of
from tests.browser import bus_story, history, timelines
from tests.browser.conftest import NARROW, Windows
from tests.browser.house import House, wait_for
from tests.browser.test_looks import read_overflow, read_violations, take_picture

pytestmark = pytest.mark.slow

DRAW_MS = 150
FIGURE, STAGE = "[data-timeline]", "[data-part=stage]"


@pytest.fixture(scope="module")
def project(house: House) -> str:
    """Give a project with a bus whose story is known."""
    return house.take_project(*bus_story.bodies(datetime.now(UTC)))


@pytest.fixture(scope="module")
def bus(house: House, project: str) -> Any:
    """Give the document of the bus."""
    wait_for(lambda: house.has_buses(project))
    (installation,) = house.read(project, "installations")["items"]
    (bus,) = installation["buses"]
    return house.read(project, f"buses/{bus['id']}")


@pytest.fixture
def address(project: str, bus: Any) -> str:
    return f"/p/{project}/buses/{bus['id']}"


def lane_of(bus: Any, replica: str) -> str:
    found: str = next(one["id"] for one in bus["lanes"] if one["replica"] == replica)
    return found


def tell(page: Page, document: dict[str, Any]) -> list[str]:
    """Answer for the server with a timeline that is made up; note what was asked for."""
    asked: list[str] = []

    def answer(route: Route) -> None:
        asked.append(route.request.url)
        route.fulfill(json=cut(document, route.request.url))

    page.route("**/timeline.json*", answer)
    return asked


def cut(document: dict[str, Any], url: str) -> dict[str, Any]:
    """Give the part of a timeline that an address asks for."""
    query = parse_qs(urlsplit(url).query)
    if "from" not in query:
        return document
    begun = time_of(document["from"])
    first, last = ((time_of(query[name][0]) - begun).total_seconds() * 1_000
                   for name in ("from", "to"))  # fmt: skip
    found: dict[str, Any] = json.loads(json.dumps(document))
    found |= {"from": query["from"][0], "to": query["to"][0]}
    for band in found["bands"]:
        inside = [place for place, at in enumerate(band["t"]) if first <= at <= last]
        band |= {name: [band[name][place] for place in inside] for name in ("lo", "hi", "n")}
        band["t"] = [band["t"][place] - first for place in inside]
    kept = [one for one in found["findings"] if first <= one["at_ms"] <= last]
    found["findings"] = [one | {"at_ms": one["at_ms"] - first} for one in kept]
    found |= {"phases": [], "holes": [], "clusters": []}
    for strip in found["strips"]:
        strip |= {"bars": [], "resumes": []}
    return found


def open_drawn(windows: Windows, address: str, **more: Any) -> Page:
    page = windows.open(address, **more)
    expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
    return page


@pytest.mark.parametrize(
    "tail",
    ["bus", "lanes/r2/buffer?limit=8&beside=r1", "lanes/r2/resume", "lanes/r2/resume?cursor=5"],
)
def test_a_page_can_be_read_by_all_in_every_theme_and_width(
    tail: str, windows: Windows, project: str, address: str, bus: Any, tmp_path: Path
) -> None:
    for replica in ("r1", "r2"):
        tail = tail.replace(replica, lane_of(bus, replica))
    page = windows.open(
        address if tail == "bus" else f"/p/{project}/{tail}", reduced_motion="reduce"
    )
    if tail == "bus":
        expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")

    faults = {"wide, light": read_violations(page) + read_overflow(page)}
    take_picture(page, tmp_path / "light.png")
    page.emulate_media(color_scheme="dark")
    faults["wide, dark"] = read_violations(page, colours_only=True)
    take_picture(page, tmp_path / "dark.png")
    page.set_viewport_size({"width": NARROW, "height": 800})
    faults["narrow, dark"] = read_violations(page) + read_overflow(page)
    take_picture(page, tmp_path / "narrow.png")

    assert {view: found for view, found in faults.items() if found} == {}


def test_the_servers_drawing_can_be_read_by_all(windows: Windows, address: str) -> None:
    windows.may_complain = True
    page = windows.open("/p/orders/")
    page.route("**/timeline/main.js", lambda route: route.abort())
    page.goto(address)

    expect(page.locator("svg.bands")).to_be_visible()
    assert read_violations(page) + read_overflow(page) == []


def test_the_bands_are_stacked_in_order_of_birth(windows: Windows, address: str) -> None:
    page = open_drawn(windows, address)

    names = page.locator(".stage .band-name text").all_text_contents()

    assert ["epoch 8" in names[-1], "epoch 7" in names[-2]] == [True, True]
    tops = [
        float(one.get_attribute("y") or 0) for one in page.locator(".stage .band-name text").all()
    ]
    assert tops == sorted(tops, reverse=True)


def test_ids_beyond_what_numbers_hold_come_through_unchanged(
    windows: Windows, address: str
) -> None:
    page = open_drawn(windows, address)

    expect(page.locator(".stage .band-name", has_text="epoch 8")).to_contain_text(
        f"{bus_story.LARGE:,}"
    )
    page.locator(STAGE).focus()
    page.keyboard.press("End")
    last = bus_story.LARGE + 20 * bus_story.EACH - 1
    expect(page.locator("[data-part=reading]")).to_contain_text(str(last))


def test_n_reaches_every_one_of_200_findings_and_p_goes_back(
    windows: Windows, address: str
) -> None:
    document = timelines.story(findings=200)
    page = windows.open("/p/orders/")
    tell(page, document)
    page.goto(address)
    expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
    page.locator(STAGE).focus()

    seen = [press(page, "n") for _ in range(200)]
    again = [press(page, "p") for _ in range(199)]

    assert seen == [one["id"] for one in document["findings"]]
    assert again == seen[-2::-1]


def press(page: Page, key: str) -> str:
    """Press a key and give the finding that is chosen then."""
    page.keyboard.press(key)
    found: str = page.evaluate("new URLSearchParams(location.search).get('finding')")
    return found


def test_n_goes_through_clusters_too(windows: Windows, address: str) -> None:
    whole = timelines.story(findings=40)
    first, rest = whole["findings"][:10], whole["findings"][10:]
    rest = [one | {"code": "GAP"} for one in rest]
    cluster = {
        "from_ms": rest[0]["at_ms"],
        "to_ms": rest[-1]["at_ms"],
        "count": len(rest),
        "code": "GAP",
    }
    clustered = whole | {"findings": first, "clusters": [cluster]}
    page = windows.open("/p/orders/")

    def answer(route: Route) -> None:
        is_whole = "from=" not in route.request.url
        full = whole | {"findings": first + rest}
        route.fulfill(json=clustered if is_whole else cut(full, route.request.url))

    page.route("**/timeline.json*", answer)
    page.goto(address)
    expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
    page.locator(STAGE).focus()

    seen: list[str] = []
    for _ in range(40):
        page.keyboard.press("n")
        page.wait_for_function(
            "(last) => new URLSearchParams(location.search).get('finding') !== last",
            arg=seen[-1] if seen else None,
        )
        seen.append(page.evaluate("new URLSearchParams(location.search).get('finding')"))

    assert seen == [one["id"] for one in first + rest]


@pytest.mark.parametrize("number", [10, 25, 39])
def test_n_goes_on_from_a_finding_of_a_cluster_that_a_link_names(
    number: int, windows: Windows, address: str
) -> None:
    full = timelines.story(findings=40)
    told = [one | {"code": "GAP"} for one in full["findings"]]
    full |= {"findings": told}
    bounds = {"from_ms": told[10]["at_ms"], "to_ms": told[-1]["at_ms"]}
    clustered = full | {"findings": told[:10], "clusters": [{**bounds, "count": 30, "code": "GAP"}]}
    page = windows.open("/p/orders/")

    def answer(route: Route) -> None:
        url = route.request.url
        route.fulfill(json=cut(full, url) if "from=" in url else clustered)

    def tell_finding(route: Route) -> None:
        one = told[number]
        route.fulfill(json={**one, "finding": one["id"], "id": one["event_id"]})

    page.route("**/timeline.json*", answer)
    page.route("**/findings/*.json*", tell_finding)
    page.goto(f"{address}?finding={told[number]['id']}")
    expect(page.locator("#finding [data-say=sentence]")).to_have_text(told[number]["sentence"])
    page.locator(STAGE).focus()

    page.keyboard.press("p")

    expect(page.locator("#finding [data-say=place]")).to_have_text(f"{number} of 40")
    assert f"finding={told[number - 1]['id']}" in page.url


def test_4800_points_and_200_findings_are_drawn_in_150_ms(windows: Windows, address: str) -> None:
    page = windows.open("/p/orders/")
    tell(page, timelines.story(points=4_800, findings=200))
    took = []
    for _ in range(5):
        page.goto(address)
        expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
        page.wait_for_function(
            "() => performance.getEntriesByName('timeline first drawn').length > 0"
        )
        took.append(page.evaluate(
            "performance.getEntriesByName('timeline first drawn')[0].duration"
        ))  # fmt: skip

    assert min(took) <= DRAW_MS


def test_keys_zoom_move_and_come_back_and_the_range_is_in_the_address(
    windows: Windows, address: str
) -> None:
    page = open_drawn(windows, address)
    page.locator(STAGE).focus()

    page.keyboard.press("+")
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.querySelector('[data-timeline]').dataset.state === 'settled'"
    )
    zoomed = page.url
    page.keyboard.press("Escape")
    whole = page.url

    assert {"from", "to"} <= set(parse_qs(urlsplit(zoomed).query))
    assert "from" not in parse_qs(urlsplit(whole).query)
    expect(page.locator("#announce")).to_contain_text("The whole time is shown")


def test_a_drag_zooms_and_the_link_shows_the_same_again(windows: Windows, address: str) -> None:
    page = open_drawn(windows, address)
    box = page.locator(".u-over").bounding_box()
    assert box is not None
    middle = box["y"] + box["height"] - 30

    page.mouse.move(box["x"] + box["width"] * 0.5, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.8, middle, steps=4)
    page.mouse.up()
    page.wait_for_url("**from=*")
    span = page.inner_text("[data-part=span]")
    again = open_drawn(windows, page.url.removeprefix(windows.house.url))

    expect(again.locator("[data-part=span]")).to_have_text(span)


def test_the_brush_moves_the_window(windows: Windows, address: str) -> None:
    page = open_drawn(windows, address)
    page.locator("[data-part=overview]").scroll_into_view_if_needed()
    box = page.locator("[data-part=overview]").bounding_box()
    assert box is not None

    page.mouse.move(box["x"] + box["width"] - 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.6, box["y"] + 20, steps=4)
    page.mouse.up()

    page.wait_for_url("**to=*")
    assert "from" in parse_qs(urlsplit(page.url).query)


def test_what_a_publisher_wrote_is_drawn_as_text_and_never_run(
    windows: Windows, address: str
) -> None:
    document = timelines.story(points=120, findings=5)
    for band in document["bands"]:
        band |= {"label": f"{history.SCRIPT}\u202e", "replica": history.SCRIPT}
    for finding in document["findings"]:
        finding["sentence"] = f"{history.SCRIPT}\u202e"
    page = windows.open("/p/orders/")
    tell(page, document)
    page.goto(address)
    expect(page.locator(f"{FIGURE}.drawn")).to_be_visible()
    page.locator(STAGE).focus()
    press(page, "n")

    expect(page.locator("#finding")).to_contain_text(history.SCRIPT)
    expect(page.locator("[data-part=reading]")).to_contain_text(history.SCRIPT)
    assert page.locator(f"{FIGURE} script").count() == 0
    assert "\u202e" not in page.inner_text(FIGURE)


def test_a_bus_of_one_message_is_drawn(windows: Windows, address: str) -> None:
    document = timelines.story(points=24, findings=0)
    band = document["bands"][0] | {
        "t": [0],
        "lo": [0],
        "hi": [0],
        "n": [1],
        "last_at": timelines.at(0),
    }
    band |= dict.fromkeys(("first", "last", "least", "greatest", "base"), "5")
    bus = document["bus"] | {"last_at": timelines.at(0)}
    document |= {"bus": bus, "bands": [band], "to": timelines.at(0), "findings": []}
    page = windows.open("/p/orders/")
    tell(page, document)
    page.goto(address)

    expect(page.locator(".stage .band-name")).to_contain_text("5…5")


def test_more_id_spaces_than_are_drawn_are_counted(windows: Windows, address: str) -> None:
    document = timelines.story(points=24, findings=0)
    strip, band = document["strips"][0], document["bands"][0]
    document["strips"] = [strip]
    document["bands"] = [
        band
        | {"id": f"{band['lane']}/{n}", "ordinal": n, "epoch": str(n), "label": f"epoch {n}"}
        | {"born_at": timelines.at(n * 1_000)}
        for n in range(47)
    ]
    page = windows.open("/p/orders/")
    tell(page, document)
    page.goto(address)

    expect(page.locator(".stage .band-name")).to_have_count(40)
    expect(page.locator("[data-part=cut]")).to_contain_text("7 older are not")


def test_letters_are_left_to_the_page_when_keys_are_switched_off(
    windows: Windows, address: str
) -> None:
    page = open_drawn(windows, address)
    page.evaluate("localStorage.setItem('counterfoil.keys', 'off')")

    page.keyboard.press("n")

    assert "finding=" not in page.url


def test_the_bus_is_whole_without_a_script(windows: Windows, address: str) -> None:
    page = windows.open(address, js=False)

    assert page.locator(".needs-js:visible").count() == 0
    assert page.locator("svg.bands .band").count() == 4
    page.click("text=zoom in")
    assert {"from", "to"} <= set(parse_qs(urlsplit(page.url).query))
    page.click("text=whole")
    page.click("text=next finding")
    expect(page.locator("#finding")).to_be_visible()
    page.click("summary:has-text('The same as tables')")
    expect(page.locator("#timeline-table")).to_contain_text(str(f"{bus_story.LARGE:,}"))


def test_a_buffer_shows_what_is_missing_and_each_message_raw(
    windows: Windows, project: str, bus: Any
) -> None:
    lane = f"/p/{project}/lanes/{lane_of(bus, 'r2')}/buffer"
    page = windows.open(lane, js=False)

    expect(page.locator("#rows")).to_contain_text(f"{bus_story.LARGE:,}"[:16])
    page.locator("summary:has-text('raw, JSON, hex')").first.click()
    look = page.locator(".look-parts").first
    expect(look.locator(".wire-epoch")).to_have_text("8")
    expect(look.locator(".wire")).to_contain_text(history.SCRIPT)
    expect(look.locator(".tree")).to_contain_text("item_updated")
    expect(look.locator(".hex")).to_contain_text("0000")
    assert page.locator("#rows script, #rows img").count() == 0


def test_missing_ids_are_rows_that_say_who_has_them(
    windows: Windows, house: House, project: str, bus: Any
) -> None:
    lane = lane_of(bus, "r2")
    found = house.read(project, f"buses/{bus['id']}/timeline")
    (band,) = [one for one in found["bands"] if (one["lane"], one["epoch"]) == (lane, "7")]
    at = quote((time_of(band["born_at"]) + timedelta(seconds=5)).isoformat())

    page = windows.open(f"/p/{project}/lanes/{lane}/buffer?at={at}", js=False)

    lacking = page.locator(".buffer .lacking")
    expect(lacking).to_have_count(1)
    expect(lacking).to_contain_text(f"{bus_story.LOST} 1 id is not here: seen by r1 and r3 only")


def test_a_resume_is_tried_by_a_form_and_the_result_is_a_link(
    windows: Windows, project: str, bus: Any
) -> None:
    page = windows.open(f"/p/{project}/lanes/{lane_of(bus, 'r1')}/resume", js=False)

    page.get_by_label("Cursor").fill("5")
    page.get_by_label("Cursor").press("Enter")

    expect(page.locator(".answer.safe")).to_be_visible()
    assert "cursor=5" in page.url
    assert page.locator(".edges tbody tr").count() >= 6
    page.locator(".edges .row-link").last.click()
    expect(page.locator(".answer.safe")).to_be_visible()
