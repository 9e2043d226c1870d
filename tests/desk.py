"""A desk to hand receipts in at: the ASGI application itself, in this process, without a socket.

Requests run on an event loop in a thread of its own, so that threads of a test may post at once.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connections
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

from access.rows import ProjectRow
from tests import databases, factories
from tests.databases import Database

JSON = "application/json"
NDJSON = "application/x-ndjson"
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Reply:
    """An answer: its status, its headers by lower-case name, its bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def document(self) -> dict[str, Any]:
        """Return the answer's one JSON object."""
        found: dict[str, Any] = json.loads(self.body)
        return found

    @property
    def lines(self) -> list[dict[str, Any]]:
        """Return the answer's NDJSON lines."""
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def codes(self) -> list[tuple[str, str]]:
        """Return pointer and code of each reason for quarantine."""
        return [(one["pointer"], one["code"]) for one in self.document["reasons"]]


@dataclass
class Desk:
    """A project with a token, and the application that its producers post to."""

    database: Database
    loop: asyncio.AbstractEventLoop
    project: ProjectRow = field(default_factory=factories.make_project)
    token: str = ""
    reader: str = ""

    def __post_init__(self) -> None:
        _, self.token = factories.make_token(self.project, "ingest", source="desk/one")
        _, self.reader = factories.make_token(self.project, "read")

    def post(
        self,
        body: bytes | Mapping[str, Any],
        *,
        content_type: str = JSON,
        token: str | None = None,
        query: bytes = b"",
        chunks: Sequence[bytes] | None = None,
        **headers: str,
    ) -> Reply:
        """Post a body, or its chunks one by one; a mapping goes as JSON."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        named = {"content-type": content_type} if content_type else {}
        named |= {name.replace("_", "-"): value for name, value in headers.items()}
        bearer = self.token if token is None else token
        if bearer:
            named["authorization"] = f"Bearer {bearer}"
        sent = _send_post([raw] if chunks is None else chunks, named, query)
        return self.wait_for(sent)

    def post_lines(self, *lines: bytes | Mapping[str, Any], **given: Any) -> Reply:
        """Post a batch, one line for each body."""
        raws = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in lines]
        return self.post(b"\n".join(raws), content_type=NDJSON, **given)

    def wait_for(self, work: Coroutine[Any, Any, Reply]) -> Reply:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(PATIENCE_S)

    def get(self, tail: str) -> Any:
        """Read an address below `/api/v1/`; gives Django's response."""
        client = Client(headers={"authorization": f"Bearer {self.reader}"})
        return client.get(f"/api/v1/{tail}")

    def read(self, tail: str) -> Any:
        """Read a JSON answer that must be there."""
        response = self.get(tail)
        assert response.status_code == 200, response.content
        return response.json()

    def raw(self, ref: str) -> bytes:
        """Read the bytes that are kept of a receipt."""
        content: bytes = self.get(f"receipts/{ref}/raw").content
        return content

    def catch_up(self) -> None:
        """Sequence and derive this project until nothing is left.

        The follower would look at the projects of all other tests as well.
        """
        from ledger import acts, arrivals, derive, sequence

        own = self.project.id
        while acts.drain(own) or arrivals.drain(own) or sequence.sequence(own):
            pass
        while derive.derive(self.project.id):
            pass

    def leaves(self) -> list[tuple[int, str]]:
        """Return index and ref of every leaf of the project, in order."""
        from kit import ids
        from ledger.models import Leaf

        rows = Leaf.objects.filter(project_id=self.project.id).order_by("leaf_index")
        return [(one.leaf_index, ids.ref_of(one.receipt)) for one in rows]


async def _send_post(chunks: Sequence[bytes], headers: Mapping[str, str], query: bytes) -> Reply:
    # Not above: the application may be imported only when the settings are there.
    from config.asgi import application

    pending = [
        {"type": "http.request", "body": chunk, "more_body": at < len(chunks) - 1}
        for at, chunk in enumerate(chunks)
    ]
    got: list[Mapping[str, Any]] = []

    async def receive() -> Mapping[str, Any]:
        return pending.pop(0) if pending else {"type": "http.disconnect"}

    async def send(message: Mapping[str, Any]) -> None:
        got.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/v1/receipts",
        "query_string": query,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
    }
    await application(scope, receive, send)
    start, body = got
    fields = {name.decode(): value.decode("latin-1") for name, value in start["headers"]}
    return Reply(start["status"], fields, body["body"])


def only_on(vendor: str) -> pytest.MarkDecorator:
    """Run a test on one kind of database: it is about that one's own statements."""
    marks = [pytest.mark.slow] if vendor == "postgresql" else []
    return pytest.mark.parametrize(
        "shared_database", [pytest.param(vendor, marks=marks)], indirect=True
    )


@contextmanager
def running_loop() -> Iterator[asyncio.AbstractEventLoop]:
    """Run an event loop in a thread, and end the application's own threads after it."""
    from ledger import keys
    from ledger.api import bearer
    from ledger.api.writer import writer

    bearer.forget()
    keys.forget()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield loop
    finally:
        writer.close()
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result(PATIENCE_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        bearer.forget()
        keys.forget()


@pytest.fixture(
    scope="module", params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)]
)
def shared_database(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[Database]:
    """Give one database of each kind to all tests of a module; each makes a project of its own."""
    folder = tmp_path_factory.mktemp("shared")
    template = request.getfixturevalue(f"{request.param}_template")
    if request.param == "sqlite":
        copied = databases.copy_of_sqlite(template, folder)
    else:
        server = request.getfixturevalue("postgresql")
        copied = databases.copy_of_postgresql(server, template, folder)
    with django_db_blocker.unblock(), copied as database:
        yield database


@pytest.fixture(scope="module")
def desk_loop(shared_database: Database) -> Iterator[asyncio.AbstractEventLoop]:
    """Give the event loop of a module's desks."""
    with running_loop() as loop:
        yield loop


@pytest.fixture
def desk(shared_database: Database, desk_loop: asyncio.AbstractEventLoop) -> Iterator[Desk]:
    """Give a project of its own in the module's database, and the way to post to it."""
    yield Desk(shared_database, desk_loop)
    connections["default"].close()
