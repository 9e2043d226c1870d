from __future__ import annotations

from urllib.parse import urljoin, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from access.domain.addresses import safe_path


@pytest.mark.parametrize("text", ["/", "/p/acme/receipts?q=task:a&limit=5", "/p/a/jobs/~w6k"])
def test_a_path_of_ours_is_kept(text: str) -> None:
    assert safe_path(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "p/acme",
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example/",
        "javascript:alert(1)",
        "/\tevil.example",
        "/\n/evil.example",
        " //evil.example",
        "/" + "a" * 2000,
    ],
)
def test_what_could_lead_elsewhere_falls_back(text: str) -> None:
    assert safe_path(text) == "/"


@given(st.text(st.sampled_from("/\\:.@?#abc \t\n"), max_size=12))
def test_no_text_leads_to_another_host(text: str) -> None:
    as_browsers_read = safe_path(text).replace("\\", "/").replace("\t", "").replace("\n", "")

    joined = urljoin("https://here.example/login", as_browsers_read)

    assert urlsplit(joined).netloc == "here.example"
