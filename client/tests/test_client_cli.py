from __future__ import annotations

import json
import logging
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fakeledger import FakeLedger

import counterfoil
from counterfoil import cli, options, status
from counterfoil import directory as folder

SOURCE = str(Path(counterfoil.__file__).parents[1])


@pytest.fixture
def call(spool, ledger, monkeypatch, capsys):
    """Give a function that runs the command in this process: exit code, output, errors."""
    monkeypatch.setenv("COUNTERFOIL_URL", ledger.url)
    monkeypatch.setenv("COUNTERFOIL_TOKEN", ledger.token)
    monkeypatch.setenv("COUNTERFOIL_SPOOL", str(spool))

    # The command logs by itself, and not by what other tests of this process left behind.
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", root.level)

    def run(*argv: str) -> tuple[int, str, str]:
        root.handlers.clear()
        try:
            code = cli.main(list(argv))
        except SystemExit as ended:
            code = int(ended.code or 0)
        said = capsys.readouterr()
        return code, said.out.strip(), said.err.strip()

    return run


def test_a_receipt_is_printed_by_its_id_and_delivered_at_once(call, ledger, spool):
    code, out, _ = call(
        *("receipt", "done", "--task", "pay", "--job", "7", "--subject", "payout:PO-1"),
        *("--key", "statifier.invoke:scope=exec_a1,step=4", "--data", '{"rows": 3}'),
        *("--fields", '{"trace": {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}}'),
    )

    sent = json.loads(ledger.receipts[out])
    assert code == 0
    assert sent["job"] == {"id": "7", "task": "pay"} and sent["data"] == {"rows": 3}
    assert sent["subjects"] == [{"type": "payout", "id": "PO-1"}]
    assert sent["key"]["recipe"] == "statifier.invoke"
    assert sent["key"]["fields"] == {"scope": "exec_a1", "step": "4"}
    assert sent["trace"]["trace_id"].startswith("4bf9")


@pytest.mark.parametrize(
    ("argv", "original"),
    [
        (["--original", "receipt:r-1"], {"receipt": "r-1"}),
        (["--original", "job:101"], {"job": "101"}),
        (["--original", "none"], None),
        ([], "absent"),
        (["--holder", "101"], {"job": "101"}),
    ],
)
def test_a_skip_names_its_original_or_says_that_there_is_none_or_nothing(
    call, ledger, argv, original
):
    call("skip", "--reason", "in_flight", "--key", "payout=PO-1", *argv)

    (skip,) = ledger.of_kind("skip")
    assert skip.get("original", "absent") == original


def test_a_skip_is_explained_by_a_rule(call, ledger):
    call("skip", "--reason", "rate_limited", "--rule", "mail.hourly", "--rule-version", "3")

    (skip,) = ledger.of_kind("skip")
    assert skip["rule"] == {"name": "mail.hourly", "version": "3"}


def test_an_act_says_who_and_why(call, ledger):
    call("act", "pause", "queue:payouts", "--by", "u-17", "--why", "month end")

    (act,) = ledger.of_kind("act")
    assert act["act"] == {"verb": "pause", "target": "queue:payouts"}
    assert act["actor"] == {"type": "person", "id": "u-17"} and act["reason"] == "month end"


def test_a_beat_carries_what_the_loop_saw(call, ledger):
    call(
        "beat",
        "sweep",
        "--channel",
        "lobby:90..100",
        "--channel",
        "a:b:7..9=gap",
        "--period",
        "45m",
    )

    (beat,) = ledger.of_kind("heartbeat")
    assert (beat["loop"], beat["beat"], beat["period_s"]) == ("sweep", "ok", 2700.0)
    assert beat["channels"] == [
        {"channel": "lobby", "from": "90", "to": "100", "outcome": "clean"},
        {"channel": "a:b", "from": "7", "to": "9", "outcome": "gap"},
    ]


def run_command(*argv: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "counterfoil", *argv],
        env={**os.environ, "PYTHONPATH": SOURCE, **env},
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_run_stands_between_two_beats_and_ends_as_its_command_did(spool, ledger):
    env = {
        "COUNTERFOIL_URL": ledger.url,
        "COUNTERFOIL_TOKEN": ledger.token,
        "COUNTERFOIL_SPOOL": str(spool),
    }

    ended = run_command("run", "--loop", "nightly", "--", "sh", "-c", "echo out; exit 7", **env)

    start, end = ledger.of_kind("heartbeat")
    assert (ended.returncode, ended.stdout) == (7, "out\n")
    assert (start["beat"], end["beat"]) == ("start", "fail")
    assert start["run_id"] == end["run_id"] and end["data"]["exit_code"] == 7


@pytest.mark.parametrize(
    ("argv", "code"),
    [(["true"], 0), (["sh", "-c", "kill -9 $$"], 137), (["no-such-command"], 127)],
)
def test_run_passes_the_exit_code_through_with_the_server_down(spool, argv, code):
    env = {"COUNTERFOIL_URL": down(), "COUNTERFOIL_SPOOL": str(spool)}

    assert run_command("run", "--loop", "nightly", "--", *argv, **env).returncode == code
    assert status.of(spool).waiting == 2


def test_run_hands_on_the_signal_that_ends_it(spool):
    env = {**os.environ, "PYTHONPATH": SOURCE, "COUNTERFOIL_SPOOL": str(spool)}
    command = [
        "run",
        "--loop",
        "n",
        "--",
        "sh",
        "-c",
        "trap 'kill $!; exit 9' TERM; sleep 60 & echo up; wait",
    ]
    process = subprocess.Popen(
        [sys.executable, "-m", "counterfoil", *command], env=env, stdout=subprocess.PIPE
    )
    assert process.stdout is not None and process.stdout.readline() == b"up\n"

    process.send_signal(signal.SIGTERM)

    assert process.wait(30) == 9
    process.stdout.close()


