from __future__ import annotations

import json
import logging
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakeledger import FakeLedger

import counterfoil
from counterfoil import cli, forwarding, status
from counterfoil import directory as folder

SOURCE = str(Path(counterfoil.__file__).parents[1])


def put(directory: Path, *receipts: str) -> None:
    directory.mkdir(exist_ok=True)
    lines = "".join(f'{{"kind":"done","id":"{name}"}}\n' for name in receipts)
    (directory / f"cron-{receipts[0]}.4194303.1.ready").write_text(lines)


def wait_until(holds: Callable[[], object], seconds: float = 30.0) -> None:
    until = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.01)


def catches(pid: int, number: int) -> bool:
    """Say whether a process has its own handler for a signal by now."""
    caught = re.search(r"^SigCgt:\s*(\w+)$", Path(f"/proc/{pid}/status").read_text(), re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)


@pytest.fixture
def start(ledger: FakeLedger) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    begun: list[subprocess.Popen[str]] = []

    def begin(*argv: str, **env: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "counterfoil", "forward", *argv],
            env={
                **os.environ,
                "PYTHONPATH": SOURCE,
                "COUNTERFOIL_URL": ledger.url,
                "COUNTERFOIL_TOKEN": ledger.token,
                **env,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        begun.append(process)
        return process

    yield begin
    for process in begun:
        process.kill()
        process.communicate()


@pytest.fixture
def turn(make_client: Callable[..., counterfoil.Client]) -> forwarding.Turn:
    made = make_client().turn()
    assert made is not None
    return made


@pytest.mark.slow
def test_one_process_forwards_several_directories(
    start: Callable[..., subprocess.Popen[str]], ledger: FakeLedger, tmp_path: Path
) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    put(one, "a")
    put(other, "b")

    process = start("--spool", str(one), "--spool", str(other))

    wait_until(lambda: {"a", "b"} <= set(ledger.receipts))
    process.terminate()
    assert process.wait(30) == 0


@pytest.mark.slow
def test_told_to_end_it_finishes_the_request_at_hand_and_no_other(
    start: Callable[..., subprocess.Popen[str]], ledger: FakeLedger, spool: Path
) -> None:
    put(spool, *map(str, range(1500)))
    ledger.gate.clear()
    process = start("--spool", str(spool))
    assert ledger.is_asked.wait(30)

    process.terminate()
    time.sleep(0.2)
    ledger.gate.set()

    assert process.wait(30) == 0
    assert len(ledger.receipts) == 1000
    assert status.of(spool).waiting == 500
    assert not (spool / forwarding.HEALTH_NAME).exists()


@pytest.mark.slow
def test_its_status_is_read_from_beside_the_spool(
    start: Callable[..., subprocess.Popen[str]],
    ledger: FakeLedger,
    spool: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    put(spool, "a")
    ask = ["forward", "--spool", str(spool), "--status"]
    assert cli.main(ask) == 1
    assert "no forwarder has this directory; 1 waiting" in capsys.readouterr().out
    process = start("--spool", str(spool))
    wait_until(lambda: "a" in ledger.receipts and forwarding.read_health(spool))

    assert cli.main(ask) == 0

    said = capsys.readouterr().out
    assert f"forwarded by process {process.pid}" in said
    assert "delivering" in said
    assert cli.main(["--spool", str(spool), "spool", "status", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["is_forwarded"] is True


def test_a_server_that_refuses_is_in_the_status(
    turn: forwarding.Turn, ledger: FakeLedger, spool: Path
) -> None:
    put(spool, "a")
    ledger.script = [(429, 7), 503]

    turn.take()

    is_well, said = forwarding.verdict_of(spool, time.time() + 30)
    assert is_well
    assert "not delivering for 30 s" in said and "status 429: over quota" in said
    assert turn.next_at - time.monotonic() > 6
    turn.take()
    turn.take()
    assert "delivering, 1 lines sent" in forwarding.verdict_of(spool, time.time())[1]
    turn.end()


def test_a_forwarder_that_makes_no_pass_any_more_hangs(turn: forwarding.Turn, spool: Path) -> None:
    put(spool, "a")
    turn.take()

    is_well, said = forwarding.verdict_of(spool, time.time() + 200)

    assert (is_well, said.endswith("it hangs")) == (False, True)
    turn.end()


def test_a_thread_of_a_writer_counts_as_a_forwarder(
    make_client: Callable[..., counterfoil.Client], spool: Path
) -> None:
    client = make_client()
    put(spool, "a")
    client.forward_once()

    assert forwarding.verdict_of(spool, time.time()) == (
        True,
        "forwarded by a thread of one of its writers",
    )


def test_once_a_minute_it_says_in_one_line_how_it_is_doing(
    turn: forwarding.Turn,
    make_client: Callable[..., counterfoil.Client],
    ledger: FakeLedger,
    spool: Path,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    caplog.set_level(logging.INFO)
    put(spool, "a", "b")
    turn.take()
    assert "delivering" not in caplog.text
    monkeypatch.setattr(forwarding, "SAY_EVERY_S", 0.0)
    make_client(name="writer").outcome("mail.send", "mail", "1")

    turn.take()

    [said] = [r.getMessage() for r in caplog.records if "delivering" in r.getMessage()]
    assert f"{spool}: delivering; in 0 s sent 3 lines, made 0 tallies; 0 waiting" in said
    assert "1 outcomes to be tallied" in said
    assert "\n" not in said
    turn.end()


def test_a_disk_that_is_full_for_its_health_stops_nothing(
    turn: forwarding.Turn, ledger: FakeLedger, spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(spool, "a")

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    turn.take()

    assert "a" in ledger.receipts
    monkeypatch.undo()
    turn.end()


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"pid": 1}'])
def test_a_health_that_cannot_be_read_is_none(spool: Path, text: str) -> None:
    spool.mkdir()
    (spool / forwarding.HEALTH_NAME).write_text(text)

    assert forwarding.read_health(spool) is None


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc here")
def test_switched_off_it_waits_for_its_end_and_leaves_no_trace(
    start: Callable[..., subprocess.Popen[str]], spool: Path
) -> None:
    process = start("--spool", str(spool), COUNTERFOIL_OFF="1")
    wait_until(lambda: catches(process.pid, signal.SIGTERM))

    process.terminate()

    assert process.wait(30) == 0
    assert not spool.exists()


def test_the_lock_file_alone_does_not_say_that_one_runs(spool: Path) -> None:
    spool.mkdir()
    (spool / folder.LOCK_NAME).touch()

    assert forwarding.verdict_of(spool, 0.0)[0] is False
