"""How long a browser takes to draw the timeline of a bus, and to draw it again when zoomed.

    python bench/timeline_draw.py --points 4800 20000 --findings 200
    python bench/timeline_draw.py --document timeline.json

The page, its scripts and its data are handed to the browser without a server, so that only drawing
is timed: from the data in memory to the painted canvas and its marks.
"""

from __future__ import annotations

import argparse
import json
import mimetypes
import statistics
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

sys.path[0] = str(Path(__file__).resolve().parent.parent)

from playwright.sync_api import Browser, Page, Route  # noqa: E402

from bench.table import Table  # noqa: E402
from tests.architecture import ROOT  # noqa: E402
from tests.browser.timelines import story  # noqa: E402
from tests.chromium import launch  # noqa: E402

HOST = "http://bench.invalid"
AIM_MS = 150.0
FIRST, AGAIN = "timeline first drawn", "timeline drawn"


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--points", type=int, nargs="+", default=[4_800, 20_000])
    parser.add_argument("--findings", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument(
        "--document", type=Path, help="draw an answer of /buses/ID/timeline instead"
    )
    given = parser.parse_args()
    told = [json.loads(given.document.read_text())] if given.document else []
    with launch() as browser:
        for document in told or (story(points, given.findings) for points in given.points):
            points = sum(len(band["t"]) for band in document["bands"])
            found = len(document["findings"])
            table = Table(f"{points:,} points, {found:,} findings, 1,280 px")
            _measure(table, browser, document, given.rounds)


def _measure(table: Table, browser: Browser, document: dict[str, Any], rounds: int) -> None:
    page = browser.new_page(viewport={"width": 1_280, "height": 900})
    page.route("**/*", _answerer(_page_of(document), document))
    first, again = [], []
    for _ in range(rounds):
        page.goto(f"{HOST}/bus")
        page.wait_for_function(f"performance.getEntriesByName('{FIRST}').length > 0")
        first += _durations(page, FIRST)
        page.locator("[data-part=stage]").focus()
        page.evaluate("performance.clearMeasures()")
        page.keyboard.press("+")
        page.wait_for_function(f"performance.getEntriesByName('{AGAIN}').length > 0")
        again += _durations(page, AGAIN)[:1]
    median = statistics.median(first)
    table.note("first draw, median", f"{median:.0f} ms", "<= 150 ms", median <= AIM_MS)
    table.note("  greatest", f"{max(first):.0f} ms")
    table.note("zoom, median", f"{statistics.median(again):.0f} ms")
    page.close()


def _durations(page: Page, name: str) -> list[float]:
    found: list[float] = page.evaluate(
        "(name) => performance.getEntriesByName(name).map((one) => one.duration)", name
    )
    return found


def _page_of(document: dict[str, Any]) -> str:
    """Write the page as the server does, around a bus that is made up."""
    import django

    import tests.settings  # noqa: F401

    django.setup()
    from django.template.loader import render_to_string

    from events.drawing import timeline_of

    context = {
        "bus": document["bus"],
        "timeline": document,
        "drawing": timeline_of(document, {}),
        "timeline_json_url": "/timeline.json",
    }
    return render_to_string("events/bus.html", context)


def _answerer(page: str, document: dict[str, Any]) -> Any:
    def answer(route: Route) -> None:
        path = urlsplit(route.request.url).path
        if path == "/bus":
            route.fulfill(body=page, content_type="text/html; charset=utf-8")
        elif path == "/timeline.json":
            route.fulfill(json=document)
        elif path.startswith("/static/"):
            kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
            route.fulfill(path=ROOT / path.removeprefix("/"), content_type=kind)
        else:
            route.fulfill(status=404)

    return answer


if __name__ == "__main__":
    main()
