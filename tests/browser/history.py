"""A scripted day of a shop: every state a pointer is shown in, and text that means harm.

Each story is a list of bodies to post in order; a dict goes as JSON, bytes go as they are. All
times lie inside the hours before `now`, so that figures of the last 24 hours show the whole day.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import NAMESPACE_URL, uuid5

Body = dict[str, Any] | bytes

OBAN = {"system": "oban", "instance": "prod-1"}
WORKER = "StatifierOban.Invoke.Worker"
SCRIPT = "<script>alert('harm')</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
TURNED = "pay\u202etxt.exe\u202c \u2066ok\u2069"
NUL = "a\x00b\x1b[31mred"
LONG = "VeryLongNameWithoutAnyPlaceToBreakIt" * 7
QUOTED = 'it\'s "quoted" \\ and/slashed?&#;'


def name_id(text: str) -> str:
    """Give an id that is the same in every run."""
    return str(uuid5(NAMESPACE_URL, f"counterfoil:{text}"))


MOCK_SKIP = name_id("mock skip")
RATE_SKIP = name_id("rate skip")
LOST_SKIP = name_id("lost skip")
CLASH = name_id("clash")


class Clock:
    """Times before `now`: minutes and seconds back."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self, minutes: float, seconds: float = 0.0) -> str:
        at = self.now - timedelta(minutes=minutes) + timedelta(seconds=seconds)
        return at.isoformat(timespec="microseconds").replace("+00:00", "Z")


def orders(now: datetime) -> list[Body]:
    """Tell the day of the project that screenshots show."""
    back = Clock(now)
    return [*_ordinary(back), *_aside(back), *_explained(back), *_unhappy(back), *_mock(back)]


def _mock(back: Clock) -> list[Body]:
    """Tell the story of the mock: one start asked for twice, the second within half a minute."""
    first, twice = back(14), back(14, 29.588)
    return [
        _invoke("enqueue", "mock enqueue", first, job="101"),
        _invoke("enqueue", "mock re-entry", back(14, 8), job="107", macrostep=9),
        _invoke("enqueue", "mock other scope", back(14, 9), job="108", scope="exec_b0"),
        _job("start", "mock start", back(14, 0.6), "101", task=WORKER),
        _job("done", "mock done", back(14, 2.9), "101", task=WORKER),
        {
            **_invoke("skip", "mock skip", twice),
            "reason": "already_done",
            "original": {"job": "101"},
            "original_state": "completed",
            "rule": {
                "name": "statifier.invoke",
                "version": "2",
                "decision": "sob-ADR-0003",
                "repo": "statifier_oban",
                "path": "lib/statifier_oban/invoke/worker.ex",
                "line": 12,
                "commit": "4a6a748c0e7c5d1f3a9b2e6d8c4f0a1b2c3d4e5f",
            },
        },
    ]


def _invoke(
    kind: str, name: str, at: str, *, job: str = "", macrostep: int = 4, scope: str = "exec_a1"
) -> dict[str, Any]:
    payout = f"PO-{88_209 + macrostep + (scope != 'exec_a1')}"
    return {
        "kind": kind,
        "id": name_id(name),
        "occurred_at": at,
        "source": OBAN,
        "job": {"task": WORKER, "queue": "statifier_invokes", **({"id": job} if job else {})},
        "subjects": [{"type": "payout", "id": payout}],
        "invoke": {
            "scope": scope,
            "id": "resolve",
            "generation": str(macrostep),
            "element": [3, 0],
        },
        "key": {
            "recipe": "statifier.invoke",
            "version": "2",
            "fields": {"scope": scope, "invoke_id": "resolve", "macrostep": macrostep},
            "ignored": {"params": "opaque, 38 bytes"},
        },
    }


def _job(kind: str, name: str, at: str, job: str, task: str, **more: Any) -> dict[str, Any]:
    found = {
        "kind": kind,
        "id": name_id(name),
        "occurred_at": at,
        "source": OBAN,
        "job": {"id": job, "task": task, "queue": "default"},
    }
    return {**found, **more}


def _skip(name: str, at: str, task: str, **more: Any) -> dict[str, Any]:
    found = {"kind": "skip", "id": name_id(name), "occurred_at": at, "source": OBAN}
    return {**found, "job": {"task": task, "queue": "default"}, **more}


