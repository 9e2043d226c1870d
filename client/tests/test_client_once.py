from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import counterfoil
from counterfoil import directory as folder
from counterfoil import ids
from counterfoil.claims import Once, Skipped
from counterfoil.guards import MINE, Answer, FileGuard, held

SOURCE = str(Path(counterfoil.__file__).parents[1])


class Recording:
    """A guard that remembers what it was asked and what was on disk at that moment."""

    def __init__(self, spool: Path, answer: Any = MINE) -> None:
        self.spool, self.answer = spool, answer
        self.asked: list[tuple[str, str, list[str]]] = []

    def claim(self, key: str, token: str) -> Any:
        self._note("claim", token)
        return self.answer

    def finish(self, key: str, token: str) -> None:
        self._note("finish", token)

    def release(self, key: str, token: str) -> None:
        self._note("release", token)

    def _note(self, verb: str, token: str) -> None:
        self.asked.append((verb, token, kinds(self.spool)))


def receipts_on_disk(spool: Path) -> list[dict[str, Any]]:
    if not spool.is_dir():
        return []
    files = [f for found in folder.spools(spool).values() for f in found]
    return [json.loads(x) for f in files for x in (spool / f.filename).read_bytes().splitlines()]


def kinds(spool: Path) -> list[str]:
    return [receipt["kind"] for receipt in receipts_on_disk(spool)]


def once(client: counterfoil.Client, key: Any, guard: Any, **fields: Any) -> Once:
    return counterfoil.once(key, guard, client=client, **fields)


def test_the_order_is_claim_start_work_done_finish(client, spool):
    guard = Recording(spool)
    during: list[str] = []

    with once(client, "payout:PO-1", guard) as claim:
        assert claim.mine
        during += kinds(spool)

    assert during == ["start"]
    assert [(verb, seen) for verb, _, seen in guard.asked] == [
        ("claim", []),
        ("finish", ["start", "done"]),
    ]


def test_the_token_is_the_id_of_the_start_and_the_done_is_named_by_it(client, spool):
    guard = Recording(spool)

    once(client, "k", guard, task="payout").run(lambda: None)

    start, done = receipts_on_disk(spool)
    assert guard.asked[0][1] == start["id"] and done["id"] == ids.v5(start["id"], "done")
    assert (
        start["key"]
        == done["key"]
        == {
            "recipe": "once",
            "version": "1",
            "fields": {"key": "k"},
        }
    )
    assert start["job"] == done["job"] == {"task": "payout"}


@pytest.mark.parametrize(
    ("answer", "reason", "original"),
    [
        (lambda t: held(t), "in_flight", lambda t: {"receipt": t}),
        (lambda t: held(t, finished=True), "already_done", lambda t: {"receipt": ids.done_of(t)}),
        (lambda t: held(), "lock_contended", lambda t: None),
        (lambda t: held(None, finished=True), "already_done", lambda t: None),
        (lambda t: held("101"), "in_flight", lambda t: {"job": "101"}),
    ],
    ids=["in flight", "already done", "unnamed", "done by somebody unnamed", "a job's number"],
)
def test_a_skip_names_its_original_without_asking_anybody(client, spool, answer, reason, original):
    token = ids.v7()

    result = once(client, "k", Recording(spool, answer(token))).run(lambda: pytest.fail("ran"))

    (skip,) = receipts_on_disk(spool)
    assert (skip["kind"], skip["reason"]) == ("skip", reason)
    assert "original" in skip and skip["original"] == original(token)
    assert result.skipped is not None and result.skipped.receipt == skip["id"]
    assert not result.ran


def test_the_skip_is_on_disk_before_it_is_reported(spool, make_client):
    synced: list[int] = []
    client = make_client()
    client._spool._sets["d"]._sync_fd = lambda fd: synced.append(fd)

    with once(client, "k", Recording(spool, held())) as claim:
        assert synced and kinds(spool) == ["skip"]
        assert not claim.mine


def test_a_block_that_does_not_ask_whose_the_claim_is_raises(client, spool):
    with pytest.raises(counterfoil.NotAsked), once(client, "k", Recording(spool, held())):
        pass


def test_an_exception_is_written_without_its_text_releases_the_guard_and_goes_on(client, spool):
    guard = Recording(spool)

    with pytest.raises(ValueError, match="card 4111"), once(client, "k", guard):
        raise ValueError("card 4111")

    start, fail = receipts_on_disk(spool)
    assert fail["kind"] == "fail" and fail["id"] == ids.v5(start["id"], "fail")
    assert fail["data"]["error"] == {"type": "builtins.ValueError", "len": 9}
    assert [verb for verb, _, _ in guard.asked] == ["claim", "release"]


