"""Debian's Chromium, driven by Playwright."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests import needs

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""Root needs the first; the rest keep the browser from calling its maker at every start."""


@contextmanager
def launch() -> Iterator[Browser]:
    """Run a headless browser with a new, empty profile until the block ends."""
    program = needs.require("chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, headless=True, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()
