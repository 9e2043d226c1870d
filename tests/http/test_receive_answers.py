from __future__ import annotations

import hashlib
import json
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine

from access import store as access_store
from ledger.api import bearer
from ledger.domain.reading import MAX_BODY
from ledger.models import Delivery, DeliveryTail, Receipt
from tests import factories
from tests.desk import Desk, Reply

PROBLEM = "application/problem+json"


def new_id() -> str:
    return str(uuid.uuid4())


def done(**members: Any) -> dict[str, Any]:
    return {"id": new_id(), "kind": "done", **members}


def refs_of(reply: Reply) -> list[str]:
    return [one["ref"] for one in reply.document["receipts"]]


def stored(desk: Desk) -> int:
    return Receipt.objects.filter(project_id=desk.project.id).count()


def deliveries(desk: Desk) -> list[str]:
    rows = Delivery.objects.filter(project_id=desk.project.id).order_by("id")
    return list(rows.values_list("outcome", flat=True))


def test_a_new_receipt_is_answered_with_201_its_ref_and_where_it_is(desk: Desk) -> None:
    body = done()

    reply = desk.post(body)

    ref = reply.document["ref"]
    assert reply.status == 201
    assert reply.headers["location"] == f"/api/v1/receipts/{ref}"
    assert reply.headers["content-type"] == "application/json"
    assert reply.document == {
        "ref": ref,
        "id": body["id"],
        "state": "accepted",
        "leaf_index": None,
    }
    assert desk.get(f"receipts/{ref}").status_code == 200


def test_the_same_bytes_again_are_a_replay_of_the_first(desk: Desk) -> None:
    body = done()
    first = desk.post(body)

    again = desk.post(body)

    assert again.status == 200
    assert again.headers["receipt-replayed"] == "true"
    assert again.headers["location"] == first.headers["location"]
    assert again.document["state"] == "replayed"
    assert again.document["ref"] == first.document["ref"]
    assert "bytes_differ" not in again.document
    assert deliveries(desk) == ["accepted", "replayed"]


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(b'{ "kind":"done", "id":"%s"}', id="order and space"),
        pytest.param(b'{"id":"%s","kind":"d\\u006fne"}', id="escapes"),
        pytest.param(b'{"id":"%s","kind":"done","sent":{"attempt":2}}', id="only what is sent"),
    ],
)
def test_equal_json_in_other_bytes_is_a_replay_that_says_so(desk: Desk, other: bytes) -> None:
    name = new_id().encode()
    first = desk.post(b'{"id":"%s","kind":"done"}' % name)

    again = desk.post(other % name)

    assert again.status == 200
    assert again.headers["receipt-replayed"] == "true"
    assert again.document["bytes_differ"] is True
    assert again.document["ref"] == first.document["ref"]
    assert stored(desk) == 1


def test_a_number_written_otherwise_is_another_content(desk: Desk) -> None:
    name = new_id().encode()
    desk.post(b'{"id":"%s","kind":"done","n":1}' % name)

    again = desk.post(b'{"id":"%s","kind":"done","n":1.0}' % name)

    assert again.status == 409


def test_another_content_under_the_id_is_a_conflict_that_is_kept(desk: Desk) -> None:
    body = done(note="the first secret")
    first = desk.post(body)

    reply = desk.post({**body, "note": "the second secret"})

    assert (reply.status, reply.headers["content-type"]) == (409, PROBLEM)
    assert reply.document["stored"] is True
    assert reply.document["code"] == "conflict"
    assert refs_of(reply) == [first.document["ref"], reply.document["ref"]]
    assert reply.headers["location"].endswith(reply.document["ref"])
    assert json.loads(desk.raw(reply.document["ref"]))["note"] == "the second secret"
    assert json.loads(desk.raw(first.document["ref"]))["note"] == "the first secret"


def test_a_conflict_names_digests_and_repeats_neither_body(desk: Desk) -> None:
    body = done(note="the first secret")
    desk.post(body)

    reply = desk.post({**body, "note": "the second secret"})

    assert b"secret" not in reply.body
    assert len({one["fingerprint"] for one in reply.document["receipts"]}) == 2
    assert reply.document["id"] == body["id"]


