from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.architecture import APPS, ROOT, list_imports, list_sources, name_of, parse


def test_the_contracts_of_the_layers_are_kept() -> None:
    program = Path(sys.executable).with_name("lint-imports")

    done = subprocess.run(
        [sys.executable, program, "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_every_app_is_under_the_contracts() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    present = {name for name in APPS if (ROOT / name).is_dir()}

    assert set(linter["root_packages"]) == present


def test_every_domain_is_under_the_contract_of_purity() -> None:
    linter = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    pure = next(each for each in linter["contracts"] if each["id"] == "pure")
    present = {f"{name}.domain" for name in APPS if (ROOT / name / "domain").is_dir()}

    assert present <= set(pure["source_modules"])


def test_the_client_and_the_tools_import_nothing_of_the_server() -> None:
    sources = list_sources("client/src", "tools")

    taken = [
        (name_of(source), module)
        for source in sources
        for module in list_imports(source)
        if module.partition(".")[0] in {*APPS, "tests", "bench"}
    ]

    assert taken == []


def test_the_tools_and_the_setup_need_nothing_but_the_standard_library() -> None:
    # `cryptography` makes the bundle verifier quicker where it is there.
    known = sys.stdlib_module_names | {"tools", "cryptography"}

    foreign = [
        (name_of(source), module)
        for source in [*list_sources("tools"), ROOT / "bootstrap.py"]
        for module in list_imports(source)
        if module.partition(".")[0] not in known
    ]

    assert foreign == []


def test_what_answers_requests_never_asks_a_model() -> None:
    edges = [path for path in list_sources(*APPS) if is_edge(path)]

    asked = [
        f"{name_of(path)}:{node.lineno}"
        for path in edges
        for node in ast.walk(parse(path))
        if isinstance(node, ast.Attribute) and node.attr in {"objects", "_default_manager"}
    ]

    assert asked == []


def is_edge(path: Path) -> bool:
    parts = {path.stem, *path.relative_to(ROOT).parts}
    return bool(parts & {"views", "api", "live", "commands"})


def test_only_the_store_writes_receipts() -> None:
    kept = {"receipt", "receipt_key", "receipt_variant", "receipt_body"}

    writers = {name_of(path) for path in list_sources(*APPS) if set(iter_written(path)) & kept}

    assert writers == {"ledger/store.py"}


def iter_written(path: Path) -> Iterator[str]:
    """Yield the tables that a file inserts into, by `kit.bulk` or by a statement of its own."""
    for node in ast.walk(parse(path)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            first = node.args[0] if node.args else None
            if node.func.attr.startswith("insert_") and isinstance(first, ast.Constant):
                yield str(first.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r'(?i)insert\s+into\s+"?(\w+)', node.value)
