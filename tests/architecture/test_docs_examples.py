"""The how-to pages can be followed one after the other, against one ledger."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator

from tests.architecture import ROOT, documents

_JSON = re.compile(r"'(\{[^'\n]*\})'")
_COMMAND = re.compile(r"^counterfoil (?:receipt|skip) .*--id (?P<id>\S+).*$", re.MULTILINE)


def iter_statements(text: str) -> Iterator[tuple[str, str]]:
    """Yield the id and the content of each receipt that a page's commands send."""
    for fence in documents.iter_fences(text):
        if "run" not in fence.words:
            continue
        for found in _JSON.finditer(fence.text):
            try:
                receipt = json.loads(found[1])
            except ValueError:
                continue
            if "id" in receipt:
                yield receipt["id"], json.dumps(receipt, sort_keys=True)
        for command in _COMMAND.finditer(fence.text):
            yield command["id"], command[0]


def test_no_two_pages_send_other_content_under_one_id() -> None:
    contents: dict[str, set[str]] = defaultdict(set)
    for page in sorted((ROOT / "docs").glob("**/*.md")):
        for receipt_id, content in iter_statements(page.read_text(encoding="utf-8")):
            contents[receipt_id].add(content)

    assert contents
    assert {name: found for name, found in contents.items() if len(found) > 1} == {}


def test_the_page_on_celery_installs_what_its_example_imports() -> None:
    text = documents.read("docs/how-to/celery.md")

    install = next(fence for fence in documents.iter_fences(text) if "pip install" in fence.text)

    assert "from celery_once import" in text and "redis://" in text
    for package in ("./client[celery]", "celery[redis]", "celery-once"):
        assert f'"{package}' in install.text
