from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
import redis

from tests import servers

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.mark.slow
def test_a_killed_postgresql_has_what_was_committed_when_it_starts_again(
    postgresql: servers.Postgres,
) -> None:
    postgresql.execute("CREATE TABLE IF NOT EXISTS kept (value int)")
    postgresql.execute("INSERT INTO kept VALUES (42)")

    with psycopg.connect(postgresql.url):
        postgresql.kill()
    postgresql.start()

    with psycopg.connect(postgresql.url) as connection:
        assert connection.execute("SELECT value FROM kept").fetchone() == (42,)


@pytest.mark.slow
def test_a_stopped_postgresql_refuses_until_it_is_started(postgresql: servers.Postgres) -> None:
    postgresql.stop()

    with pytest.raises(psycopg.OperationalError):
        psycopg.connect(postgresql.url)

    postgresql.start()
    postgresql.execute("SELECT 1")


@pytest.mark.slow
def test_a_killed_redis_starts_again_and_has_forgotten(redis_server: servers.Redis) -> None:
    client = redis.Redis.from_url(redis_server.url)
    client.set("a", "1")

    redis_server.kill()
    redis_server.start()

    assert client.get("a") is None
    client.close()


@pytest.mark.slow
def test_a_page_opens_in_chromium(page: Page) -> None:
    page.set_content("<h1>Stub</h1>")

    assert page.locator("h1").inner_text() == "Stub"


@pytest.mark.slow
def test_a_server_that_ends_at_once_is_reported_with_its_log() -> None:
    server = servers.Redis("--no-such-option", "1")

    with pytest.raises(servers.DidNotStart, match="no-such-option"):
        server.start()

    server.close()