def _ordinary(back: Clock) -> Iterator[Body]:
    """Tell of the work that needs nobody: 120 jobs, and skips of what had been done."""
    tasks = itertools.cycle(("orders.charge", "orders.ship", "mail.receipt", "stock.reserve"))
    for number in range(120):
        minutes = 1_100 - 9 * number
        task, job = next(tasks), str(2_000 + number)
        order = [{"type": "order", "id": f"A-{51_000 + number // 4}"}]
        yield _job("start", f"start {job}", back(minutes), job, task, subjects=order)
        yield _job("done", f"done {job}", back(minutes, 4.2), job, task, subjects=order)
        if number % 5 == 0:
            yield _skip(
                f"again {job}",
                back(minutes, 31),
                task,
                subjects=order,
                reason="already_done" if number % 10 else "redelivery",
                original={"receipt": name_id(f"done {job}")},
            )


def _explained(back: Clock) -> Iterator[Body]:
    """Tell of skips that explain themselves: by a rule, by a switch, by a key, by others."""
    for number in range(9):
        yield _skip(
            "rate skip" if not number else f"rate skip {number}",
            back(70 - number),
            "mail.digest",
            subjects=[{"type": "account", "id": f"ACC-{310 + number}"}],
            reason="rate_limited",
            rule={
                "name": "mail.per_account_hour",
                "version": "7",
                "text": "At most 20 mails to one account in an hour; the rest wait for the digest.",
                "decision": "st/ADR-0051",
                "path": "lib/mail/limits.ex",
                "line": 41,
            },
            condition={"result": False, "inputs": {"sent_this_hour": 20 + number, "limit": 20}},
        )
    yield _pause(back)
    yield from _watched(back)
    paused = {"name": "payouts.paused", "set_at": back(260), "actor": {"id": "u-17"}}
    for number in range(3):
        yield _skip(
            f"paused {number}",
            back(240 - number),
            "payouts.send",
            reason="paused",
            switch=paused,
            actor={"type": "person", "id": "u-17", "label": "Ana of finance"},
        )
    yield from _running(back)
    yield from _by_key(back)


def _pause(back: Clock) -> Body:
    return {
        "id": name_id("pause"),
        "kind": "act",
        "occurred_at": back(260),
        "act": {"verb": "pause", "target": "queue:payouts"},
        "reason": "the bank is closed until Monday",
        "actor": {
            "type": "person",
            "id": "u-17",
            "label": "Ana of finance",
            "authority": "CHG-2231",
            "on_behalf_of": {"label": "the treasury"},
        },
    }


def _watched(back: Clock) -> Iterator[Body]:
    """Tell of what is no work: a beat of a loop, and many outcomes in one receipt."""
    read = [("lobby", 90, 100), ("hall", 7, 7)]
    channels = [
        {"channel": name, "from": first, "to": last, "outcome": "clean"}
        for name, first, last in read
    ]
    beat = {"loop": "lobby-sweep", "beat": "ok", "n": 41, "channels": channels}
    yield {"id": name_id("lobby beat"), "kind": "heartbeat", "occurred_at": back(12), **beat}
    counts = [
        {"task": "mail.digest", "queue": "mail", "done": 612, "retried": 3},
        {"task": "stock.sync", "queue": "stock", "done": 88, "retried": 0},
    ]
    window = {"from": back(11, -10), "to": back(11)}
    told = {"kind": "tally", "occurred_at": back(11), "window": window, "counts": counts}
    yield {"id": name_id("tally"), "policy": "3", **told}


def _running(back: Clock) -> Iterator[Body]:
    yield _job("start", "long start", back(4), "3100", "stock.recount")
    for number in range(4):
        yield _skip(
            f"in flight {number}",
            back(3 - number / 2),
            "stock.recount",
            reason="in_flight",
            original={"job": "3100"},
        )
    yield _skip("chain", back(1), "stock.recount", original={"receipt": name_id("in flight 0")}) | {
        "reason": "redelivery"
    }


def _by_key(back: Clock) -> Iterator[Body]:
    key = {"recipe": "charge", "version": "1", "fields": {"order": "A-60001", "cents": 4200}}
    yield _job("start", "key start", back(33), "3200", "orders.charge", key=key)
    yield _job("done", "key done", back(33, 2), "3200", "orders.charge", key=key)
    yield _skip("key skip", back(31), "orders.charge", reason="already_done", key=key)


