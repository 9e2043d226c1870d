"""Windows of a real browser onto a real server; each notes whatever a page complains of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, Response

from tests.browser.house import House
from tests.running import Counterfoil

WIDE, NARROW = 1280, 320


@pytest.fixture(scope="session")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """Give one running server with projects, people and histories to all browser tests."""
    with closing(Counterfoil(tmp_path_factory.mktemp("house") / "data")) as server:
        found = House(server.start())
        found.fill()
        yield found


@dataclass
class Windows:
    """Opens pages as people, and keeps what the pages complained of."""

    browser: Browser
    house: House
    complaints: list[str] = field(default_factory=list)
    may_complain: bool = False
    _contexts: list[BrowserContext] = field(default_factory=list)

    def open(
        self,
        path: str,
        person: str = "alice",
        *,
        theme: str = "light",
        width: int = WIDE,
        js: bool = True,
        **more: Any,
    ) -> Page:
        """Open a page in a window of its own; a person without a name is not logged in."""
        context = self.browser.new_context(
            base_url=self.house.url,
            viewport={"width": width, "height": 800},
            color_scheme=theme,
            java_script_enabled=js,
            **more,
        )
        self._contexts.append(context)
        context.set_default_timeout(30_000)
        if person:
            context.add_cookies(self.house.cookies[person])
        page = context.new_page()
        self._listen(page)
        page.goto(path)
        return page

    def close(self) -> None:
        for context in self._contexts:
            context.close()
        self._contexts.clear()

    def _listen(self, page: Page) -> None:
        page.on("console", lambda said: self.complaints.append(f"{said.type}: {said.text}"))
        page.on("pageerror", lambda error: self.complaints.append(f"error: {error}"))
        page.on("response", self._note_answer)
        page.on("requestfailed", self._note_failure)

    def _note_answer(self, answer: Response) -> None:
        if answer.status >= 400:
            self.complaints.append(f"{answer.status} {answer.url}")

    def _note_failure(self, request: Request) -> None:
        # A page that is left gives up its stream, and a newer search an older one.
        if request.failure != "net::ERR_ABORTED":
            self.complaints.append(f"{request.failure} {request.url}")


@pytest.fixture
def windows(chromium: Browser, house: House) -> Iterator[Windows]:
    """Give windows that must not have complained of anything when the test is over."""
    found = Windows(chromium, house)
    yield found
    found.close()
    assert found.may_complain or not found.complaints
