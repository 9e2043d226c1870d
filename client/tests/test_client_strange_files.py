"""What else may lie in a spool directory: it holds up its own spool, and no other."""

from __future__ import annotations

import json
import logging
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakeledger import FakeLedger

import counterfoil
from counterfoil import cli, forwarding, state, status
from counterfoil import directory as folder
from counterfoil.composer import Composer
from counterfoil.spool import Spool

SECRET = b'{"id":"secret","kind":"done"}\n'
GOOD = "b.4194303.1.ready"
BAD = "a.4194303.1.ready"
LATER = 3.0


def put_good(spool: Path) -> None:
    spool.mkdir(exist_ok=True)
    (spool / GOOD).write_bytes(b'{"id":"good","kind":"done"}\n')


def make_unreadable(path: Path) -> None:
    path.write_bytes(SECRET)
    path.chmod(0)


def make_link(path: Path) -> None:
    target = path.parent.parent / "elsewhere"
    target.write_bytes(SECRET)
    path.symlink_to(target)


def sent(ledger: FakeLedger) -> set[str]:
    """Give the ids of all receipts but the spools' own reports."""
    told = (json.loads(line) for line in ledger.receipts.values())
    return {receipt["id"] for receipt in told if receipt["kind"] != "observe"}


def kinds(ledger: FakeLedger) -> set[str]:
    return {json.loads(line)["kind"] for line in ledger.receipts.values()}


MAKES: list[Any] = [
    pytest.param(
        make_unreadable,
        "Permission denied",
        marks=pytest.mark.skipif(not os.getuid(), reason="root may read everything"),
        id="not to be read",
    ),
    pytest.param(lambda path: path.mkdir(), "a directory, not a regular file", id="a directory"),
    pytest.param(os.mkfifo, "a FIFO, not a regular file", id="a FIFO"),
    pytest.param(make_link, "a link, not a regular file", id="a link"),
    pytest.param(
        lambda path: path.symlink_to(path.name), "a link, not a regular file", id="a link to itself"
    ),
]


@pytest.mark.parametrize("ending", ["ready", "open"])
@pytest.mark.parametrize(("make", "problem"), MAKES)
def test_a_file_that_cannot_be_read_holds_up_its_own_spool_and_is_named(
    make_client: Callable[..., counterfoil.Client],
    ledger: FakeLedger,
    spool: Path,
    make: Callable[[Path], object],
    problem: str,
    ending: str,
) -> None:
    put_good(spool)
    bad = (spool / BAD).with_suffix(f".{ending}")
    make(bad)
    client = make_client()

    outcome = client.forward_once()

    assert sent(ledger) == {"good"}
    assert (outcome.problem, outcome.sent) == ("", 1)
    assert f"({bad.name!r}: {problem})" in outcome.unreadable
    assert not client.flush()
    assert os.path.lexists(bad)
    found = status.of(spool)
    assert found.unreadable == [bad.name]
    assert [one.waiting for one in found.spools] == [None]
    assert f"1 files that cannot be read: {bad.name!r}" in forwarding.sentence_of(found)


