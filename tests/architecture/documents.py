"""The documentation as tests read it: pages, fences, tables, links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.architecture import ROOT

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_NOT_IN_ANCHORS = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Fence:
    """A fenced block: its first line after the back-ticks, and what stands in it."""

    info: str
    text: str

    @property
    def words(self) -> list[str]:
        return self.info.split()


def list_pages() -> list[Path]:
    """Return every page that is ours to keep true."""
    return [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def iter_fences(text: str) -> Iterator[Fence]:
    for found in _FENCE.finditer(text):
        yield Fence(found["info"].strip(), found["text"])


def get_fence(text: str, word: str) -> str:
    """Return what stands in the one fence that carries a word, without the last newline."""
    (found,) = (fence for fence in iter_fences(text) if word in fence.words)
    return found.text.removesuffix("\n")


def iter_rows(text: str) -> Iterator[list[str]]:
    """Yield the cells of every table row of a page, heads and rules left out."""
    lines = text.splitlines()
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line.startswith("|") and not line.startswith("|---") and "|---" not in following[:4]:
            yield [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def iter_links(text: str) -> Iterator[str]:
    """Yield where a page's links lead that stay in this repository."""
    prose = _FENCE.sub("", text)
    for target in _LINK.findall(prose):
        if not re.match(r"[a-z]+:", target):
            yield target


def anchors_of(text: str) -> set[str]:
    """Return the anchors that a page's headings make."""
    titles = _HEADING.findall(_FENCE.sub("", text))
    return {_NOT_IN_ANCHORS.sub("", title.lower()).replace(" ", "-") for title in titles}


def sections_of(text: str) -> dict[str, str]:
    """Return what stands under each heading, up to the next heading of any level."""
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))
