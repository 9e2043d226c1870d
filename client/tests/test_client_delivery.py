from __future__ import annotations

import fcntl
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import counterfoil
from counterfoil import alive, forwarder, reader, state, status
from counterfoil import directory as folder
from counterfoil.transport import Transport

SOURCE = str(Path(counterfoil.__file__).parents[1])
DEAD = "4194303.99"


def left(spool: Path) -> list[str]:
    return sorted(p.name for p in spool.iterdir() if p.name != folder.LOCK_NAME)


def wait_until(holds: Callable[[], bool], seconds: float = 20.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


def run_python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "PYTHONPATH": SOURCE}
    return subprocess.run(
        [sys.executable, "-c", code, *args], env=env, capture_output=True, text=True, timeout=60
    )


def put(spool: Path, name: str, data: bytes) -> Path:
    spool.mkdir(exist_ok=True)
    (spool / name).write_bytes(data)
    return spool / name


def test_a_receipt_is_delivered_and_its_file_deleted_when_the_spool_closes(client, ledger, spool):
    receipt = client.receipt("done", task="mail.send", job=101)

    client.close()
    outcome = client.forward_once()

    assert (outcome.sent, outcome.problem) == (1, "")
    sent = json.loads(ledger.receipts[receipt])
    assert sent["job"] == {"id": "101", "task": "mail.send"}
    assert left(spool) == []


def test_an_open_file_is_sent_and_kept_and_nothing_of_it_is_sent_twice(client, ledger, spool):
    client.receipt("done")
    client.forward_once()

    client.receipt("done")
    outcome = client.forward_once()

    assert outcome.sent == 1
    assert [b.count(b"\n") for _, b in ledger.requests] == [1, 1]
    assert [n for n in left(spool) if n.endswith(".open")]


def test_a_pass_ends_although_its_file_grows_with_every_request(client, ledger, monkeypatch):
    post = Transport.post

    def post_while_the_task_goes_on(self, body, content_type, feed=None):
        if len(ledger.requests) < 5:
            client.receipt("done")
        return post(self, body, content_type, feed)

    monkeypatch.setattr(Transport, "post", post_while_the_task_goes_on)
    client.receipt("done")

    assert client.forward_once().sent == 1
    assert client.forward_once().sent == 1


def test_the_numbers_of_a_spool_have_no_hole_across_requests_and_files(make_client, ledger):
    client = make_client(max_bytes=64 * 1024)
    for n in range(120):
        client.receipt("done", data={"n": n, "filler": "x" * 100})
        if n % 17 == 0:
            client.forward_once()

    client.close()
    client.forward_once()

    (numbers,) = ledger.numbers.values()
    assert sorted(numbers) == list(range(1, 121))
    assert [json.loads(numbers[n])["data"]["n"] for n in range(1, 121)] == list(range(120))


def test_a_request_holds_at_most_a_thousand_lines(client, ledger):
    for _ in range(2100):
        client.write_line(b'{"kind":"done"}\n', durable=False)

    client.forward_once()

    assert [b.count(b"\n") for _, b in ledger.requests] == [1000, 1000, 100]
    firsts = [h["counterfoil-feed"].split("=")[1] for h, _ in ledger.requests]
    assert firsts == ["1", "1001", "2001"]


def test_a_request_holds_at_most_eight_mebibytes(client, ledger):
    for n in range(10):
        client.receipt("done", data={"n": n, "filler": "x" * 1_000_000})

    client.forward_once()

    assert max(len(body) for _, body in ledger.requests) <= reader.MAX_BYTES
    assert len(ledger.of_kind("done")) == 10


