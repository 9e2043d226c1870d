from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import counterfoil
from counterfoil import guards, ids
from counterfoil.guards import MINE, Answer, FileGuard, RedisGuard, RowGuard, held

MakeGuard = Callable[..., Any]


@pytest.fixture(scope="module")
def redis_socket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    server = shutil.which("redis-server")
    if server is None:
        pytest.skip("no redis-server")
    pytest.importorskip("redis")
    path = str(tmp_path_factory.mktemp("r") / "s")
    process = subprocess.Popen(
        [server, "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no"],
        stdout=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + 20
        while not _answers(path):
            assert time.monotonic() < until, "redis-server did not start"
            time.sleep(0.02)
        yield path
    finally:
        process.terminate()
        process.wait(20)


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(path)
        except OSError:
            return False
        connection.sendall(b"PING\r\n")
        return connection.recv(16).startswith(b"+PONG")


class Store:
    """One place where guards keep their keys; a guard of it for each thread or process."""

    def __init__(self, kind: str, place: Path, redis_path: str) -> None:
        self._kind, self._place, self._redis_path = kind, place, redis_path
        self._opened: list[Any] = []

    def guard(self, **settings: Any) -> Any:
        if self._kind == "file":
            return FileGuard(self._place / "guard", **settings)
        if self._kind == "redis":
            client = redis_client(self._redis_path)
            self._opened.append(client)
            return RedisGuard(client, prefix=f"{self._place}:", **settings)
        path = self._place / "guard.db"
        connection = sqlite3.connect(path, timeout=30, check_same_thread=False)
        self._opened.append(connection)
        guard = RowGuard(connection, **settings)
        guard.create_table()
        return guard

    def claim_and_run_out(self, token: str) -> None:
        """Claim "k" by a holder whose time is over at once."""
        if self._kind == "redis":
            self.guard(run_for_s=0.01).claim("k", token)
            time.sleep(0.05)
        else:
            self.guard(now=lambda: 0.0).claim("k", token)

    def close(self) -> None:
        for connection in self._opened:
            connection.close()


@pytest.fixture(params=["redis", "row", "file"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    is_redis = request.param == "redis"
    path = request.getfixturevalue("redis_socket") if is_redis else ""
    made = Store(request.param, tmp_path, path)
    yield made
    made.close()


@pytest.fixture
def make_guard(store: Store) -> MakeGuard:
    return store.guard


def redis_client(path: str) -> Any:
    import redis

    return redis.Redis(unix_socket_path=path)


def test_the_first_claim_is_mine_and_the_second_names_the_holder(make_guard):
    guard = make_guard()

    assert guard.claim("k", "one") == MINE
    assert guard.claim("k", "two") == held("one")
    assert guard.claim("other", "two") == MINE


def test_a_claim_asked_again_with_its_token_is_mine_again(make_guard):
    guard = make_guard()

    assert guard.claim("k", "one").mine and guard.claim("k", "one").mine


def test_after_finish_the_holder_is_named_as_finished_even_to_itself(make_guard):
    guard = make_guard()
    guard.claim("k", "one")

    assert guard.finish("k", "one")

    assert guard.claim("k", "two") == held("one", finished=True)
    assert guard.claim("k", "one") == held("one", finished=True)


def test_after_release_the_key_is_free(make_guard):
    guard = make_guard()
    guard.claim("k", "one")

    assert guard.release("k", "one")

    assert guard.claim("k", "two") == MINE


def test_only_the_holder_can_finish_or_release_and_done_stays_done(make_guard):
    guard = make_guard()
    guard.claim("k", "one")

    assert not guard.finish("k", "two") and not guard.release("k", "two")
    guard.finish("k", "one")
    assert not guard.release("k", "one")
    assert guard.claim("k", "two").finished


def test_a_holder_whose_time_is_over_is_replaced_and_can_no_longer_finish(store):
    store.claim_and_run_out("one")
    guard = store.guard()

    answer = guard.claim("k", "two")

    assert answer.mine and answer.took_over in (None, "one")
    assert not guard.finish("k", "one")
    assert guard.finish("k", "two")


def test_a_finished_holder_is_not_replaced_when_its_running_time_is_over(store):
    guard = store.guard(run_for_s=0.5)
    guard.claim("k", "one")
    assert guard.finish("k", "one")
    time.sleep(0.55)

    assert guard.claim("k", "two") == held("one", finished=True)


@pytest.mark.parametrize("is_over", [False, True], ids=["free", "run out"])
def test_of_many_threads_that_claim_at_once_exactly_one_gets_the_key(store, is_over):
    if is_over:
        store.claim_and_run_out("dead")
    answers: dict[str, Answer] = {}
    together = threading.Barrier(8, timeout=30)

    def claim(token: str, guard: Any) -> None:
        together.wait()
        answers[token] = guard.claim("k", token)

    threads = [
        threading.Thread(target=claim, args=(f"t{n}", store.guard()), daemon=True) for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    assert len(answers) == 8
    winners = [token for token, answer in answers.items() if answer.mine]
    assert len(winners) == 1
    holders = {answer.holder for answer in answers.values() if not answer.mine}
    assert holders <= {winners[0], "dead"}


def test_of_many_processes_that_claim_at_once_exactly_one_gets_the_key(make_guard):
    reading, writing = os.pipe()
    children = []
    for n in range(6):
        child = os.fork()
        if not child:
            answer = make_guard().claim("k", f"p{n}")
            os.write(writing, b"M" if answer.mine else b"h")
            os._exit(0)
        children.append(child)
    os.close(writing)
    for child in children:
        os.waitpid(child, 0)

    said = os.read(reading, 100)
    os.close(reading)
    assert sorted(said) == sorted(b"Mhhhhh")


def test_a_holders_row_that_is_released_between_two_statements_is_claimed(tmp_path):
    connection = sqlite3.connect(tmp_path / "guard.db")
    guard = RowGuard(connection)
    guard.create_table()
    guard.claim("k", "one")
    find = guard._find
    guard._find = lambda key: (guard.release("k", "one"), find(key))[1]

    assert guard.claim("k", "two") == MINE
    connection.close()


def test_of_two_that_saw_the_same_dead_holder_one_takes_the_row_over(tmp_path):
    connection = sqlite3.connect(tmp_path / "guard.db")
    slow, quick = RowGuard(connection), RowGuard(connection)
    slow.create_table()
    RowGuard(connection, now=lambda: 0.0).claim("k", "dead")
    find = slow._find
    answers: list[Answer] = []

    def find_then_be_overtaken(key: str) -> Any:
        found = find(key)
        answers.append(quick.claim(key, "quick"))
        return found

    slow._find = find_then_be_overtaken

    assert slow.claim("k", "slow") == held("dead")
    assert answers == [Answer(mine=True, took_over="dead")]
    connection.close()


def test_a_redis_value_that_is_not_ours_is_held_by_somebody_unnamed(redis_socket, tmp_path):
    client = redis_client(redis_socket)
    client.set(f"{tmp_path}:k", "1")

    assert RedisGuard(client, prefix=f"{tmp_path}:").claim("k", "one") == held()
    client.close()


def test_an_empty_guard_file_is_held_by_somebody_unnamed(tmp_path):
    guard = FileGuard(tmp_path)
    guard._path("k").touch()

    assert guard.claim("k", "one") == held()


@pytest.mark.parametrize("name", ["x; DROP TABLE y", "", "a.b.c", "1a", "\u00e9"])
def test_a_tables_name_is_checked(name):
    with pytest.raises(counterfoil.CounterfoilError):
        RowGuard(None, table=name)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (True, MINE),
        (MINE, MINE),
        (False, held()),
        (None, held()),
        ("job-7", held("job-7")),
        (("job-7", True), held("job-7", finished=True)),
        ((None, True), held(None, finished=True)),
    ],
)
def test_a_plain_function_is_a_guard(said, answer):
    assert guards.as_guard(lambda key, token: said).claim("k", ids.v7()) == answer


def test_postgresql_is_spoken_to_with_its_own_marks():
    class Connection:
        __module__ = "psycopg"

    guard = RowGuard(Connection())

    assert guard._sql("SELECT ? FROM {table}") == "SELECT %s FROM counterfoil_once"
