"""The two roles of docs/how-to/run-on-postgresql.md, as that page makes them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import psycopg
import pytest

from tests.architecture import documents
from tests.running import Counterfoil
from tests.servers import Postgres

pytestmark = pytest.mark.slow

PAGE = "docs/how-to/run-on-postgresql.md"
KEPT = ("receipt", "receipt_body", "receipt_body_default", "leaf", "tree_head", "delivery")


@pytest.fixture
def app_url(postgresql: Postgres, tmp_path: Path) -> Iterator[str]:
    """Give the address of the app role, once the page was followed."""
    text = documents.read(PAGE)
    for statement in documents.get_fence(text, "roles").split(";\n"):
        postgresql.execute(statement)
    owner, app = (
        f"postgresql://counterfoil_{role}@127.0.0.1:{postgresql.port}/counterfoil"
        for role in ("owner", "app")
    )
    Counterfoil(tmp_path / "data", owner).manage("migrate", "--verbosity", "0")
    with psycopg.connect(owner, autocommit=True) as connection:
        connection.execute(documents.get_fence(text, "grants").encode())
    yield app
    postgresql.execute("DROP DATABASE counterfoil WITH (FORCE)")
    for role in ("owner", "app"):
        postgresql.execute(f"DROP ROLE counterfoil_{role}")


def test_a_role_that_owns_nothing_can_run_the_server_and_rebuild(
    app_url: str, tmp_path: Path
) -> None:
    with closing(Counterfoil(tmp_path / "data", app_url)) as server:
        server.start()
        token = server.manage(
            "token", "create", "--project", "main", "--scope", "ingest", "--name", "first"
        )

        answer = httpx.post(
            f"{server.url}/api/v1/receipts?wait=leaf",
            headers={"Authorization": f"Bearer {token.strip()}"},
            json={"id": "a", "kind": "done"},
            timeout=30,
        )

        assert answer.status_code == 201
        assert answer.json()["leaf_index"] is not None
        assert " 0 differ" in server.manage("derive", "--rebuild", "--apply")


def test_that_role_may_not_even_try_to_change_the_log(app_url: str) -> None:
    with psycopg.connect(app_url) as connection:
        allowed = [
            (table, right)
            for table in KEPT
            for right in ("UPDATE", "DELETE", "TRUNCATE")
            if connection.execute(
                "SELECT has_table_privilege(%s::regclass, %s)", [table, right]
            ).fetchone()
            == (True,)
        ]

    assert allowed == []