KILLED = """
import os, sys, signal
import counterfoil
counterfoil.configure(spool=sys.argv[1], send=False)
ids = [counterfoil.receipt("done", task="a"), counterfoil.skip(key="k", reason="in_flight")]
print(*ids, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_process_had_written_the_next_one_delivers_once(client, ledger, spool):
    killed = run_python(KILLED, str(spool))
    assert killed.returncode == -signal.SIGKILL

    client.forward_once()
    again = client.forward_once()

    assert set(killed.stdout.split()) <= set(ledger.receipts)
    assert again.sent == 0
    assert left(spool) == []
    assert {f["end"] for f in ledger.feeds} == {"writer_gone"}


def test_a_process_killed_after_sending_and_before_noting_it_sends_the_same_again(
    make_client, ledger, spool
):
    client = make_client()
    receipt = client.receipt("done")
    ledger.script = ["drop"]

    first = client.forward_once()
    second = make_client().forward_once()

    assert first.problem and ledger.receipts.keys() == {receipt}
    client._sender.forwarder.close()
    assert second.is_busy
    assert make_client().forward_once().sent == 1
    assert not ledger.conflicts and len(ledger.receipts) == 1


def test_a_reply_that_is_lost_once_is_made_up_for_in_the_same_pass(client, ledger):
    client.receipt("done")
    client.forward_once()
    ledger.script = ["drop"]
    client.receipt("done")

    outcome = client.forward_once()

    assert (outcome.sent, outcome.problem) == (1, "")
    assert len(ledger.receipts) == 2 and not ledger.conflicts


@pytest.mark.parametrize("status_code", [401, 403, 404, 429, 500, 502, 503, 301])
def test_lines_of_a_request_with_this_status_stay(client, ledger, spool, status_code):
    ledger.script = [status_code] * 3
    client.receipt("done")
    client.close()

    outcome = client.forward_once()

    assert outcome.problem and outcome.sent == 0
    assert status.of(spool).waiting == 1
    ledger.script = []
    assert client.forward_once().sent == 1
    assert left(spool) == []


@pytest.mark.parametrize("status_code", [401, 403, 429, 500, 503])
def test_a_line_with_this_status_stays_and_those_before_it_do_not(client, ledger, status_code):
    refused = {"on": True}
    ledger.verdict = lambda line: status_code if refused["on"] and b'"third"' in line else None
    for n in ("first", "second", "third", "fourth"):
        client.receipt("done", id=n)

    outcome = client.forward_once()

    assert outcome.problem
    refused["on"] = False
    client.forward_once()
    assert set(ledger.receipts) == {"first", "second", "third", "fourth"}
    (numbers,) = ledger.numbers.values()
    assert [json.loads(numbers[n])["id"] for n in (1, 2, 3, 4)] == list(ledger_order(numbers))


def ledger_order(numbers: dict[int, bytes]) -> list[str]:
    return [json.loads(numbers[n])["id"] for n in sorted(numbers)]


@pytest.mark.parametrize("status_code", [202, 409, 413])
def test_a_line_that_is_set_aside_or_in_conflict_or_too_large_is_answered(
    client, ledger, spool, status_code
):
    ledger.verdict = lambda line: status_code if b'"done"' in line else None
    client.receipt("done")
    client.close()

    assert client.forward_once().sent == 1
    assert left(spool) == []


def test_a_page_of_something_else_at_the_address_deletes_nothing(client, ledger, spool):
    ledger.take = lambda headers, body: (200, {}, b"<html>\nlog in\n</html>", False)
    client.receipt("done")
    client.close()

    outcome = client.forward_once()

    assert outcome.problem
    assert status.of(spool).waiting == 1


def test_one_line_that_breaks_the_server_holds_up_its_own_spool_only(make_client, ledger, spool):
    ledger.verdict = lambda line: 500 if b"poison" in line else None
    one, other = make_client(), make_client()
    for n in range(20):
        one.receipt("done", id=f"one-{n}", data="poison" if n == 10 else "fine")
        other.receipt("done", id=f"other-{n}")

    outcome = one.forward_once()

    assert "500" in outcome.problem
    assert {f"other-{n}" for n in range(20)} <= set(ledger.receipts)
    assert {f"one-{n}" for n in range(10)} <= set(ledger.receipts)
    assert status.of(spool).waiting == 10


@pytest.mark.parametrize("status_code", [429, 503])
def test_retry_after_is_handed_to_whoever_waits(client, ledger, status_code):
    ledger.script = [(status_code, 17)]
    client.receipt("done")

    assert client.forward_once().retry_after_s == 17.0


def test_a_torn_line_waits_while_its_writer_lives(client, ledger, spool):
    name = f"app.{os.getpid()}.{alive.own_start()}.open"
    path = put(spool, name, b'{"kind":"done","id":"a"}\n{"kind":"do')

    client.forward_once()
    with path.open("ab") as more:
        more.write(b'ne","id":"b"}\n')
    client.forward_once()

    assert set(ledger.receipts) == {"a", "b"} and not ledger.set_aside


def test_a_torn_line_is_sent_as_bytes_when_its_writer_is_gone(client, ledger, spool):
    put(spool, f"app.{DEAD}.open", b'{"kind":"done","id":"a"}\n{"kind":"do')

    client.forward_once()

    assert ledger.set_aside == [b'{"kind":"do']
    assert left(spool) == []
    (numbers,) = ledger.numbers.values()
    assert sorted(numbers) == [1, 2]


def test_a_recycled_pid_is_not_taken_for_the_writer(client, ledger, spool):
    put(spool, f"app.{os.getpid()}.1.open", b'{"kind":"do')

    client.forward_once()

    assert ledger.set_aside == [b'{"kind":"do']


def test_a_writer_that_holds_the_files_lock_lives_whatever_its_pid_says(client, ledger, spool):
    path = put(spool, f"app.{DEAD}.open", b'{"kind":"do')
    with path.open("ab") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        client.forward_once()
        assert ledger.set_aside == [] and path.exists()

    client.forward_once()

    assert ledger.set_aside == [b'{"kind":"do'] and not path.exists()


def test_a_start_given_as_the_time_of_opening_is_understood(spool):
    now = int(time.time())

    assert alive.is_process(os.getpid(), str(now))
    assert alive.is_process(os.getpid(), str(now * 1000))
    assert not alive.is_process(os.getpid(), str(now - 10**7))
    assert not alive.is_process(4194303, str(now))


def test_a_zombie_is_not_taken_for_a_writer():
    child = os.fork()
    if not child:
        os._exit(0)
    start = alive.own_start()
    wait_until(lambda: alive.start_of(child) is None)

    assert not alive.is_process(child, start)
    os.waitpid(child, 0)


def test_blank_lines_are_neither_sent_nor_counted(client, ledger, spool):
    put(
        spool,
        f"app.{DEAD}.ready",
        b'\n{"id":"a","kind":"done"}\n  \n\r\n{"id":"b","kind":"done"}\n\n',
    )

    client.forward_once()

    (numbers,) = ledger.numbers.values()
    assert ledger_order(numbers) == ["a", "b"] and sorted(numbers) == [1, 2]
    assert left(spool) == []


def test_bytes_that_are_no_json_arrive_as_they_are(client, ledger, spool):
    put(spool, f"app.{DEAD}.ready", b"\x00\x00\xff not json\n")

    client.forward_once()

    assert ledger.set_aside == [b"\x00\x00\xff not json"]


def test_a_line_longer_than_a_request_goes_alone_and_holds_up_nothing(make_client, ledger, spool):
    put(spool, f"app.{DEAD}.ready", b"x" * 5000 + b'\n{"id":"a","kind":"done"}\n')
    settings = make_client().settings
    sender = forwarder.Forwarder(spool, Transport(settings), max_bytes=2000)

    sender.pass_once()
    sender.close()

    assert len(ledger.set_aside[0]) == 2001
    assert "a" in ledger.receipts and left(spool) == []


def test_a_file_that_gets_the_name_of_a_sent_one_is_numbered_on(client, ledger, spool):
    name = f"app.{os.getpid()}.{alive.own_start()}.ready"
    put(spool, name, b'{"kind":"done","data":1}\n')
    client.forward_once()

    put(spool, name, b'{"kind":"done","data":2}\n')
    client.forward_once()

    (numbers,) = ledger.numbers.values()
    assert sorted(numbers) == [1, 2] and len(ledger.receipts) == 2


def test_a_crash_between_sending_the_last_line_and_deleting_the_file_numbers_nothing_twice(
    client, ledger, spool
):
    name = f"app.{os.getpid()}.{alive.own_start()}"
    put(spool, f"{name}.sent", b'{"kind":"done","data":1}\n')
    state.save(spool / f"{name}.state", state.SpoolState("s", 2, 1, 0, 1, 25))
    put(spool, f"{name}.ready", b'{"kind":"done","data":2}\n')

    client.forward_once()

    assert ledger.numbers["s"].keys() == {2}
    assert not (spool / f"{name}.sent").exists()


@pytest.mark.parametrize("text", ["", "{", '{"spool": 1}', "[]", '{"spool":"s","next_number":"x"}'])
def test_a_spoilt_note_of_progress_only_means_sending_again(client, ledger, spool, text):
    put(spool, f"app.{DEAD}.ready", b'{"id":"a","kind":"done"}\n')
    put(spool, f"app.{DEAD}.state", text.encode())

    client.forward_once()

    assert "a" in ledger.receipts and left(spool) == []


def test_what_writers_and_forwarders_left_half_made_is_cleared_away(client, ledger, spool):
    put(spool, f"app-d-0123456789+1.{DEAD}.new", b"")
    put(spool, f"app.{DEAD}.ready", b'{"kind":"done"}\n')
    put(spool, f".app.{DEAD}.state.new", b"{")

    client.forward_once()

    assert left(spool) == []


def test_only_one_forwarder_works_on_a_directory(make_client):
    one, other = make_client(), make_client()
    one.receipt("done")
    one.forward_once()

    assert other.forward_once().is_busy

    one._sender.forwarder.close()
    assert not other.forward_once().is_busy


def test_a_fork_does_not_keep_its_parents_lock(client, make_client):
    client.receipt("done")
    client.forward_once()
    reading, writing = os.pipe()
    waiting, telling = os.pipe()
    child = os.fork()
    if not child:
        os.write(telling, b".")
        os.close(writing)
        os.read(reading, 1)
        os._exit(0)
    os.read(waiting, 1)
    client._sender.forwarder.close()

    assert not make_client().forward_once().is_busy

    for handle in (reading, writing, waiting, telling):
        os.close(handle)
    os.waitpid(child, 0)


def test_once_a_minute_a_spool_says_how_it_stands(make_client, ledger, spool):
    clock = [time.time()]
    client = make_client()
    sender = forwarder.Forwarder(spool, Transport(client.settings), host="w7", now=lambda: clock[0])
    client.receipt("done")
    sender.pass_once()
    assert ledger.feeds == []

    clock[0] += 61
    ledger.verdict = lambda line: 503 if b'"done"' in line else None
    client.receipt("done")
    sender.pass_once()
    ledger.verdict = lambda line: None
    sender.pass_once()
    sender.close()

    (feed,) = ledger.feeds
    assert feed["spool"].startswith("w7:")
    assert (feed["written"], feed["sent"], feed["unsent"]) == (2, 2, 0)
    assert feed["oldest_unsent_s"] is None and "closed" not in feed


def test_a_closed_spool_says_so_until_it_is_answered(client, ledger, spool):
    client.receipt("done")
    client.close()
    ledger.verdict = lambda line: 503 if b'"feed"' in line else None
    client.forward_once()
    assert [n for n in left(spool) if n.endswith(".state")]

    ledger.verdict = lambda line: None
    client.forward_once()

    (feed,) = ledger.feeds
    assert feed["closed"] is True and feed["end"] == "in_order" and feed["written"] == 1
    assert left(spool) == []


def test_the_age_of_the_oldest_unsent_receipt_is_shown(client, spool):
    put(
        spool,
        f"app.{DEAD}.ready",
        b'{"kind":"done","occurred_at":"2026-01-01T00:00:00.000000Z"}\n{"kind":"done"}\n',
    )

    found = status.of(spool)

    assert found.waiting == 2
    assert found.oldest_unsent_s == pytest.approx(time.time() - 1767225600, abs=60)


def test_a_thread_delivers_while_the_process_works_and_after_a_fork(make_client, ledger):
    client = make_client(send=True)
    client.receipt("done", id="parent")
    wait_until(lambda: "parent" in ledger.receipts)
    client._sender.forwarder.close()

    child = os.fork()
    if not child:
        client.receipt("done", id="child")
        client.flush(10)
        os._exit(0)

    os.waitpid(child, 0)
    wait_until(lambda: "child" in ledger.receipts)


def test_flush_says_whether_all_is_delivered(make_client, ledger):
    client = make_client()
    client.receipt("done")
    assert client.flush()

    ledger.script = [503]
    client.receipt("done")
    assert not client.flush(0.1)


@pytest.fixture
def black_hole() -> str:
    """An address that takes connections and never answers."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_a_server_that_never_answers_costs_a_task_nothing(make_client, black_hole):
    client = make_client(url=black_hole, send=True)
    begun = time.monotonic()

    for _ in range(200):
        client.receipt("done")
    client.skip(key="k", reason="in_flight")

    assert time.monotonic() - begun < 3
    assert status.of(client.settings.spool).waiting == 201