def test_a_conflicting_body_again_is_one_more_delivery_and_no_new_receipt(desk: Desk) -> None:
    body = done()
    desk.post(body)
    first = desk.post({**body, "n": 1})

    again = desk.post({**body, "n": 1})

    assert again.status == 409
    assert refs_of(again) == refs_of(first)
    assert stored(desk) == 2
    assert deliveries(desk) == ["accepted", "conflict", "again"]


def test_the_first_content_stays_the_first_after_a_conflict(desk: Desk) -> None:
    body = done()
    first = desk.post(body)
    desk.post({**body, "n": 1})

    again = desk.post(body)

    assert again.status == 200
    assert again.document["ref"] == first.document["ref"]


def test_each_further_content_has_a_receipt_of_its_own(desk: Desk) -> None:
    body = done()
    first = desk.post(body)

    second, third = desk.post({**body, "n": 1}), desk.post({**body, "n": 2})

    assert refs_of(second)[0] == refs_of(third)[0] == first.document["ref"]
    assert refs_of(second)[1] != refs_of(third)[1]


def test_invalid_input_is_set_aside_with_its_reasons(desk: Desk) -> None:
    reply = desk.post({"id": "", "subjects": 3})

    assert reply.status == 202
    assert reply.document["state"] == "quarantined"
    assert reply.codes == [("/id", "id"), ("/kind", "missing"), ("/subjects", "type")]
    assert reply.headers["location"].endswith(reply.document["ref"])


def test_invalid_bytes_again_are_answered_with_the_first_ref(desk: Desk) -> None:
    first = desk.post(b'{"id": "x", "kind"')

    again = desk.post(b'{"id": "x", "kind"')

    assert (first.status, again.status) == (202, 202)
    assert "receipt-replayed" not in first.headers
    assert again.headers["receipt-replayed"] == "true"
    assert again.document["ref"] == first.document["ref"]
    assert stored(desk) == 1


def test_the_same_invalid_bytes_under_other_headers_are_the_same_receipt(desk: Desk) -> None:
    raw = b'{"id": "", "kind": "done"}'
    first = desk.post(raw)

    again = desk.post(raw, content_type="text/csv")

    assert again.status == 202
    assert again.headers["receipt-replayed"] == "true"
    assert again.document["ref"] == first.document["ref"]
    assert stored(desk) == 1


def test_valid_bytes_under_a_wrong_content_type_can_be_sent_rightly_after(desk: Desk) -> None:
    raw = json.dumps(done()).encode()
    aside = desk.post(raw, content_type="text/csv")

    reply = desk.post(raw)

    assert (aside.status, reply.status) == (202, 201)
    assert reply.document["ref"] != aside.document["ref"]


def test_a_body_over_the_limit_leaves_digest_length_and_beginning(desk: Desk) -> None:
    raw = b'{"id":"big","kind":"done","data":"' + b"x" * MAX_BODY + b'"}'

    reply = desk.post(raw)

    document = desk.read(f"receipts/{reply.document['ref']}")
    assert (reply.status, reply.headers["content-type"]) == (413, PROBLEM)
    assert reply.document["stored"] == "digest"
    assert reply.document["length"] == len(raw)
    assert document["state"] == "oversize"
    assert document["length"] == len(raw)
    assert desk.raw(reply.document["ref"]) == raw[:4096]
    assert hashlib.sha256(raw).hexdigest() in kept_headers(reply.document["ref"])


def kept_headers(ref: str) -> str:
    from kit import ids
    from ledger.models import ReceiptBody

    return ReceiptBody.objects.get(pk=ids.uuid_of(ref)).headers


def test_a_body_of_exactly_the_limit_is_read(desk: Desk) -> None:
    start, end = b'{"kind":"done","data":"', b'"}'
    raw = start + b"x" * (MAX_BODY - len(start) - len(end)) + end

    assert desk.post(raw).status == 201