def _unhappy(back: Clock) -> Iterator[Body]:
    """Tell of what somebody has to look at."""
    yield _job("start", "failed start", back(95), "3300", "orders.refund")
    yield _job("fail", "failed fail", back(95, 9), "3300", "orders.refund")
    yield _skip(
        "failed skip", back(92), "orders.refund", reason="already_done", original={"job": "3300"}
    )
    yield _job("start", "cancel start", back(96), "3301", "orders.refund")
    yield _job("cancel", "cancel", back(96, 5), "3301", "orders.refund", data={"count": 1})
    yield _skip(
        "cancel skip", back(91), "orders.refund", reason="in_flight", original={"job": "3301"}
    )
    lost = {"receipt": name_id("never sent")}
    yield _skip("pending skip", back(6), "orders.ship", reason="already_done", original=lost)
    yield _skip("no reason", back(50), "stock.sync")
    yield _skip("null original", back(49), "stock.sync", reason="lock_contended", original=None)
    nothing = {"receipt": name_id("no reason")}
    yield _skip("lost skip", back(44), "stock.sync", reason="redelivery", original=nothing)
    yield _skip("circle", back(43), "stock.sync", original={"receipt": name_id("circle")}) | {
        "reason": "redelivery"
    }
    yield {
        "kind": "heartbeat",
        "id": name_id("beat"),
        "occurred_at": back(42),
        "loop": "relay",
        "incarnation": "1",
        "n": "1",
        "run_id": "1",
        "beat": "ok",
        "sent_at": back(42),
        "channels": [],
    }
    yield _skip(
        "wrong kind",
        back(41),
        "stock.sync",
        reason="already_done",
        original={"receipt": name_id("beat")},
    )
    yield _skip(
        "two answers",
        back(40),
        "stock.sync",
        reason="already_done",
        original={"receipt": name_id("done 2001"), "job": "2002"},
    )


def _aside(back: Clock) -> list[Body]:
    """Tell of bodies that were set aside, one that was sent twice, and one id with two contents."""
    done = _job("done", "clash", back(20), "3400", "orders.charge")
    set_aside = name_id("set aside")
    return [
        b'{"kind": "done", "id": "torn-off", "job": {"task": "orders.ch',
        b'{"kind": "done", "id": "' + b"x" * 256 + b'"}',
        b'{"id": "' + set_aside.encode() + b'", "kind": 7}',
        b'{"kind": "done", "kind": "fail", "job": {"id": "3401"}}',
        b"payout;PO-88213;done;2026-10-05",
        _skip("aside skip", back(19), "orders.charge", original={"receipt": set_aside})
        | {"reason": "already_done"},
        done,
        done,
        {**done, "job": {**done["job"], "id": "3409"}},
    ]


def odd(now: datetime) -> list[Body]:
    """Tell a story in which every producer's text means harm, is too long or cannot be seen."""
    back = Clock(now)
    found: list[Body] = []
    for number, text in enumerate((SCRIPT, IMAGE, TURNED, NUL, LONG[:255], QUOTED)):
        found += _harm(back, number, text)
    # What a skip of the other project looks for and does not find there.
    found.append({"kind": "done", "id": name_id("never sent"), "occurred_at": back(50)})
    return [*found, b"", b"\x00\x01\xff\xfe" + SCRIPT.encode(), SCRIPT.encode() * 40]


def _harm(back: Clock, number: int, text: str) -> list[Body]:
    key = {"recipe": text, "version": text[:20], "fields": {text: text, "n": number}}
    common: dict[str, Any] = {
        "source": {"system": "oban", "instance": "prod-1"},
        "subjects": [{"type": "order", "id": text}],
        "invoke": {"scope": text, "id": text, "generation": "1"},
        "key": {**key, "ignored": {text: text}},
    }
    job = {"id": text, "task": text, "queue": text}
    return [
        {
            **common,
            "kind": "start",
            "id": f"{text[:200]}-{number}",
            "occurred_at": back(9),
            "job": job,
        },
        {
            **common,
            "kind": "skip",
            "id": name_id(f"harm {number}"),
            "occurred_at": back(8),
            "job": {"task": text, "queue": text},
            "reason": "already_done",
            "original": {"job": text},
        },
        {
            **common,
            "kind": "skip",
            "id": name_id(f"rule {number}"),
            "occurred_at": back(7),
            "job": {"task": text, "queue": text},
            "reason": text,
            "rule": {"name": text, "version": text, "text": text, "path": text, "decision": text},
            "switch": {"name": text, "actor": {"id": text, "label": text}},
            "condition": {"result": False, "inputs": {text: text}},
            "actor": {"type": "person", "id": text, "label": text},
            "data": {text: [text]},
        },
    ]
