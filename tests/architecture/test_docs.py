"""The pages of the documentation: their links, their records, what they may not say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.architecture import ROOT, documents, name_of

RECORDS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
OLD_HTMX = re.compile(
    r"""hx-ext|hx-disinherit|hx-on\b|\bsse-(?:swap|connect)|hx-sse=|htmx:[a-z]+[A-Z]|["']js:"""
    r"""|hx-trigger="[^"]*\["""
)


def pages() -> list[str]:
    return [name_of(page) for page in documents.list_pages()]


@pytest.mark.parametrize("page", pages())
def test_links_lead_to_pages_and_headings_that_are_there(page: str) -> None:
    folder, text = (ROOT / page).parent, documents.read(page)

    broken = [
        link for link in documents.iter_links(text) if not leads_somewhere(folder, text, link)
    ]

    assert broken == []


def leads_somewhere(folder: Path, text: str, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (folder / path).resolve() if path else None
    if target and target.parent == ROOT / "docs" / "screenshots":
        return True  # Made by the browser tests, which may not have run here.
    if target and not target.exists():
        return False
    found = target.read_text(encoding="utf-8") if target else text
    return not anchor or anchor in documents.anchors_of(found)


@pytest.mark.parametrize("page", pages())
def test_no_page_names_a_path_or_a_host_of_one_machine(page: str) -> None:
    local = re.compile(r"/(home|root|work|Users)/|\b(10|192\.168|172\.1[6-9])\.\d+\.\d+")

    assert local.search(documents.read(page)) is None


def test_every_page_is_reached_from_the_readme() -> None:
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        reached.add(page)
        for link in documents.iter_links(page.read_text(encoding="utf-8")):
            target = (page.parent / link.partition("#")[0]).resolve()
            if target.suffix == ".md" and target not in reached and target.exists():
                waiting.append(target)

    assert [name_of(page) for page in documents.list_pages() if page not in reached] == []


def test_records_are_numbered_without_a_hole() -> None:
    numbers = [int(path.name[:4]) for path in RECORDS]

    assert numbers == list(range(1, len(RECORDS) + 1))


@pytest.mark.parametrize("record", [path.name for path in RECORDS])
def test_a_record_has_the_parts_that_a_reader_looks_for(record: str) -> None:
    text = documents.read(f"docs/adr/{record}")

    sections = documents.sections_of(text)

    wanted = ["Context and problem statement", "Considered options", "Decision outcome"]
    assert [
        title for title in [*wanted, "Consequences"] if not sections.get(title, "").strip()
    ] == []
    assert re.match(r"---\nstatus: \w+\ndate: \d{4}-\d\d-\d\d\n---\n\n# ", text)


def test_the_index_of_the_records_says_what_they_say() -> None:
    listed = list(documents.iter_rows(documents.read("docs/adr/README.md")))

    assert listed == [row_of(path) for path in RECORDS]


def row_of(record: Path) -> list[str]:
    text = record.read_text(encoding="utf-8")
    facts = [re.search(rf"^{name}: (.+)$", text, re.MULTILINE) for name in ("status", "date")]
    title = re.search(r"^# (.+)$", text, re.MULTILINE)
    link = f"[{title[1] if title else ''}]({record.name})"
    return [str(int(record.name[:4])), link, *(fact[1] if fact else "" for fact in facts)]


def test_no_template_or_script_is_written_for_htmx_2() -> None:
    templates = [*ROOT.glob("templates/**/*.html"), *ROOT.glob("*/templates/**/*.html")]
    sources = [*templates, *ROOT.glob("static/js/*.js")]

    old = [name_of(path) for path in sources if OLD_HTMX.search(path.read_text(encoding="utf-8"))]

    assert old == []


@pytest.mark.parametrize(
    "old",
    [
        '<div hx-ext="sse" sse-connect="/live">',
        '<div hx-disinherit="*">',
        '<button hx-on:click="go()">',
        "document.addEventListener('htmx:afterSwap', go)",
        '<div hx-vals="js:{a: 1}">',
        '<div hx-trigger="keyup[key==1]">',
    ],
)
def test_an_old_spelling_is_found(old: str) -> None:
    assert OLD_HTMX.search(old)
