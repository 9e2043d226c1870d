"""What the strict content policy and htmx 4 ask of templates, held by reading their texts."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from events.domain import codes
from kit.templatetags import looks
from ledger.domain import words

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
SCRIPTS = sorted((ROOT / "static" / "js").rglob("*.js"))
OF_ALL_PAGES = sorted((ROOT / "static" / "js").glob("*.js"))
SPRITE = (ROOT / "static" / "icons.svg").read_text()
MOST_LINES = 120
MOST_SCRIPTS = 6
MOST_SCRIPT_LINES = 300

REFUSED = {
    "an inline style": r"\sstyle\s*=|<style\b",
    "an inline script": r"<script\b(?![^>]*\bsrc=)",
    "a handler attribute": r"\son[a-z]+\s*=",
    "an evaluated htmx attribute": r"\shx-on|\bjs:|hx-trigger=\"[^\"]*\[",
    "a spelling of htmx 2": r"hx-(?:ext|disinherit|vars|params|prompt)|sse-(?:swap|connect)",
    "another host": r"(?:src|href)=\"https?://",
    "text that is not escaped": r"\|safe\b|autoescape",
}


def name(path: Path) -> str:
    """Name a file as the tree does."""
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("refused", REFUSED, ids=str)
def test_no_template_has(refused: str) -> None:
    found = [name(path) for path in TEMPLATES if re.search(REFUSED[refused], path.read_text())]

    assert found == []


@pytest.mark.parametrize("path", TEMPLATES, ids=name)
def test_a_template_stays_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_LINES


def test_every_form_that_posts_carries_its_token() -> None:
    forms = re.compile(r"<form[^>]*method=\"post\".*?</form>", re.S)
    bare = [
        name(path)
        for path in TEMPLATES
        for form in forms.findall(path.read_text())
        if "{% csrf_token %}" not in form
    ]

    assert bare == []


def test_every_icon_is_in_the_sprite() -> None:
    drawn = {
        icon
        for path in TEMPLATES
        for icon in re.findall(r"{% icon \"([a-z0-9-]+)\"", path.read_text())
    }
    used = drawn | set(looks.TONE_ICONS.values())
    used |= {badge.icon for badge in words.VERDICT_BADGES.values()}
    used |= {mark.icon for mark in codes.MARKS.values()}

    assert used - set(re.findall(r'<symbol id="([^"]+)"', SPRITE)) == set()


def test_scripts_are_few_and_evaluate_nothing() -> None:
    assert len(OF_ALL_PAGES) <= MOST_SCRIPTS
    assert [
        name(path)
        for path in SCRIPTS
        if re.search(r"\beval\(|new Function|innerHTML", path.read_text())
    ] == []


@pytest.mark.parametrize("path", SCRIPTS, ids=name)
def test_a_script_stays_short(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MOST_SCRIPT_LINES


def test_vendored_files_are_named_with_their_version_and_licence() -> None:
    vendor = ROOT / "static" / "vendor"
    listed = (vendor / "README.md").read_text()

    assert [path.name for path in vendor.glob("*.js") if f"`{path.name}`" not in listed] == []
