"""The reference of the API against its routes, pages, problems and faults."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

from config.api import api
from tests.architecture import APPS, documents, list_sources, parse


def test_every_route_of_the_api_is_described() -> None:
    text = documents.read("docs/reference/api.md")

    routes = [
        f"`{method.upper()} {path}`"
        for path, operations in api.get_openapi_schema()["paths"].items()
        for method in operations
    ]

    assert [route for route in routes if route not in text] == []


def test_every_described_route_is_there() -> None:
    told = re.findall(r"`(GET|POST) (/api/v1/[^`]+)`", documents.read("docs/reference/api.md"))
    paths = api.get_openapi_schema()["paths"]
    written_by_hand = {("POST", "/api/v1/receipts")}

    invented = [
        f"{method} {path}"
        for method, path in told
        if method.lower() not in paths.get(path, {}) and (method, path) not in written_by_hand
    ]

    assert invented == []


def test_every_page_is_described() -> None:
    text = documents.sections_of(documents.read("docs/reference/api.md"))["Pages"]

    missing = [path for path in sorted(set(iter_pages())) if f"`{path}`" not in text]

    assert missing == []


def iter_pages() -> Iterator[str]:
    """Yield the addresses of people's pages as the documentation writes them."""
    for path in iter_addresses(get_resolver(), "/"):
        if not path.startswith("/api/") and not path.endswith((".json", ".csv", ".ndjson")):
            yield path


def iter_addresses(resolver: URLResolver, before: str) -> Iterator[str]:
    for pattern in resolver.url_patterns:
        path = before + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", str(pattern.pattern))
        if isinstance(pattern, URLResolver):
            yield from iter_addresses(pattern, path)
        elif isinstance(pattern, URLPattern):
            yield path


def test_every_problem_has_its_code_and_status_in_the_table() -> None:
    section = documents.sections_of(documents.read("docs/reference/api.md"))["Problems"]
    told = {(row[0].strip("`"), int(row[1])) for row in documents.iter_rows(section)}

    assert told == set(iter_problems())


def iter_problems() -> Iterator[tuple[str, int]]:
    """Yield code and status of every problem that the code can answer with.

    They are written as (status, code, title, …) in calls and tuples, or as status: (code, …).
    """
    for path in list_sources(*APPS):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Call) or (isinstance(node, ast.Tuple) and len(node.elts) > 2):
                parts = node.args if isinstance(node, ast.Call) else node.elts
                yield from pair_of(parts[:2])
            elif isinstance(node, ast.Dict):
                for key, value in zip(node.keys, node.values, strict=True):
                    if isinstance(value, ast.Tuple) and key is not None:
                        yield from pair_of([key, *value.elts[:1]])


def pair_of(parts: list[ast.expr]) -> Iterator[tuple[str, int]]:
    match [part.value for part in parts if isinstance(part, ast.Constant)]:
        case [int(status), str(code)] if 300 <= status < 600:
            yield code, status


def test_every_reason_for_setting_aside_is_in_the_table() -> None:
    page = documents.sections_of(documents.read("docs/reference/api.md"))
    told = {row[0].strip("`") for row in documents.iter_rows(page["Why a receipt is set aside"])}

    assert told == set(iter_faults())


def iter_faults() -> Iterator[str]:
    places = {"Fault": 1, "Problem": 1, "NotCanonical": 0}
    for path in list_sources("ledger/domain"):
        for node in ast.walk(parse(path)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                at = places.get(node.func.id)
                found = node.args[at] if at is not None and len(node.args) > at else None
                if isinstance(found, ast.Constant):
                    yield str(found.value)