def test_a_body_over_the_limit_again_is_answered_with_the_first_ref(desk: Desk) -> None:
    raw = b"[" * (MAX_BODY + 1)
    first = desk.post(raw)

    again = desk.post(raw)

    assert again.status == 413
    assert again.headers["receipt-replayed"] == "true"
    assert again.document["ref"] == first.document["ref"]


def test_of_a_body_over_8_mib_the_digest_of_what_was_read_is_marked(desk: Desk) -> None:
    chunk = b"x" * (1 << 20)

    reply = desk.post(b"", chunks=[chunk] * 9)

    read = hashlib.sha256(chunk * 8).hexdigest()
    headers = json.loads(kept_headers(reply.document["ref"]))
    assert reply.status == 413
    assert (headers["sha256"], headers["truncated"]) == (read, True)


@pytest.mark.parametrize(
    "authorization",
    ["", "Bearer", "Bearer ", "Basic YTpi", "Bearer nonsense", "Bearer cf_\xff\xfe", "Bearer a b"],
)
def test_without_a_usable_token_the_answer_is_401_and_nothing_is_stored(
    desk: Desk, authorization: str
) -> None:
    headers = {"authorization": authorization} if authorization else {}

    reply = desk.post(done(), token="", **headers)

    assert (reply.status, reply.headers["content-type"]) == (401, PROBLEM)
    assert reply.headers["www-authenticate"] == "Bearer"
    assert reply.document["stored"] is False
    assert stored(desk) == 0


def test_a_token_that_may_only_read_is_answered_403(desk: Desk) -> None:
    reply = desk.post(done(), token=desk.reader)

    assert (reply.status, reply.headers["content-type"]) == (403, PROBLEM)
    assert reply.document["stored"] is False
    assert stored(desk) == 0


@pytest.mark.parametrize("scope", ["ingest", "admin"])
def test_tokens_with_the_right_to_ingest_post(desk: Desk, scope: str) -> None:
    _, token = factories.make_token(desk.project, scope)

    assert desk.post(done(), token=token).status == 201


def test_a_token_of_another_project_posts_into_its_own(desk: Desk) -> None:
    elsewhere = factories.make_project()
    _, token = factories.make_token(elsewhere)
    body = done()
    mine = desk.post(body)

    theirs = desk.post(body, token=token)

    assert theirs.status == 201
    assert theirs.document["ref"] != mine.document["ref"]
    assert stored(desk) == 1
    assert desk.get(f"receipts/{theirs.document['ref']}").status_code == 404


def test_an_expired_token_is_refused(desk: Desk) -> None:
    soon = datetime.now(UTC) + timedelta(hours=1)
    _, token = factories.make_token(desk.project, expires_at=soon)
    before = desk.post(done(), token=token)

    with time_machine.travel(soon + timedelta(seconds=1)):
        after = desk.post(done(), token=token)

    assert (before.status, after.status) == (201, 401)


