from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.architecture import APPS, ROOT, list_imports, list_sources, name_of, parse

OURS = (*APPS, "client", "tools", "tests", "bench")


def test_no_import_is_relative() -> None:
    relative = [name_of(path) for path in list_sources(*OURS) if "." in list_imports(path)]

    assert relative == []


def test_annotations_are_never_evaluated() -> None:
    wanted = "from __future__ import annotations"

    without = [
        name_of(path)
        for path in list_sources(*OURS)
        if has_code(path) and wanted not in path.read_text()
    ]

    assert without == []


def test_no_module_is_named_after_nothing_in_particular() -> None:
    vague = {"utils", "util", "helpers", "helper", "common", "misc", "services", "managers"}

    found = [name_of(path) for path in list_sources(*OURS) if path.stem in vague]

    assert found == []


def test_nothing_is_left_to_do_in_a_comment() -> None:
    left = re.compile(r"#.*\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")

    found = [name_of(path) for path in list_sources(*OURS) if left.search(path.read_text())]

    assert found == []


def test_every_module_of_the_server_says_what_it_is_for() -> None:
    silent = [
        name_of(path)
        for path in list_sources(*APPS, "tools", "client/src")
        if has_code(path) and path.stem != "apps" and ast.get_docstring(parse(path)) is None
    ]

    assert silent == []


def test_every_management_command_has_a_test() -> None:
    tests = "\n".join(path.read_text() for path in list_sources("tests"))
    commands = [
        path
        for app in APPS
        for path in (ROOT / app / "management" / "commands").glob("*.py")
        if not path.stem.startswith("_")
    ]

    untested = [name_of(path) for path in commands if not re.search(rf"\b{path.stem}\b", tests)]

    assert untested == []


def test_no_test_wants_its_database_emptied_which_is_append_only() -> None:
    emptied = re.compile(r"transaction=" r"True|transactional" r"_db")

    found = [name_of(path) for path in list_sources("tests") if emptied.search(path.read_text())]

    assert found == []


def test_we_never_claim_to_deliver_exactly_once() -> None:
    claim = re.compile("exactly" r"[- ]once\s+delivery", re.IGNORECASE)
    pages = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("**/templates/**/*.html")]

    claiming = [
        name_of(path)
        for path in [*pages, *list_sources(*OURS)]
        if ".venv" not in path.parts and claim.search(path.read_text())
    ]

    assert claiming == []


def has_code(path: Path) -> bool:
    """Tell whether a file holds more than a docstring."""
    body = parse(path).body
    return any(not isinstance(node, ast.Expr) for node in body)
