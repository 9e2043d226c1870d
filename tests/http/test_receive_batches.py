from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from ledger.api.receive import MAX_LINES, MAX_READ
from ledger.domain.reading import MAX_BODY
from ledger.models import Delivery, Receipt
from tests.desk import NDJSON, Desk, Reply


def done(**members: Any) -> dict[str, Any]:
    return {"id": str(uuid.uuid4()), "kind": "done", **members}


def statuses(reply: Reply) -> list[int]:
    return [one["status"] for one in reply.lines]


def stored(desk: Desk) -> int:
    return Receipt.objects.filter(project_id=desk.project.id).count()


def test_a_batch_answers_line_by_line_in_order_with_the_status_of_each_alone(desk: Desk) -> None:
    known = done()
    desk.post(known)

    reply = desk.post_lines(
        done(id="new"), known, {**known, "n": 1}, b"{", {"kind": "heartbeat"}, done(id="last")
    )

    assert (reply.status, reply.headers["content-type"]) == (200, NDJSON)
    assert statuses(reply) == [201, 200, 409, 202, 201, 201]
    assert reply.lines[0]["id"] == "new"
    assert reply.lines[-1]["id"] == "last"


def test_a_bad_line_fails_no_other_and_its_pointers_start_with_its_number(desk: Desk) -> None:
    reply = desk.post_lines(done(), done(), {"id": 7, "kind": "done", "job": 1}, done())

    assert statuses(reply) == [201, 201, 202, 201]
    assert [one["pointer"] for one in reply.lines[2]["reasons"]] == ["/3/id", "/3/job"]


def test_a_line_that_is_no_json_is_pointed_at_as_a_whole(desk: Desk) -> None:
    reply = desk.post_lines(done(), done(), b'{"kind": ')

    assert [one["pointer"] for one in reply.lines[2]["reasons"]] == ["/3"]


def test_blank_lines_are_skipped_and_do_not_count(desk: Desk) -> None:
    reply = desk.post_lines(b"", done(), b"  ", b"\r", b"\t", done(), b"{", b"")

    assert statuses(reply) == [201, 201, 202]
    assert reply.lines[2]["reasons"][0]["pointer"] == "/3"
    assert stored(desk) == 3


def test_lines_may_end_as_on_windows(desk: Desk) -> None:
    first, second = json.dumps(done()).encode(), json.dumps(done()).encode()

    reply = desk.post(first + b"\r\n" + second + b"\r\n", content_type=NDJSON)

    assert statuses(reply) == [201, 201]
    assert desk.raw(reply.lines[0]["ref"]) == first
    assert desk.raw(reply.lines[1]["ref"]) == second


def test_the_last_line_needs_no_line_end(desk: Desk) -> None:
    line = json.dumps(done()).encode()

    assert statuses(desk.post(line, content_type=NDJSON)) == [201]


def test_a_batch_may_come_in_pieces_cut_anywhere(desk: Desk) -> None:
    raw = b"\n".join(json.dumps(done()).encode() for _ in range(3))
    pieces = [raw[at : at + 7] for at in range(0, len(raw), 7)]

    reply = desk.post(b"", content_type=NDJSON, chunks=[*pieces, b""])

    assert statuses(reply) == [201, 201, 201]


def test_a_line_over_the_limit_is_oversize_and_fails_no_other(desk: Desk) -> None:
    big = b'{"kind":"done","data":"' + b"x" * MAX_BODY + b'"}'

    reply = desk.post_lines(done(), big, done())

    assert statuses(reply) == [201, 413, 201]
    assert reply.lines[1]["stored"] == "digest"
    assert reply.lines[1]["length"] == len(big)
    assert desk.raw(reply.lines[1]["ref"]) == big[:4096]


def test_a_batch_of_exactly_the_most_lines_is_stored(desk: Desk) -> None:
    reply = desk.post_lines(*[done() for _ in range(MAX_LINES)])

    assert statuses(reply) == [201] * MAX_LINES
    assert stored(desk) == MAX_LINES


def test_of_a_batch_with_too_many_lines_nothing_is_kept_and_the_limit_is_named(
    desk: Desk,
) -> None:
    reply = desk.post_lines(*[b'{"kind":"heartbeat"}'] * (MAX_LINES + 1))

    assert reply.status == 413
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.document["stored"] is False
    assert "1,000 lines" in reply.document["detail"]
    assert stored(desk) == 0


