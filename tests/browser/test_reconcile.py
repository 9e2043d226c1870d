"""A list is brought to the page as a file, with and without scripts, and can be printed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.browser.conftest import Windows
from tests.browser.house import House

pytestmark = pytest.mark.slow


@pytest.fixture
def expected(tmp_path: Path) -> Path:
    path = tmp_path / "expected.csv"
    path.write_text("payout_id,amount\nPO-88213,5\nPO-none,7\n", encoding="utf-8")
    return path


@pytest.mark.parametrize("js", [True, False])
def test_a_file_is_brought_and_each_count_leads_to_its_list(
    js: bool, windows: Windows, house: House, expected: Path
) -> None:
    page = windows.open("/p/orders/reconcile", js=js)

    page.get_by_label("What the objects are").fill("payout")
    page.get_by_label("A CSV file").set_input_files(expected)
    page.get_by_label("Judge also where senders").check()
    page.get_by_role("button", name="Show what became of them").click()

    page.get_by_role("link", name="1 nothing recorded").click()
    assert page.url.endswith("#nothing_recorded")
    assert "PO-none" in page.inner_text("#nothing_recorded")
    page.locator("#done").get_by_role("link", name="PO-88213").click()
    assert page.url.endswith("/subjects/payout/PO-88213")


@pytest.mark.parametrize("form", ["As CSV", "As JSON"])
def test_the_same_list_comes_back_as_a_file(
    form: str, windows: Windows, house: House, expected: Path
) -> None:
    page = windows.open("/p/orders/reconcile")
    page.get_by_label("What the objects are").fill("payout")
    page.get_by_label("A CSV file").set_input_files(expected)

    with page.expect_download() as downloading:
        page.get_by_role("button", name=form).click()

    text = Path(downloading.value.path()).read_text(encoding="utf-8")
    is_csv = form == "As CSV"
    rows = list(csv.DictReader(io.StringIO(text))) if is_csv else json.loads(text)["items"]
    assert [row["id"] for row in rows] == ["PO-88213", "PO-none"]


def test_a_printed_result_has_no_form(windows: Windows, house: House) -> None:
    page = windows.open("/p/orders/reconcile?type=payout&unnumbered=1&id=PO-88213&id=PO-none")

    page.emulate_media(media="print")

    assert page.locator("#nothing_recorded").is_visible()
    assert not page.locator("#list").is_visible()