def test_a_server_that_is_down_is_said_once_and_never_with_the_token(make_client, caplog):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    client = make_client(url=f"http://user:pass@127.0.0.1:{port}", token="cf_secret", send=True)
    caplog.set_level(logging.DEBUG, "counterfoil")

    for _ in range(3):
        client.receipt("done")
        outcome = client.forward_once()

    said = caplog.text + str(outcome) + repr(client.settings)
    assert "Connection refused" in outcome.problem
    assert "cf_secret" not in said and "pass@" not in said


@pytest.mark.parametrize("token", ["two words", "line\nbreak", "h\u00e9"])
def test_a_token_that_cannot_be_one_is_a_problem_and_is_not_shown(make_client, ledger, token):
    client = make_client(token=token)
    client.receipt("done")

    outcome = client.forward_once()

    assert "token" in outcome.problem and token not in outcome.problem
    assert ledger.requests == []


def test_a_token_file_is_read_anew(make_client, ledger, tmp_path):
    path = tmp_path / "token"
    path.write_text("cf_old\n")
    client = make_client(token=None, token_file=path)
    client.receipt("done")
    assert "401" in client.forward_once().problem

    path.write_text(f"{ledger.token}\n")

    assert client.forward_once().sent == 1


def test_two_processes_are_delivered_by_one_forwarder(client, ledger, spool):
    code = (
        "import sys, counterfoil\n"
        "counterfoil.configure(spool=sys.argv[1], send=False)\n"
        "for n in range(250): counterfoil.receipt('done')\n"
    )
    threads = [threading.Thread(target=run_python, args=(code, str(spool))) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        client.forward_once()
        threads[0].join(0.02)
    client.forward_once()

    assert len(ledger.of_kind("done")) == 500
    assert sorted(map(len, ledger.numbers.values())) == [250, 250]
    assert left(spool) == []