def test_of_a_batch_over_8_mib_nothing_is_kept_and_the_limit_is_named(desk: Desk) -> None:
    line = json.dumps({"kind": "heartbeat", "data": "x" * 900_000}).encode()
    lines = [line] * (MAX_READ // len(line) + 1)

    reply = desk.post_lines(*lines)

    assert reply.status == 413
    assert reply.document["stored"] is False
    assert "8 MiB" in reply.document["detail"]
    assert stored(desk) == 0


def test_the_same_line_twice_in_one_batch_is_one_receipt_and_a_replay(desk: Desk) -> None:
    body = done()

    reply = desk.post_lines(body, done(), body)

    assert statuses(reply) == [201, 201, 200]
    assert reply.lines[2]["ref"] == reply.lines[0]["ref"]
    assert stored(desk) == 2


def test_other_bytes_of_one_content_in_one_batch_say_so(desk: Desk) -> None:
    reply = desk.post_lines(b'{"id":"a","kind":"done"}', b'{"kind":"done","id":"a"}')

    assert statuses(reply) == [201, 200]
    assert reply.lines[1]["bytes_differ"] is True


def test_one_id_with_two_contents_in_one_batch_is_a_conflict(desk: Desk) -> None:
    body = done()

    reply = desk.post_lines(body, {**body, "n": 1}, {**body, "n": 1}, {**body, "n": 2}, body)

    refs = [one["ref"] for one in reply.lines]
    assert statuses(reply) == [201, 409, 409, 409, 200]
    assert refs[1] == refs[2]
    assert len({refs[0], refs[1], refs[3]}) == stored(desk) == 3
    assert {one["first_ref"] for one in reply.lines[1:4]} == {refs[0]}


def test_a_whole_batch_again_is_replayed_line_by_line(desk: Desk) -> None:
    lines = [done(), {"id": ""}, {**done(), "n": 1}]
    first = desk.post_lines(*lines)

    again = desk.post_lines(*lines)

    assert statuses(again) == [200, 202, 200]
    assert [one["ref"] for one in again.lines] == [one["ref"] for one in first.lines]
    assert stored(desk) == 3


@pytest.mark.parametrize("raw", [b"", b"\n\n", b" \r\n"], ids=["none", "line ends", "space"])
def test_an_empty_batch_is_taken_as_one_empty_document(desk: Desk, raw: bytes) -> None:
    reply = desk.post(raw, content_type=NDJSON)

    assert reply.status == 202
    assert reply.codes == [("", "empty")]


def test_an_encoded_batch_is_taken_as_one_document(desk: Desk) -> None:
    raw = b'{"kind":"done"}\n{"kind":"done"}\n'

    reply = desk.post(raw, content_type=NDJSON, content_encoding="gzip")

    assert reply.status == 202
    assert reply.codes == [("", "encoding")]
    assert desk.raw(reply.document["ref"]) == raw


def test_the_parameters_and_the_case_of_the_content_type_do_not_matter(desk: Desk) -> None:
    raw = b'{"kind":"done"}\n{"kind":"done"}\n'

    reply = desk.post(raw, content_type="Application/X-NDJSON; charset=utf-8")

    assert statuses(reply) == [201, 201]


def test_a_batch_can_wait_for_its_leaves(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [done(), done()]
    desk.post_lines(*lines)
    desk.catch_up()

    reply = desk.post_lines(*lines, query=b"wait=leaf")

    assert sorted(one["leaf_index"] for one in reply.lines) == ["0", "1"]


def feed_of(desk: Desk) -> list[tuple[str, int | None]]:
    rows = Delivery.objects.filter(project_id=desk.project.id).order_by("id")
    return list(rows.values_list("feed_spool", "feed_number"))


def test_the_lines_of_a_numbered_batch_are_kept_with_their_numbers(desk: Desk) -> None:
    desk.post_lines(done(), b"", b"{", done(), counterfoil_feed="w7.log; first=412")

    assert feed_of(desk) == [("w7.log", 412), ("w7.log", 413), ("w7.log", 414)]


def test_a_numbered_line_without_an_id_is_named_by_its_number_and_replayed(desk: Desk) -> None:
    body = {"kind": "heartbeat"}
    first = desk.post_lines(body, body, counterfoil_feed="w7; first=5")

    again = desk.post_lines(body, body, counterfoil_feed="w7; first=5")

    assert [one["id"] for one in first.lines] == ["feed:w7:5", "feed:w7:6"]
    assert "minted_id" not in first.lines[0]
    assert statuses(again) == [200, 200]
    assert [one["ref"] for one in again.lines] == [one["ref"] for one in first.lines]


def test_a_numbered_line_is_read_back_under_its_name(desk: Desk) -> None:
    reply = desk.post({"kind": "heartbeat"}, counterfoil_feed="w7; first=9")

    document = desk.read(f"receipts/{reply.document['ref']}")
    assert document["id"] == "feed:w7:9"
    assert document["deliveries"]["items"][0]["feed"] == {"spool": "w7", "number": "9"}


def test_deliveries_with_a_number_are_all_kept(desk: Desk) -> None:
    line = json.dumps(done()).encode()

    desk.post_lines(*[line] * 150, counterfoil_feed="w7; first=1")

    assert [number for _, number in feed_of(desk)] == list(range(1, 151))


@pytest.mark.parametrize(
    "header", ["w7", "w7; first=0", "w7; first=x", "; first=1", f"w7; first={2**63 - 1}"]
)
def test_a_feed_header_that_cannot_be_read_costs_no_receipt(desk: Desk, header: str) -> None:
    reply = desk.post({"kind": "done"}, counterfoil_feed=header)

    assert reply.status == 201
    assert reply.headers["counterfoil-feed-fault"]
    assert reply.document["minted_id"] is True
    assert feed_of(desk) == [("", None)]