def down() -> str:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}"


def test_the_exit_code_is_0_when_the_server_is_down_and_the_spool_holds_it(
    call, spool, monkeypatch
):
    monkeypatch.setenv("COUNTERFOIL_URL", down())

    assert call("receipt", "done")[0] == 0
    assert call("forward", "--once")[0] == 0
    code, out, _ = call("spool", "status", "--json")

    assert code == 0 and json.loads(out)["waiting"] == 1


def test_what_was_spooled_before_is_delivered_later(call, ledger, spool):
    for _ in range(3):
        call("receipt", "done", "--no-send")
    assert "3 waiting" in call("spool", "status")[1]

    code, out, _ = call("forward", "--spool", str(spool), "--once")

    assert (code, out) == (0, "sent 3, waiting 0")
    assert [p.name for p in spool.iterdir()] == [folder.LOCK_NAME]


def test_forwarding_to_nowhere_is_a_wrong_option(call, monkeypatch):
    monkeypatch.delenv("COUNTERFOIL_URL")

    code, _, said = call("forward", "--once")

    assert code == options.USAGE and "COUNTERFOIL_URL" in said


@pytest.mark.parametrize(
    "argv",
    [["receipt", "done"], ["beat", "sweep"], ["skip"], ["forward", "--status"]],
    ids=" ".join,
)
def test_what_finds_no_place_in_the_spool_ends_with_2_or_1_and_a_sentence(call, tmp_path, argv):
    (tmp_path / "file").touch()

    code, out, said = call("--spool", str(tmp_path / "file"), *argv)

    assert code == (1 if "--status" in argv else 2)
    assert "Traceback" not in said
    assert bool(out) is ("--status" in argv)


def test_flush_sends_what_waits(call, ledger):
    call("receipt", "done", "--no-send")

    assert call("spool", "flush")[0] == 0
    assert len(ledger.of_kind("done")) == 1


def test_forward_goes_on_until_it_is_told_to_end(spool, ledger):
    env = {
        **os.environ,
        "PYTHONPATH": SOURCE,
        "COUNTERFOIL_URL": ledger.url,
        "COUNTERFOIL_TOKEN": ledger.token,
    }
    argv = ["forward", "--spool", str(spool)]
    process = subprocess.Popen([sys.executable, "-m", "counterfoil", *argv], env=env)
    try:
        spool.mkdir(exist_ok=True)
        (spool / "cron.4194303.1.ready").write_text('{"kind":"done","id":"a"}\n')
        until = time.monotonic() + 30
        while "a" not in ledger.receipts:
            assert time.monotonic() < until
            time.sleep(0.02)
    finally:
        process.terminate()

    assert process.wait(30) == 0


@pytest.mark.parametrize(
    "argv",
    [
        [],
        ["nonsense"],
        ["receipt"],
        ["receipt", "done", "--key", "nothing"],
        ["receipt", "done", "--key", "a=1,b"],
        ["receipt", "done", "--data", "{"],
        ["receipt", "done", "--data", "[1]"],
        ["receipt", "done", "--subject", "PO-1"],
        ["skip", "--original", "PO-1"],
        ["skip", "--original", "none", "--holder", "x"],
        ["act", "pause", "queue:payouts", "--by", "u-17"],
        ["beat", "sweep", "--channel", "lobby:90"],
        ["beat", "sweep", "--channel", "lobby:..9"],
        ["beat", "sweep", "--period", "soon"],
        ["run", "--loop", "nightly"],
        ["run", "--loop", "nightly", "--"],
        ["--url", "ledger.example", "receipt", "done"],
        ["--source", "oban", "receipt", "done"],
        ["spool", "burn"],
    ],
    ids=" ".join,
)
def test_wrong_options_end_with_3_and_a_sentence_and_leave_nothing(call, spool, argv):
    code, out, said = call(*argv)

    assert (code, out) == (options.USAGE, "")
    assert said.splitlines()[-1].startswith("counterfoil")
    assert not spool.exists()


def test_a_spool_that_cannot_be_written_ends_with_2(call, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COUNTERFOIL_SPOOL", str(tmp_path / "file" / "spool"))

    code, out, said = call("act", "pause", "queue:a", "--by", "u", "--why", "w")

    assert ((code, out) == (2, "") and "could not be put" in said) or "cannot be written" in said


def test_off_leaves_no_trace_and_still_runs_the_command(call, spool, monkeypatch):
    monkeypatch.setenv("COUNTERFOIL_OFF", "1")

    assert call("receipt", "done")[0] == 0
    assert call("forward", "--once")[0] == 0
    assert run_command("run", "--loop", "n", "--", "sh", "-c", "exit 3").returncode == 3
    assert not spool.exists()


def test_no_command_takes_a_token(call):
    _, out, _ = call("--help")

    assert "--token " not in out and "COUNTERFOIL_TOKEN_FILE" in out


def test_the_module_says_how_it_is_set_up(monkeypatch, spool, ledger: FakeLedger):
    monkeypatch.setenv("COUNTERFOIL_SPOOL", str(spool))
    counterfoil.configure(url=ledger.url, token=ledger.token, send=False)

    receipt = counterfoil.receipt("done", task="a")
    assert counterfoil.flush()
    counterfoil.close()

    assert receipt in ledger.receipts
    monkeypatch.setattr(counterfoil, "_default", None)