def test_after_an_exception_a_retry_is_a_second_claim_with_ids_of_its_own(client, spool, tmp_path):
    guard = FileGuard(tmp_path / "guard")
    outcomes = iter([RuntimeError("no"), "paid"])

    def work() -> str:
        outcome = next(outcomes)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    with pytest.raises(RuntimeError):
        once(client, "k", guard).run(work)
    assert once(client, "k", guard).run(work).value == "paid"

    found = receipts_on_disk(spool)
    assert [r["kind"] for r in found] == ["start", "fail", "start", "done"]
    assert len({r["id"] for r in found}) == 4


def test_a_decorated_function_gives_its_value_or_a_skip_that_is_false(client, tmp_path):
    guard = FileGuard(tmp_path / "guard")

    @once(client, lambda payout: {"payout": payout}, guard, task="pay")
    def pay(payout: str) -> str:
        """Pay."""
        return f"paid {payout}"

    assert pay("PO-1") == "paid PO-1" and pay("PO-2") == "paid PO-2"
    again = pay("PO-1")
    assert isinstance(again, Skipped) and not again
    assert again.reason == "already_done"
    assert pay.__doc__ == "Pay."


def test_equal_keys_have_one_guard_name_and_other_keys_another():
    name = counterfoil.receipts.guard_name

    assert name({"a": 1, "b": 2}) == name({"fields": {"b": 2, "a": 1}})
    assert name({"a": 1}) != name({"a": 2}) != name({"recipe": "r", "fields": {"a": 2}})
    assert name({"a": 1}) == name({"fields": {"a": 1}, "ignored": {"params": "len=3"}})
    assert name("plain text") == "plain text"


def test_the_done_of_a_claim_is_built_once_and_always_the_same_bytes(client, spool):
    with once(client, "k", Recording(spool)) as claim:
        assert claim.mine
        claim.data["rows"] = 3
        first = claim.done_line()

    assert claim.done_line() is first
    assert json.loads(first) == receipts_on_disk(spool)[1]
    assert json.loads(first)["data"] == {"rows": 3}


def test_a_done_that_could_not_be_written_still_finishes_the_guard(client, spool, monkeypatch):
    guard = Recording(spool)

    def full(*_: Any, **__: Any) -> bool:
        raise counterfoil.SpoolFull()

    with pytest.raises(counterfoil.SpoolFull), once(client, "k", guard) as claim:
        assert claim.mine
        monkeypatch.setattr(client._spool, "append", full)

    assert [verb for verb, _, _ in guard.asked] == ["claim", "finish"]


def test_a_start_that_could_not_be_written_releases_the_guard_and_the_work_is_not_done(
    client, spool, monkeypatch
):
    guard = Recording(spool)

    def full(*_: Any, **__: Any) -> bool:
        raise counterfoil.SpoolFull()

    monkeypatch.setattr(client._spool, "append", full)

    with pytest.raises(counterfoil.SpoolFull):
        once(client, "k", guard).run(lambda: pytest.fail("ran"))
    assert [verb for verb, _, _ in guard.asked] == ["claim", "release"]


def test_the_done_of_an_admitted_start_is_written_over_the_bound(make_client, spool):
    client = make_client(max_bytes=16 * 1024)
    filler = b'{"kind":"done","data":"' + b"x" * 500 + b'"}\n'

    with once(client, "k", Recording(spool)) as claim:
        assert claim.mine
        with pytest.raises(counterfoil.SpoolFull):
            for _ in range(60):
                client.write_line(filler, durable=True)

    assert kinds(spool)[-1] == "done" and "key" in receipts_on_disk(spool)[-1]


def test_an_exception_of_the_guard_reaches_the_caller_and_leaves_no_receipt(client, spool):
    def broken(key: str, token: str) -> Answer:
        raise ConnectionError("no guard")

    with pytest.raises(ConnectionError):
        once(client, "k", broken).run(lambda: pytest.fail("ran"))
    assert kinds(spool) == []


def test_a_guard_that_cannot_be_told_costs_a_warning_and_not_the_result(client, spool, caplog):
    class Deaf(Recording):
        def finish(self, key: str, token: str) -> None:
            raise ConnectionError("no guard")

    assert once(client, "k", Deaf(spool)).run(lambda: 7).value == 7
    assert kinds(spool) == ["start", "done"]
    assert "may run again" in caplog.text