def test_when_the_disk_refuses_to_open_one_file_the_others_are_sent(
    client: counterfoil.Client,
    ledger: FakeLedger,
    spool: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    put_good(spool)
    (spool / BAD).write_bytes(SECRET)
    really = os.open

    def refuse(path: Any, *args: Any, **kwargs: Any) -> int:
        if str(path).endswith(BAD):
            raise PermissionError(13, "Permission denied")
        return really(path, *args, **kwargs)

    monkeypatch.setattr(os, "open", refuse)
    outcome = client.forward_once()

    assert sent(ledger) == {"good"}
    assert outcome.unreadable.endswith(f"({BAD!r}: Permission denied)")
    monkeypatch.undo()
    assert client.forward_once().unreadable == ""
    assert sent(ledger) == {"good", "secret"}


@pytest.mark.parametrize(
    "name",
    [
        "a.4194303.1.sent",
        "a.4194303.1.state",
        "stray.state",
        "a-w-0123456789+1.4194303.1.new",
        "a-o-0123456789+1.4194303.1.ready",
        "tallies-t-0123456789+1.4194303.1.made",
        "tallies.json",
    ],
)
def test_a_directory_under_any_name_of_ours_stops_nothing(
    client: counterfoil.Client, ledger: FakeLedger, spool: Path, name: str
) -> None:
    put_good(spool)
    (spool / name).mkdir()
    if name == "a.4194303.1.state":
        (spool / BAD).write_bytes(SECRET)

    outcome = client.forward_once()

    assert sent(ledger) == {"good"}
    assert outcome.problem == ""
    status.of(spool)


@pytest.mark.parametrize("make", [os.mkfifo, make_link])
def test_a_journal_that_is_no_regular_file_is_not_tallied_and_the_others_are(
    client: counterfoil.Client,
    ledger: FakeLedger,
    spool: Path,
    make: Callable[[Path], object],
) -> None:
    other = Spool(spool, "one")
    other.append_outcome(b'["a","","1","done",1,1]\n', b"{}\n")
    other.close()
    bad = spool / "zzz-o-0123456789+1.4194303.1.ready"
    make(bad)

    outcome = client.forward_once()

    assert kinds(ledger) - {"observe"} == {"tally"}
    assert bad.name in outcome.unreadable
    assert status.of(spool).unreadable == [bad.name]
    assert os.path.lexists(bad)


@pytest.mark.parametrize("make", [os.mkfifo, make_link])
def test_what_the_forwarder_remembers_is_never_written_through_a_link(
    client: counterfoil.Client, ledger: FakeLedger, spool: Path, make: Callable[[Path], object]
) -> None:
    put_good(spool)
    stem = GOOD.removesuffix(".ready") if hasattr(str, "removesuffix") else GOOD[:-6]
    make(spool / f".{stem}.state.new")
    make_again = os.mkfifo if make is os.mkfifo else (lambda p: p.symlink_to("../elsewhere"))
    make_again(spool / f"{stem}.state")
    make_again(spool / f"{forwarding.HEALTH_NAME}.new")
    turn = client.turn()
    assert turn is not None

    turn.take()

    assert sent(ledger) == {"good"}
    elsewhere = spool.parent / "elsewhere"
    assert not elsewhere.exists() or elsewhere.read_bytes() == SECRET
    assert forwarding.read_health(spool) is not None
    turn.end()


def test_a_lock_that_is_a_link_is_not_taken(
    client: counterfoil.Client, spool: Path, tmp_path: Path
) -> None:
    put_good(spool)
    (spool / folder.LOCK_NAME).symlink_to(tmp_path / "elsewhere")

    outcome = client.forward_once()

    assert outcome.problem and not (tmp_path / "elsewhere").exists()


def test_it_is_said_once_and_the_pace_stays(
    client: counterfoil.Client, spool: Path, caplog: pytest.LogCaptureFixture
) -> None:
    put_good(spool)
    (spool / BAD).mkdir()
    turn = client.turn()
    assert turn is not None

    for _ in range(3):
        turn.take()

    said = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(said) == 1 and BAD in said[0]
    assert turn.next_at - time.monotonic() < LATER
    turn.end()


def test_files_whose_names_are_none_of_a_spool_are_counted_and_named(
    spool: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    put_good(spool)
    strange = ["neg.-1.1.ready", "..1.1.ready", "plain.open", "a.007.1.ready", "two\nlines.ready"]
    for name in strange:
        (spool / name).write_bytes(SECRET)
    (spool / "notes.txt").write_bytes(b"")

    assert cli.main(["--spool", str(spool), "spool", "status"]) == 0

    [first, *_] = said = capsys.readouterr().out.splitlines()
    assert "5 files whose names are no spool file names, so never sent: " in first
    assert "'neg.-1.1.ready'" in first and r"'two\nlines.ready'" in first
    assert len(said) == 2
    assert status.of(spool).strangers == sorted(strange)


def test_a_long_list_of_them_is_cut(spool: Path) -> None:
    spool.mkdir()
    for number in range(8):
        (spool / f"{number}.ready").touch()

    assert forwarding.sentence_of(status.of(spool)).endswith("'4.ready' and 3 more")


def test_a_state_in_whose_place_a_directory_lies_is_no_new_one(tmp_path: Path) -> None:
    (tmp_path / "a.state").mkdir()

    with pytest.raises(counterfoil.CounterfoilError):
        state.load(tmp_path / "a.state", "a")


def test_a_decision_that_may_not_be_read_is_not_made_anew(
    spool: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spool.mkdir()
    (spool / "tallies.json").write_text("{}")

    def refuse(*_: Any, **__: Any) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(counterfoil.CounterfoilError):
        Composer(spool).compose(everything=True)

    assert (spool / "tallies.json").exists()