def test_a_revoked_token_is_refused_within_five_seconds(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    listing, token = factories.make_token(desk.project)
    before = desk.post(done(), token=token)
    access_store.revoke_token(desk.project.id, listing.id, actor=factories.TESTER)
    clock = bearer.time.monotonic

    monkeypatch.setattr(bearer.time, "monotonic", lambda: clock() + 5)
    after = desk.post(done(), token=token)

    assert (before.status, after.status) == (201, 401)


def test_over_the_quota_nothing_is_read_and_the_answer_says_when_to_come_again(
    desk: Desk, settings: Any
) -> None:
    settings.INGEST_QUOTA_PER_MINUTE = 2
    with time_machine.travel(datetime(2026, 11, 30, 12, 0, 20, tzinfo=UTC), tick=False):
        replies = [desk.post(done()) for _ in range(3)]

    assert [one.status for one in replies] == [201, 201, 429]
    assert replies[2].headers["retry-after"] == "40"
    assert replies[2].document["stored"] is False
    assert stored(desk) == 2


def test_the_next_minute_has_a_quota_of_its_own(desk: Desk, settings: Any) -> None:
    settings.INGEST_QUOTA_PER_MINUTE = 1
    with time_machine.travel(datetime(2026, 11, 30, 12, 0, 59, tzinfo=UTC), tick=False) as time:
        replies = [desk.post(done()), desk.post(done())]
        time.shift(1)
        replies.append(desk.post(done()))

    assert [one.status for one in replies] == [201, 429, 201]


def test_a_receipt_without_an_id_gets_one_and_is_told_so(desk: Desk) -> None:
    reply = desk.post({"kind": "done"})

    assert reply.document["minted_id"] is True
    assert uuid.UUID(reply.document["id"]).version == 7


def test_receipts_without_an_id_are_never_the_same(desk: Desk) -> None:
    first, second = desk.post({"kind": "heartbeat"}), desk.post({"kind": "heartbeat"})

    assert (first.status, second.status) == (201, 201)
    assert first.document["ref"] != second.document["ref"]


def test_an_id_of_another_case_is_the_same_id_when_it_is_a_uuid(desk: Desk) -> None:
    first = desk.post({"id": "abcdef01-2345-4678-9abc-def012345678", "kind": "done"})

    again = desk.post({"id": "ABCDEF01-2345-4678-9ABC-DEF012345678", "kind": "done"})

    # The two bodies differ, since an id is compared as it was sent.
    assert again.status == 409
    assert again.document["first_ref"] == first.document["ref"]


def test_unknown_members_are_kept_and_ignored(desk: Desk) -> None:
    raw = b'{"kind":"done","colour":"green","data":{"n":18014398509481984}}'

    reply = desk.post(raw)

    assert reply.status == 201
    assert desk.raw(reply.document["ref"]) == raw


def test_an_unknown_kind_is_stored_as_other_with_the_word_kept(desk: Desk) -> None:
    reply = desk.post({"kind": "teleport"})

    document = desk.read(f"receipts/{reply.document['ref']}")
    assert (document["kind"], document["word"]) == ("other", "teleport")


def test_waiting_for_the_leaf_answers_with_it_once_it_is_there(desk: Desk) -> None:
    body = done()
    desk.post(body)
    desk.catch_up()

    reply = desk.post(body, query=b"wait=leaf")

    assert reply.document["leaf_index"] == "0"


def test_waiting_for_a_leaf_that_does_not_come_answers_without(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ledger.api.receive.WAIT_S", 0.05)

    reply = desk.post(done(), query=b"wait=leaf")

    assert (reply.status, reply.document["leaf_index"]) == (201, None)


def test_a_database_that_fails_while_the_leaf_is_waited_for_undoes_no_answer(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    from django.db import OperationalError

    def fail(receipts: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr("ledger.api.receive.sequence.leaf_indexes", fail)

    reply = desk.post(done(), query=b"wait=leaf")

    assert (reply.status, reply.document["leaf_index"]) == (201, None)
    assert stored(desk) == 1


def test_a_failure_nobody_foresaw_is_a_problem_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*given: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("ledger.store._outcomes", fail)

    reply = desk.post(done())

    assert (reply.status, reply.headers["content-type"]) == (500, PROBLEM)
    assert reply.document["code"] == "internal_error"


def test_deliveries_after_a_hundred_are_counted(desk: Desk) -> None:
    body = done()
    line = json.dumps(body).encode()
    first = desk.post(body)
    desk.post_lines(*[line] * 99)

    for _ in range(3):
        desk.post(body)

    document = desk.read(f"receipts/{first.document['ref']}")
    assert document["deliveries"]["count"] == 103
    assert len(deliveries(desk)) == 100


def test_deliveries_of_one_batch_after_a_hundred_are_counted(desk: Desk) -> None:
    line = json.dumps(done()).encode()

    reply = desk.post_lines(*[line] * 250)

    document = desk.read(f"receipts/{reply.lines[0]['ref']}")
    assert document["deliveries"]["count"] == 250
    assert len(deliveries(desk)) == 100


def test_counted_deliveries_add_up(desk: Desk) -> None:
    line = json.dumps(done()).encode()
    desk.post_lines(*[line] * 150)

    desk.post_lines(*[line] * 150)

    (tail,) = DeliveryTail.objects.filter(
        receipt__in=Receipt.objects.filter(project_id=desk.project.id).values("pk")
    )
    assert tail.more == 200
