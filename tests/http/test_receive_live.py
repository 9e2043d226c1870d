"""Posts to the server as its users start it: at once, while it is killed, while its database is."""

from __future__ import annotations

import json
import re
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.running import Counterfoil
from tests.servers import PATIENCE, Postgres

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

THREADS = 12
NDJSON = {"content-type": "application/x-ndjson"}


@dataclass
class House:
    """A running server with a token that may do all, and its database if that is a server too."""

    server: Counterfoil
    postgresql: Postgres | None = None
    token: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def open(self) -> None:
        self.server.start()
        words = ["token", "create", "--project", "main", "--scope", "admin", "--name", "tests"]
        self.token = self.server.manage(*words).strip()
        self.headers = {"authorization": f"Bearer {self.token}"}

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=f"{self.server.url}/api/v1", headers=self.headers, timeout=60)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def house(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("live") / "data"
    if request.param == "sqlite":
        with closing(Counterfoil(folder)) as server:
            house = House(server)
            house.open()
            yield house
        return
    with closing(Postgres()) as postgresql:
        postgresql.start()
        postgresql.execute("CREATE DATABASE live")
        with closing(Counterfoil(folder, postgresql.url_of("live"))) as server:
            house = House(server, postgresql)
            house.open()
            yield house


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run works in threads that start together; gives their results."""
    start, results = threading.Barrier(len(works)), [None] * len(works)

    def run(number: int) -> None:
        start.wait(30)
        results[number] = works[number]()

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def post_at_once(house: House, bodies: Sequence[dict[str, Any]]) -> list[httpx.Response]:
    def post(body: dict[str, Any]) -> httpx.Response:
        with house.client() as client:
            return client.post("/receipts", json=body)

    return at_once([lambda body=body: post(body) for body in bodies])


def test_threads_that_post_one_new_id_get_one_201_and_else_200(house: House) -> None:
    body = {"id": str(uuid.uuid4()), "kind": "done"}

    answers = post_at_once(house, [body] * THREADS)

    assert Counter(one.status_code for one in answers) == {201: 1, 200: THREADS - 1}
    assert len({one.json()["ref"] for one in answers}) == 1


def test_threads_that_post_other_contents_get_one_201_and_else_409(house: House) -> None:
    name = str(uuid.uuid4())

    answers = post_at_once(
        house, [{"id": name, "kind": "done", "n": number} for number in range(THREADS)]
    )

    firsts = {one.json()["first_ref"] for one in answers if one.status_code == 409}
    (accepted,) = [one.json()["ref"] for one in answers if one.status_code == 201]
    assert Counter(one.status_code for one in answers) == {201: 1, 409: THREADS - 1}
    assert firsts == {accepted}
    assert len({one.json()["ref"] for one in answers}) == THREADS


def test_overlapping_batches_in_opposite_orders_are_all_answered(house: House) -> None:
    lines = [json.dumps({"id": str(uuid.uuid4()), "kind": "done"}) for _ in range(1_000)]

    def post(mine: list[str]) -> list[int]:
        with house.client() as client:
            answer = client.post("/receipts", content="\n".join(mine), headers=NDJSON)
        assert answer.status_code == 200, answer.text
        return [json.loads(line)["status"] for line in answer.text.splitlines()]

    found = at_once([lambda mine=mine: post(mine) for mine in (lines, lines[::-1]) * 3])

    assert Counter(status for one in found for status in one) == {201: 1_000, 200: 5_000}


def test_a_body_in_chunks_is_read_to_its_end(house: House) -> None:
    raw = b'{"kind":"done","data":"' + b"x" * 50_000 + b'"}'
    pieces = (raw[at : at + 999] for at in range(0, len(raw), 999))

    with house.client() as client:
        answer = client.post("/receipts", content=pieces)
        kept = client.get(f"/receipts/{answer.json()['ref']}/raw").content

    assert answer.status_code == 201
    assert kept == raw


@pytest.mark.parametrize("mebibytes", [2, 12])
def test_a_body_that_is_too_long_still_gets_its_answer(house: House, mebibytes: int) -> None:
    with house.client() as client:
        answer = client.post("/receipts", content=b"x" * (mebibytes << 20))
        after = client.post("/receipts", json={"kind": "done"})

    assert answer.status_code == 413
    assert answer.json()["stored"] == "digest"
    assert after.status_code == 201


def test_waiting_for_the_leaf_answers_with_it(house: House) -> None:
    with house.client() as client:
        answer = client.post("/receipts?wait=leaf", json={"kind": "done"})

    assert answer.json()["leaf_index"].isdigit()


def leaves_until(house: House, refs: set[str]) -> dict[str, int]:
    """Give the leaf of every receipt of the project, once all that were acknowledged have one."""
    deadline = time.monotonic() + PATIENCE
    found: dict[str, int] = {}
    while not refs <= found.keys() and time.monotonic() < deadline:
        time.sleep(0.2)
        with house.client() as client:
            rows = client.get("/receipts.ndjson").text.splitlines()
        found = {one["ref"]: int(one["leaf_index"]) for one in map(json.loads, rows)}
    return found


def test_a_server_that_is_killed_in_a_load_of_batches_loses_nothing_acknowledged(
    house: House,
) -> None:
    acknowledged: list[tuple[str, str]] = []
    enough, is_over = threading.Event(), threading.Event()

    def load() -> None:
        while not is_over.is_set():
            bodies = [{"id": str(uuid.uuid4()), "kind": "done"} for _ in range(100)]
            content = "\n".join(json.dumps(body) for body in bodies)
            with house.client() as client:
                try:
                    answer = client.post("/receipts", content=content, headers=NDJSON)
                except httpx.TransportError:
                    return
            lines = [json.loads(line) for line in answer.text.splitlines()]
            acknowledged.extend((one["id"], one["ref"]) for one in lines)
            if len(acknowledged) > 1_000:
                enough.set()

    threads = [threading.Thread(target=load) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert enough.wait(PATIENCE)
    house.server.kill()
    is_over.set()
    for thread in threads:
        thread.join()
    house.server.start()

    refs = {ref for _, ref in acknowledged}
    leaves = leaves_until(house, refs)
    assert refs <= leaves.keys()
    assert sorted(leaves.values()) == list(range(len(leaves)))
    assert re.search(r" 0 differ", house.server.manage("derive", "--rebuild"))
    with house.client() as client:
        again = client.post("/receipts", json={"id": acknowledged[0][0], "kind": "done"})
    assert (again.status_code, again.json()["ref"]) == (200, acknowledged[0][1])


def test_while_the_database_is_down_the_answer_is_503_and_after_it_the_same_post_succeeds(
    house: House,
) -> None:
    if house.postgresql is None:
        return
    body = {"id": str(uuid.uuid4()), "kind": "done"}
    with house.client() as client:
        client.post("/receipts", json={"kind": "done"})

        house.postgresql.stop()
        down = post_at_once(house, [body] * 4)
        began = time.monotonic()
        page = client.get("/receipts")
        house.postgresql.start()
        up = client.post("/receipts", json=body)

    assert {one.status_code for one in down} == {503}
    assert all(one.headers["retry-after"].isdigit() for one in down)
    assert all(one.json()["stored"] is False for one in down)
    assert page.status_code == 503
    assert page.headers["retry-after"].isdigit()
    assert (up.status_code, up.json()["state"]) == (201, "accepted"), up.text
    assert time.monotonic() - began < PATIENCE
    assert leaves_until(house, {up.json()["ref"]})


def test_a_database_that_was_restarted_between_two_posts_is_not_noticed(house: House) -> None:
    if house.postgresql is None:
        return
    with house.client() as client:
        before = client.post("/receipts", json={"kind": "done"})
        house.postgresql.kill()
        house.postgresql.start()
        after = [client.post("/receipts", json={"kind": "done"}) for _ in range(3)]
        read = client.get(f"/receipts/{before.json()['ref']}")

    assert [one.status_code for one in after] == [201, 201, 201]
    assert read.status_code == 200


def test_the_server_prints_no_body_and_no_token(house: House, tmp_path: Path) -> None:
    secret = f"secret-{uuid.uuid4()}"
    with house.client() as client:
        client.post("/receipts", content=f'{{"kind": "{secret}"')
        client.post("/receipts", json={"kind": "done", "data": secret})

    printed = house.server.log.read_text()

    assert secret not in printed
    assert house.token not in printed
