"""What people see who may not see: nothing of another's project, no forms beyond their right."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Windows
from tests.browser.house import House

pytestmark = pytest.mark.slow

TAILS = ("", "receipts", "receipts/n0", "quarantine", "tasks", "tokens", "members", "live")


@pytest.mark.parametrize("tail", TAILS)
def test_a_stranger_cannot_tell_another_project_from_none(tail: str, windows: Windows) -> None:
    windows.may_complain = True
    page = windows.open("/projects", "charlie")

    pages = []
    for slug in ("orders", "no-such-one"):
        answer = page.goto(f"/p/{slug}/{tail}")
        assert answer is not None
        assert answer.status == 404
        # The request's id and the form's token are new in every answer.
        text = re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", answer.text())
        text = re.sub(r"request <span[^>]*>[^<]+", "", text)
        pages.append(text.replace(slug, "SLUG"))

    assert pages[0] == pages[1]


def test_a_person_without_a_login_is_led_to_it_and_back(windows: Windows) -> None:
    page = windows.open("/p/orders/receipts?q=kind:skip", "")

    assert "/login?next=" in page.url
    expect(page.locator("h1")).to_have_text("Log in")


@pytest.mark.parametrize("tail", ["", "quarantine", "members"])
def test_a_viewer_sees_no_form_that_acts(tail: str, windows: Windows) -> None:
    page = windows.open(f"/p/orders/{tail}", "bob")

    expect(page.locator("main form")).to_have_count(0)
    expect(page.locator("main")).not_to_contain_text("acknowledge it")


def test_a_viewer_sees_no_tokens(windows: Windows) -> None:
    windows.may_complain = True
    page = windows.open("/p/orders/tokens", "bob")

    expect(page.locator("main")).to_contain_text("You may not do this")


def test_a_form_made_by_hand_is_refused(windows: Windows, house: House) -> None:
    windows.may_complain = True
    page = windows.open("/p/orders/quarantine", "bob")
    ref = house.read("orders", "quarantine")["items"][0]["ref"]
    token = page.locator("[name=csrfmiddlewaretoken]").first.get_attribute("value") or ""
    form = {"csrfmiddlewaretoken": token, "reason": "because"}

    answers = [
        page.request.post(f"/p/orders/{tail}", form=form).status
        for tail in (f"quarantine/{ref}/redrive", f"quarantine/{ref}/close")
    ]
    item = windows.open("/p/orders/").locator(".attn li").first.get_attribute("id") or ""
    address = f"/p/orders/attention/{item.removeprefix('attn-')}/acknowledge"
    answers.append(page.request.post(address, form=form).status)

    assert answers == [403, 403, 403]


def test_without_the_forms_own_token_nothing_is_done(windows: Windows, house: House) -> None:
    windows.may_complain = True
    page = windows.open("/p/orders/quarantine", "alice")
    ref = house.read("orders", "quarantine")["items"][0]["ref"]

    answer = page.request.post(f"/p/orders/quarantine/{ref}/close", form={"reason": "because"})

    assert answer.status == 403
    assert all(one["state"] == "open" for one in house.read("orders", "quarantine")["items"])
