"""Whatever comes in is kept as sent, gets one leaf and stops nothing: not the posts, not the pages.

Names run over what a column or an index row of PostgreSQL can hold.
"""

from __future__ import annotations

import asyncio
import gzip
import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.test import Client

from kit import ids
from ledger import rebuild
from ledger.api import receive
from ledger.domain.reading import MAX_BODY
from tests import factories
from tests.databases import Database
from tests.desk import JSON, Desk, Reply


@dataclass(frozen=True)
class Case:
    """What is sent, and what the contract answers: a status and, set aside, the reasons' codes."""

    raw: bytes
    status: int
    codes: tuple[str, ...] = ()
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict)


def body(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


DEEP = b"[" * 100_000
DIGITS = "9" * 5_000
GOOD = b'{"kind":"done"}'

CASES = {
    "empty": Case(b"", 202, ("empty",)),
    "empty without a content type": Case(b"", 202, ("empty",), ""),
    "white space": Case(b" \r\n\t ", 202, ("empty",)),
    "broken JSON": Case(b'{"kind": "done"', 202, ("json",)),
    "a comma too many": Case(b'{"kind": "done",}', 202, ("json",)),
    "two objects": Case(b'{"kind":"done"}{"kind":"done"}', 202, ("json",)),
    "two lines as JSON": Case(b'{"kind":"done"}\n{"kind":"done"}', 202, ("json",)),
    "NaN": Case(b'{"kind":"done","n":NaN}', 202, ("json",)),
    "Infinity": Case(b'{"kind":"done","n":-Infinity}', 202, ("json",)),
    "a byte order mark": Case(b"\xef\xbb\xbf" + GOOD, 202, ("json",)),
    "UTF-16": Case('{"kind":"done"}'.encode("utf-16"), 202, ("utf8",)),
    "invalid UTF-8": Case(b'{"kind":"done","note":"\xff\xfe"}', 202, ("utf8",)),
    "a surrogate as UTF-8": Case(b'{"kind":"done","note":"\xed\xa0\x80"}', 202, ("utf8",)),
    "a bare NUL": Case(b'{"kind":"done","note":"a\0b"}', 202, ("json",)),
    "only NULs": Case(b"\0" * 40, 202, ("json",)),
    "an array": Case(b'[{"kind":"done"}]', 202, ("type",)),
    "a number": Case(b"-1e999", 202, ("type",)),
    "a long number": Case(DIGITS.encode(), 202, ("type",)),
    "a string": Case(b'"done"', 202, ("type",)),
    "null": Case(b"null", 202, ("type",)),
    "100,000 brackets": Case(DEEP, 202, ("depth",)),
    "100,000 closed brackets": Case(DEEP + b"]" * 100_000, 202, ("depth",)),
    "1,000 objects deep": Case(b'{"a":' * 1_000 + b"1" + b"}" * 1_000, 202, ("depth",)),
    "201 levels": Case(b'{"kind":"done","data":' + b"[" * 200 + b"]" * 200 + b"}", 202, ("depth",)),
    "200 levels": Case(b'{"kind":"done","data":' + b"[" * 199 + b"]" * 199 + b"}", 201),
    "no kind": Case(b'{"id":"a"}', 202, ("missing",)),
    "an empty kind": Case(b'{"kind":""}', 202, ("length",)),
    "a kind that is no text": Case(b'{"kind":["done"]}', 202, ("type",)),
    "an id of no characters": Case(b'{"id":"","kind":"done"}', 202, ("id",)),
    "an id of 256 characters": Case(body(f'{{"id":"{"x" * 256}","kind":"done"}}'), 202, ("id",)),
    "an id of 255 characters": Case(body(f'{{"id":"{"x" * 255}","kind":"done"}}'), 201),
    "an id that is a number": Case(b'{"id":7,"kind":"done"}', 202, ("id",)),
    "an id that is null": Case(b'{"id":null,"kind":"done"}', 202, ("id",)),
    "an id twice": Case(b'{"id":"a","id":"b","kind":"done"}', 202, ("duplicate",)),
    "a kind twice": Case(b'{"kind":"done","kind":"skip"}', 202, ("duplicate",)),
    "another member twice": Case(b'{"kind":"done","n":1,"n":18014398509481984}', 201),
    "a member twice inside": Case(b'{"kind":"done","job":{"task":"a","task":"b"}}', 201),
    "every member wrong": Case(
        b'{"kind":"skip","job":1,"subjects":{},"invoke":[],"key":"k","rule":3,"source":[],"sent":1,'
        b'"original":5,"occurred_at":"yesterday","actor":0,"trace":"t","condition":[]}',
        202,
    ),
    "17 subjects": Case(
        json.dumps(
            {"kind": "done", "subjects": [{"type": "a", "id": str(n)} for n in range(17)]}
        ).encode(),
        202,
        ("length",),
    ),
    "100,000 subjects": Case(
        b'{"kind":"done","subjects":[' + b",".join([b"{}"] * 100_000) + b"]}", 202, ("length",)
    ),
    "a 5,000-digit integer": Case(body(f'{{"kind":"done","n":{DIGITS}}}'), 201),
    "a 5,000-digit integer where a name is": Case(
        body(f'{{"kind":"done","job":{{"id":{DIGITS},"attempt":{DIGITS}}}}}'), 201
    ),
    "a 5,000-digit time": Case(body(f'{{"kind":"done","occurred_at":{DIGITS}}}'), 202, ("type",)),
    "an enormous exponent": Case(b'{"kind":"done","n":1e99999999999999999999}', 201),
    "an escaped NUL": Case(b'{"id":"n1","kind":"done","note":"a\\u0000b"}', 201),
    "an escaped lone surrogate": Case(b'{"kind":"done","note":"\\ud800","\\udfff":1}', 201),
    "an id that is a lone surrogate": Case(b'{"id":"\\ud800","kind":"done"}', 201),
    "an id that is a NUL": Case(b'{"id":"\\u0000","kind":"done"}', 201),
    "a kind with NUL and surrogate": Case(b'{"kind":"\\u0000\\ud800"}', 201),
    "a kind of 100,000 characters": Case(body(f'{{"kind":"{"k" * 100_000}"}}'), 201),
    "sent with NUL and surrogate": Case(
        b'{"kind":"done","sent":{"\\u0000":"\\ud800","n":1e5}}', 201
    ),
    "sent that is deep": Case(b'{"kind":"done","sent":' + b"[" * 150 + b"]" * 150 + b"}", 202),
    "a day behind": Case(b'{"kind":"done","occurred_at":"2020-01-01T00:00:00Z"}', 201),
    "a day ahead": Case(b'{"kind":"done","occurred_at":"2090-01-01T00:00:00+14:00"}', 201),
    "the first year": Case(b'{"kind":"done","occurred_at":"0001-01-01T00:00:00Z"}', 201),
    "the last year": Case(b'{"kind":"done","occurred_at":"9999-12-31T23:59:59.999999Z"}', 201),
    "before the first year in UTC": Case(
        b'{"kind":"done","occurred_at":"0001-01-01T00:00:00+14:00"}', 202, ("format",)
    ),
    "after the last year in UTC": Case(
        b'{"kind":"done","occurred_at":"9999-12-31T23:59:59-14:00"}', 202, ("format",)
    ),
    "a leap second": Case(b'{"kind":"done","occurred_at":"2016-12-31T23:59:60Z"}', 201),
    "a time without a zone": Case(
        b'{"kind":"done","occurred_at":"2026-11-30T12:00:00"}', 202, ("format",)
    ),
    "plain text": Case(GOOD, 202, ("json",), "text/plain"),
    "a form": Case(b"kind=done", 202, ("json",), "application/x-www-form-urlencoded"),
    "a content type of bytes": Case(GOOD, 202, ("json",), "\xff\xfe<script>"),
    "a content type of 5,000 characters": Case(GOOD, 202, ("json",), "x" * 5_000),
    "no content type": Case(GOOD, 201, (), ""),
    "a content type with parameters": Case(GOOD, 201, (), "application/json; charset=utf-8"),
    "gzip": Case(gzip.compress(GOOD, mtime=0), 202, ("encoding",), headers={"encoding": "gzip"}),
    "brotli in name": Case(GOOD, 202, ("encoding",), headers={"encoding": "br"}),
    "identity": Case(GOOD, 201, headers={"encoding": " Identity "}),
    "2 MB": Case(b'{"kind":"done","data":"' + b"x" * 2_000_000 + b'"}', 413),
    "markup": Case(
        b'{"id":"<script>alert(1)</script>","kind":"done","job":{"task":"\\"><img src=x>"}}', 201
    ),
    "text that turns around": Case(body('{"id":"\\u202eevil","kind":"d\\u2066one"}'), 201),
}


NAMES = {
    "300 characters": "n" * 300,
    "8 KB": "t" * 8_192,
    "3,000 bytes of another script": "語" * 1_000,
    "255 characters of four bytes": "\U0001f9fe" * 255,
    "random text that does not compress": "".join(
        chr(0x4E00 + (n * 7_919 + n * n * 31) % 20_000) for n in range(3_000)
    ),
    "NUL": "a\0b",
    "a lone surrogate": "a\ud800b",
    "NUL and surrogate, long": "\0\udfff" * 1_400,
    "only white space": " \t\n",
    "line ends": "a\r\nb\x85c\u2028d",
    "turned around": "\u202eab\u2066",
    "percent and quotes": "%s%(x)s'\"\\;--{}",
    "empty": "",
}


RULE_TEXTS = ("name", "version", "text", "decision", "repo", "path", "symbol", "commit")


def named_everywhere(name: str) -> dict[str, Any]:
    """Make a skip in which every text that may be any text is this one."""
    return {
        "id": (name or "x")[:255],
        "kind": "skip",
        "schema": name,
        "job": {"task": name, "queue": name, "id": name, "delivery": name, "state": name},
        "subjects": [{"type": "payout", "id": (name or "x")[:255]}],
        "invoke": {"scope": name, "id": name, "generation": name, "element": [name, name]},
        "key": {
            "recipe": name,
            "version": name,
            "fields": {name: name, "other": [name]},
            "ignored": {name: name},
        },
        "reason": name,
        "original": {"receipt": (name or "x")[:255], "job": name, "source": {"system": name}},
        "original_state": name,
        "rule": dict.fromkeys(
            ["name", "version", "text", "decision", "repo", "path", "symbol", "commit"], name
        ),
        "condition": {"result": False, "inputs": {name: name}},
        "switch": {"name": name, "actor": {"type": "person", "id": name, "label": name}},
        "actor": {"type": "person", "id": name, "label": name, "authority": name},
        "source": {"system": name, "instance": name},
        "sent": {name: name},
        "data": {name: name},
    }


def named_in_other_kinds(kind: str, text: str) -> dict[str, Any]:
    """Make a receipt of another kind in which every text is this one."""
    return {
        "kind": kind,
        "act": {"verb": text, "target": text, "commit": text},
        "what": text,
        "loop": text,
        "decision": text,
        "beat": "ok",
        "channels": [{"channel": text, "from": text, "to": text}],
        "counts": [{"task": text, "queue": text, "done": 1}],
        "jobs": {"ids": [text]},
    }


NAMED = {
    **{f"names of {name}": named_everywhere(text) for name, text in NAMES.items()},
    **{
        f"{kind} with names of {name}": named_in_other_kinds(kind, NAMES[name])
        for kind in ("act", "observe", "heartbeat", "tally", "decide", "cancel")
        for name in ("8 KB", "NUL and surrogate, long")
    },
}
ALL = CASES | {name: Case(json.dumps(given).encode(), 201) for name, given in NAMED.items()}


@dataclass
class Filled:
    """A project into which every case was posted, one by one, and derived after each."""

    desk: Desk
    browser: Client
    replies: dict[str, Reply] = field(default_factory=dict)

    def ref_of(self, name: str) -> str:
        found: str = self.replies[name].document["ref"]
        return found

    def page(self, tail: str) -> int:
        """Open a page in a browser; gives the status."""
        return self.browser.get(f"/p/{self.desk.project.slug}/{tail}").status_code


@pytest.fixture(scope="module")
def filled(shared_database: Database, desk_loop: asyncio.AbstractEventLoop) -> Filled:
    desk = Desk(shared_database, desk_loop)
    user = factories.make_member(desk.project, "auditor")
    filled = Filled(desk, Client())
    filled.browser.force_login(factories.get_user_model_of(user))
    for name, case in ALL.items():
        headers = {f"content_{name}": value for name, value in case.headers.items()}
        reply = desk.post(case.raw, content_type=case.content_type, **headers)
        filled.replies[name] = reply
        desk.catch_up()
    return filled


@pytest.mark.parametrize("name", CASES)
def test_bad_input_is_answered_as_the_contract_says(filled: Filled, name: str) -> None:
    case, reply = CASES[name], filled.replies[name]

    assert reply.status == case.status, reply.body
    if case.codes:
        assert tuple(code for _, code in reply.codes) == case.codes


def test_names_are_no_reason_to_set_anything_aside(filled: Filled) -> None:
    replies = {name: filled.replies[name].status for name in ALL if name not in CASES}

    assert set(replies.values()) == {201}, replies


@pytest.mark.parametrize("name", ALL)
def test_what_was_sent_is_kept_byte_for_byte(filled: Filled, name: str) -> None:
    raw = ALL[name].raw

    kept = filled.desk.raw(filled.ref_of(name))

    assert kept == (raw if len(raw) <= MAX_BODY else raw[:4096])


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_whatever_was_sent_can_be_read_and_is_explained(filled: Filled, name: str) -> None:
    tail = f"receipts/{filled.ref_of(name)}"

    assert filled.desk.read(f"{tail}/explain")["verdict"]["code"] != "not_derived"
    assert filled.desk.get(tail).status_code == 200
    assert filled.page(tail) == 200
    assert filled.page(f"{tail}/explain") == 200


def test_whatever_was_sent_has_exactly_one_leaf(filled: Filled) -> None:
    leaves = filled.desk.leaves()

    refs = sorted(ref for _, ref in leaves)
    posted = {reply.document["ref"] for reply in filled.replies.values()}
    assert [index for index, _ in leaves] == list(range(len(leaves)))
    assert len(refs) == len(set(refs))
    assert posted <= set(refs)


@pytest.mark.parametrize(
    "tail", ["", "receipts?limit=500", "receipts.csv", "receipts.ndjson", "quarantine", "tasks"]
)
def test_lists_with_all_of_it_can_be_opened(filled: Filled, tail: str) -> None:
    assert filled.page(tail) == 200


@pytest.mark.parametrize(
    "tail", ["receipts?limit=500", "quarantine", "tasks", "receipts/counts?by=task", "attention"]
)
def test_lists_with_all_of_it_can_be_read(filled: Filled, tail: str) -> None:
    assert filled.desk.get(tail).status_code == 200


def test_a_rebuild_of_all_of_it_finds_no_difference(filled: Filled) -> None:
    report = rebuild.rebuild(rebuild.projectors_of(None), batch=7)

    assert (report.differing, report.first) == (0, [])


def test_a_body_in_chunks_is_one_body(desk: Desk) -> None:
    reply = desk.post(b"", chunks=[b'{"kind"', b"", b':"do', b'ne"}'])

    assert reply.status == 201
    assert desk.raw(reply.document["ref"]) == GOOD


def test_a_client_that_goes_away_before_its_end_leaves_nothing(desk: Desk) -> None:
    sent: list[object] = []

    async def go_away() -> None:
        parts = iter([{"type": "http.request", "body": b'{"kind":', "more_body": True}])

        async def take() -> Any:
            return next(parts, {"type": "http.disconnect"})

        async def send(message: object) -> None:
            sent.append(message)

        scope = {"headers": [(b"authorization", f"Bearer {desk.token}".encode())]}
        await receive.receive_receipts(scope, take, send)

    asyncio.run_coroutine_threadsafe(go_away(), desk.loop).result(30)

    assert sent == []
    assert desk.leaves() == []


@pytest.mark.parametrize("name", [one for one in NAMES if one != "empty"])
def test_a_skip_finds_its_original_under_a_name_of_any_kind(desk: Desk, name: str) -> None:
    text = NAMES[name][:255]
    done = desk.post({"id": text, "kind": "done"}).document["ref"]
    skip = desk.post(
        {"kind": "skip", "reason": "already_done", "original": {"receipt": text}}
    ).document["ref"]

    desk.catch_up()

    pointer = desk.read(f"receipts/{skip}/explain")["pointer"]
    assert (pointer["state"], pointer["terminal"]) == ("resolved", done)


@pytest.mark.parametrize("name", [one for one in NAMES if one != "empty"])
def test_a_subject_is_found_under_a_name_of_any_kind(desk: Desk, name: str) -> None:
    text = NAMES[name][:255]
    desk.post({"kind": "done", "subjects": [{"type": "payout", "id": text}]})
    desk.catch_up()

    assert desk.read(f"subjects/payout/{ids.segment(text)}")["became"] == "done"


@pytest.mark.parametrize("name", ["8 KB", "random text that does not compress", "a lone surrogate"])
def test_a_task_is_found_under_a_name_of_any_kind(desk: Desk, name: str) -> None:
    text = NAMES[name]
    desk.post({"kind": "done", "job": {"task": text}})
    desk.catch_up()

    (listed,) = desk.read("tasks")["items"]

    assert desk.read(f"tasks/{ids.segment(listed['task'])}")["done"] == 1
