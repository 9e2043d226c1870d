"""The key lab and keys in a browser: drawn for all, by keyboard, and without JavaScript."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kit import ids
from tests.browser.conftest import NARROW, Windows
from tests.browser.history import LONG, OBAN, SCRIPT, WORKER
from tests.browser.house import House
from tests.browser.test_looks import read_overflow, read_violations, take_picture

pytestmark = pytest.mark.slow

TRIED = "simulate?fields=scope%2C+invoke_id&b_fields=scope%2C+invoke_id%2C+macrostep"


def told(now: datetime) -> list[dict[str, Any]]:
    """Tell of a re-entry, a skip across generations, a dead holder and text that means harm."""

    def body(kind: str, minutes: float, recipe: str, fields: dict[str, Any], **more: Any) -> Any:
        at = (now - timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")
        key = {"recipe": recipe, "version": "1", "fields": fields}
        return {"kind": kind, "occurred_at": at, "source": OBAN, "key": key, **more}

    def call(kind: str, minutes: float, macrostep: int, **more: Any) -> Any:
        fields = {"scope": "exec_b0", "invoke_id": "resolve", "macrostep": macrostep}
        job = {"task": WORKER, "queue": "q"} | more.pop("job", {})
        return body(kind, minutes, "statifier.invoke", fields, job=job, **more)

    beat = {"kind": "heartbeat", "source": OBAN, "job": {"id": "900"}, "period_s": 30}
    return [
        call("enqueue", 60, 2, job={"id": "102"}),
        call("skip", 58, 2, reason="already_done", original={"job": "102"}),
        call("enqueue", 50, 5, job={"id": "104"}),
        call("skip", 40, 9, reason="already_done", original={"job": "102"}),
        body("start", 30, "import", {"file": "a.csv"}, job={"id": "900", "task": "import"}),
        {**beat, "occurred_at": (now - timedelta(minutes=29)).isoformat()},
        body("skip", 5, "import", {"file": "a.csv"}, reason="in_flight", original={"job": "900"}),
        body("start", 4, SCRIPT, {"odd": SCRIPT, LONG: LONG}, job={"id": "901", "task": LONG}),
    ]


@pytest.fixture
def project(house: House) -> str:
    return house.take_project(*told(datetime.now(UTC)))


def key_of(house: House, project: str, recipe: str) -> str:
    (key,) = house.read(project, f"keys?recipe={recipe}&q=key.file:a.csv")["items"]
    return f"keys/{ids.segment(recipe)}/{key['digest']}"


def test_the_lab_and_keys_can_be_read_by_all_in_every_theme_and_width(
    windows: Windows, house: House, project: str, tmp_path: Path
) -> None:
    faults: dict[str, list[str]] = {}
    tails = ["simulate", TRIED, "keys", "keys?gone=1", key_of(house, project, "import")]
    for number, tail in enumerate(tails):
        page = windows.open(f"/p/{project}/{tail}", reduced_motion="reduce")
        faults[f"{tail} wide"] = read_violations(page) + read_overflow(page)
        take_picture(page, tmp_path / f"{number}-light.png")
        page.emulate_media(color_scheme="dark")
        faults[f"{tail} dark"] = read_violations(page, colours_only=True)
        take_picture(page, tmp_path / f"{number}-dark.png")
        page.set_viewport_size({"width": NARROW, "height": 800})
        faults[f"{tail} narrow"] = read_violations(page) + read_overflow(page)
        take_picture(page, tmp_path / f"{number}-narrow.png")

    assert {view: found for view, found in faults.items() if found} == {}


def test_a_recipe_is_tried_by_keyboard_without_javascript_and_the_result_is_a_link(
    windows: Windows, project: str
) -> None:
    page = windows.open(f"/p/{project}/simulate", js=False)

    page.get_by_label("Fields").first.fill("scope, invoke_id")
    page.get_by_label("Fields").first.press("Enter")

    page.get_by_text("1 that ran would have been skipped").wait_for()
    assert "fields=scope%2C+invoke_id" in page.url
    page.locator("a.row-link[data-go=explain]").first.click()
    assert page.url.endswith("/explain")
    again = windows.open(page.url.split("/receipts")[0] + "/" + TRIED, js=False)
    assert again.get_by_text("differs in macrostep (2 there, 5 here)").count() == 1


def test_a_dead_holder_is_found_and_its_release_noted(
    windows: Windows, house: House, project: str
) -> None:
    page = windows.open(f"/p/{project}/keys?gone=1", js=False)
    page.get_by_role("link", name="file a.csv").click()
    assert page.get_by_text("it may be silent for 30 s, as its heartbeats say").count() == 1
    assert page.get_by_text("Oban.cancel_job(900)").count() == 1

    page.get_by_label("Why it is released").fill("the node is dead")
    page.get_by_role("button", name="Note it in the log").click()

    page.get_by_text("A release was noted").wait_for()
    page.goto(f"/p/{project}/keys?gone=1")
    assert page.get_by_text("No holder is gone").count() == 1