def test_with_the_client_off_the_guard_alone_decides(make_client, spool, tmp_path):
    client = make_client(off=True)
    guard = FileGuard(tmp_path / "guard")

    results = [once(client, "k", guard).run(lambda: "ran").ran for _ in range(2)]

    assert results == [True, False]
    assert not spool.exists()


def test_one_once_may_be_entered_within_itself(client, spool):
    guarded = once(client, "k", Recording(spool))

    with guarded as outer, guarded as inner:
        assert outer.mine and inner.mine and outer.token != inner.token

    assert sorted(kinds(spool)) == ["done", "done", "start", "start"]


def test_threads_may_enter_one_once_at_a_time(client, spool):
    guarded = once(client, "k", Recording(spool))
    both = threading.Barrier(2, timeout=30)
    kept: dict[str, list[str]] = {"a": [], "b": []}

    def enter(name: str) -> None:
        both.wait()
        with guarded as claim:
            assert claim.mine
            claim.data["by"] = name
            kept[name].append(claim.token)
            both.wait()
            if name == "b":
                both.wait()
        if name == "a":
            both.wait()

    threads = [threading.Thread(target=enter, args=(name,), daemon=True) for name in kept]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)

    dones = {r["id"]: r["data"]["by"] for r in receipts_on_disk(spool) if r["kind"] == "done"}
    assert dones == {ids.done_of(tokens[0]): name for name, tokens in kept.items()}


def test_a_coroutine_is_refused_because_its_done_would_come_before_its_work(client, spool):
    async def work() -> None:
        pass

    for use in (
        lambda: once(client, "k", Recording(spool)).run(work),
        lambda: once(client, "k", Recording(spool))(work),
    ):
        with pytest.raises(counterfoil.CounterfoilError, match="coroutine"):
            use()


CRASH = """
import os, signal, sys
import counterfoil
from counterfoil import client
from counterfoil.guards import FileGuard
spool, guard, where = sys.argv[1:]
counterfoil.configure(spool=spool, send=False)
def die(*_, **__): os.kill(os.getpid(), signal.SIGKILL)
kept = FileGuard(guard, run_for_s=0.2)
if where == "before start":
    client.Client.write = die
if where == "before done":
    client.Client.write_line = (lambda write: lambda self, line, **k:
        die() if b'"done"' in line else write(self, line, **k))(client.Client.write_line)
if where == "before finish":
    kept.finish = die
def work():
    open(guard + "/worked", "a").write("x")
    if where == "in work":
        die()
result = counterfoil.once("k", kept).run(work)
print(result.skipped.reason if result.skipped else "ran")
"""


def crash(spool: Path, guard: Path, where: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", CRASH, str(spool), str(guard), where],
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("where", "left", "ran", "then"),
    [
        ("before start", [], 0, "in_flight"),
        ("in work", ["start"], 1, "in_flight"),
        ("before done", ["start"], 1, "in_flight"),
        ("before finish", ["start", "done"], 1, "in_flight"),
        ("nowhere", ["start", "done"], 1, "already_done"),
    ],
)
def test_a_crash_leaves_what_it_says_and_the_next_claim_is_told_so(
    client, spool, tmp_path, where, left, ran, then
):
    guard = FileGuard(tmp_path / "guard", run_for_s=None)

    ended = crash(spool, tmp_path / "guard", where)

    assert (ended.returncode == -signal.SIGKILL) is (where != "nowhere"), ended.stderr
    assert kinds(spool) == left
    crashed = receipts_on_disk(spool)
    worked = tmp_path / "guard" / "worked"
    assert (len(worked.read_text()) if worked.exists() else 0) == ran
    skipped = once(client, "k", guard).run(lambda: None).skipped
    assert skipped is not None and skipped.reason == then
    if then == "already_done":
        assert skipped.original == crashed[1]["id"]
    elif left:
        assert skipped.original == crashed[0]["id"]


def test_work_that_a_crash_made_run_twice_is_two_dones_of_one_key_with_two_ids(
    client, ledger, spool, tmp_path
):
    crash(spool, tmp_path / "guard", "before finish")
    guard = FileGuard(tmp_path / "guard", run_for_s=0.0)

    assert once(client, "k", guard).run(lambda: None).ran

    client.close()
    client.forward_once()
    dones = ledger.of_kind("done")
    assert len(dones) == 2 and dones[0]["key"] == dones[1]["key"]
    assert len({d["id"] for d in dones}) == 2 and not ledger.conflicts
    (second,) = [s for s in ledger.of_kind("start") if "data" in s]
    assert second["data"]["took_over"] in {s["id"] for s in ledger.of_kind("start")}
