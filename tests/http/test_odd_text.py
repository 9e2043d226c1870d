"""Reasons and names with characters that no database or page can hold: refused, and said why."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from django.core.management import CommandError, call_command

from access import queries
from access.models import Action, Project
from config.api import api
from tests import factories
from tests.cast import Cast

pytestmark = pytest.mark.django_db

ODD = {"NUL": "not\0ours", "a lone surrogate": "not\ud800ours", "an escape": "\x1b[31mours"}
odd_texts = pytest.mark.parametrize("text", ODD.values(), ids=ODD)
FORMS = ["quarantine/n0/redrive", "quarantine/n0/close", "attention/one/acknowledge"]


def iter_takers() -> list[str]:
    """List the addresses of the API that take a reason."""
    document = api.get_openapi_schema()
    schemas = document["components"]["schemas"]
    found = []
    for path, operations in document["paths"].items():
        content = operations.get("post", {}).get("requestBody", {}).get("content", {})
        schema = content.get("application/json", {}).get("schema", {})
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        if "reason" in schemas.get(name, {}).get("properties", {}) and path.count("{"):
            found.append(path)
    return found


@pytest.fixture
def stored(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Cast:
    """Let every ref lead to a receipt: what is asked for is judged by its reason alone."""
    monkeypatch.setattr("ledger.queries.receipts.get_receipt", lambda *given: None)
    return cast


@odd_texts
@pytest.mark.parametrize("path", iter_takers())
def test_a_reason_in_json_is_refused(stored: Cast, path: str, text: str) -> None:
    address = path.replace("{ref}", "n0").replace("{id}", "one")
    before = Action.objects.count()

    response = stored.program("operate").post(
        address, json.dumps({"reason": text}), content_type="application/json"
    )

    problem = json.loads(response.content)
    assert (response.status_code, problem["code"]) == (400, "reason")
    assert "without control characters" in problem["detail"]
    assert Action.objects.filter(verb__in=("redrive", "close", "acknowledge")).count() == 0
    assert Action.objects.count() == before + 1  # the token of the program


def test_every_act_that_takes_a_reason_is_tried() -> None:
    assert {path.rpartition("/")[2] for path in iter_takers()} >= {
        "redrive", "close", "acknowledge"
    }  # fmt: skip


@pytest.mark.parametrize("text", [ODD["NUL"], ODD["an escape"]], ids=["NUL", "an escape"])
@pytest.mark.parametrize("tail", FORMS)
def test_a_reason_in_a_form_is_refused(stored: Cast, tail: str, text: str) -> None:
    response = stored.browser(stored.alice).post(f"/p/acme/{tail}", {"reason": text})

    assert response.status_code == 400
    assert "without control characters" in response.content.decode()


@pytest.mark.parametrize("text", [ODD["NUL"], ODD["an escape"]], ids=["NUL", "an escape"])
def test_a_token_is_not_revoked_for_a_reason_that_cannot_be_kept(cast: Cast, text: str) -> None:
    listing, token = factories.make_token(cast.project)

    response = cast.browser(cast.alice).post(
        f"/p/acme/tokens/{listing.id}/revoke", {"reason": text}
    )

    assert response.status_code == 422
    assert "Not revoked" in response.content.decode()
    assert queries.find_token(token) is not None


@pytest.mark.parametrize("slug", ["a%00b", "%1b", "%ed%a0%80", "A"])
def test_an_address_that_no_project_can_have_is_not_found(cast: Cast, slug: str) -> None:
    for client in (cast.browser(cast.alice), cast.program("read")):
        assert client.get(f"/p/{slug}/receipts.json").status_code == 404


@pytest.mark.parametrize("text", [ODD["NUL"], ODD["an escape"]], ids=["NUL", "an escape"])
@pytest.mark.parametrize(
    ("tail", "given"),
    [
        ("tokens", {"name": None, "scope": "read"}),
        ("tokens", {"name": "n", "scope": "read", "source": None}),
        ("members", {"user": None, "role": "viewer"}),
    ],
)
def test_a_name_in_a_form_is_refused(
    cast: Cast, tail: str, given: dict[str, str | None], text: str
) -> None:
    form = {name: text if value is None else value for name, value in given.items()}

    response = cast.browser(cast.alice).post(f"/p/acme/{tail}", form)

    assert response.status_code == 422


COMMANDS: dict[str, Callable[[str, str], list[str]]] = {
    "project create": lambda text, prefix: ["project", "create", "new", f"--name={text}"],
    "project create slug": lambda text, prefix: ["project", "create", text],
    "project rename": lambda text, prefix: ["project", "rename", "acme", f"--name={text}"],
    "member add": lambda text, prefix: [
        "member", "add", "--project=acme", f"--user={text}", "--role=viewer", "--create",
    ],
    "token create": lambda text, prefix: [
        "token", "create", "--project=acme", "--scope=read", f"--name={text}",
    ],
    "token create source": lambda text, prefix: [
        "token", "create", "--project=acme", "--scope=read", "--name=n", f"--source={text}/one",
    ],
    "token revoke": lambda text, prefix: [
        "token", "revoke", "--project=acme", f"--prefix={prefix}", f"--reason={text}",
    ],
}  # fmt: skip


@odd_texts
@pytest.mark.parametrize("name", COMMANDS)
def test_a_text_on_a_command_line_is_refused(cast: Cast, name: str, text: str) -> None:
    listing, token = factories.make_token(cast.project)

    with pytest.raises((CommandError, SystemExit)):
        call_command(*COMMANDS[name](text, listing.prefix))

    assert queries.find_token(token) is not None
    assert Project.objects.count() == 2
    assert [one.name for one in queries.api_tokens(cast.project.id, listing.created_at)] == [
        "a token"
    ]
