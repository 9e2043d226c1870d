"""What needs someone: each item comes when it should, and is quiet while somebody's word stands."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine

from access.models import ApiToken
from access.rows import Actor, ProjectRow
from config import follower
from kit import ids
from kit.http import ProblemError
from ledger import acknowledge, documents, ingest, keys, redrive, sequence
from ledger.domain import reading
from ledger.domain.draft import Envelope
from ledger.domain.leaf import rfc3339
from ledger.domain.reading import Reading
from ledger.models import Delivery, Entry, Receipt
from ledger.queries import receipts
from tests import factories, stories
from tests.databases import Database

NINE = datetime(2026, 10, 5, 9, tzinfo=UTC)
ALICE = Actor("person", "u-17", "Alice")
Body = dict[str, Any]


@dataclass
class Desk:
    """A project whose clock the test moves."""

    project: ProjectRow
    now: datetime = NINE

    def wait(self, **span: float) -> Desk:
        self.now += timedelta(**span)
        return self

    def clock(self) -> time_machine.travel:
        return time_machine.travel(self.now, tick=False)

    def post(self, *given: Body | bytes, token: int | None = None, **more: Any) -> list[Receipt]:
        raws = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in given]
        envelope = Envelope(self.project.id, self.now, token_id=token, **more)
        with self.clock():
            outcomes = ingest.ingest(raws, envelope)
        self.catch_up()
        return [Receipt.objects.get(pk=one.receipt) for one in outcomes]

    def catch_up(self) -> None:
        with self.clock():
            follower.catch_up()

    def items(self, *, acknowledged: bool = False) -> dict[str, Body]:
        """Give the items by code."""
        with self.clock():
            found = documents.attention_list(self.project.id, acknowledged=acknowledged)
        return {item["code"]: item for item in found["items"]}

    def acknowledge(self, code: str, until: str = "") -> None:
        item = self.items()[code]
        with self.clock():
            acknowledge.acknowledge(self.project.id, item["id"], ALICE, "we know", until)
        self.catch_up()

    def acts(self, verb: str) -> list[Body]:
        """Give the bodies of our own acts of a verb, in the order of the log."""
        rows = Entry.objects.filter(project_id=self.project.id, kind="act").order_by("leaf_index")
        refs = [ids.ref_of(one) for one in rows.values_list("receipt", flat=True)]
        found = [receipts.get_raw(receipts.get_receipt(self.project.id, ref))[0] for ref in refs]
        read = [json.loads(raw) for raw in found]
        return [one for one in read if one["act"]["verb"] == verb]

    def counted(self, item: Body) -> int:
        """Count the list that an item leads to."""
        (q,) = parse_qs(urlsplit(item["next"]["path"]).query)["q"]
        with self.clock():
            asked = documents.asked(self.project.id, q)
            return int(documents.receipt_list(self.project.id, asked)["count"].value)

    def quarantine(self) -> list[Body]:
        with self.clock():
            return list(documents.set_aside_list(self.project.id)["items"])


@pytest.fixture
def desk(sqlite_database: Database) -> Iterator[Desk]:
    keys.forget()
    with time_machine.travel(NINE, tick=False):
        project = factories.make_project("acme")
    yield Desk(project)


NOTHING: Body = {"kind": "skip"}


def test_an_empty_ledger_needs_nobody(desk: Desk) -> None:
    assert desk.items() == {}


@pytest.mark.parametrize(
    ("state", "given"),
    [
        ("missing-pointer", [NOTHING]),
        ("dangling", [{"kind": "skip", "original": {"receipt": "never"}}]),
        ("cycle", [{"kind": "skip", "id": "a", "original": {"receipt": "a"}}]),
        (
            "wrong-kind",
            [{"kind": "act", "id": "a", "actor": {"id": "u-17"}},
             {"kind": "skip", "original": {"receipt": "a"}}],
        ),
        (
            "ambiguous",
            [{"kind": "done", "id": "a"}, {"kind": "done", "id": "a", "task": "t"},
             {"kind": "skip", "original": {"receipt": "a"}}],
        ),
    ],
)  # fmt: skip
def test_each_unresolved_state_is_an_item_that_leads_to_its_list(
    desk: Desk, state: str, given: list[Body]
) -> None:
    desk.post(*given)
    desk.wait(days=2)

    (item,) = desk.items().values()

    assert item["code"] == f"pointer.{state}"
    assert item["since"] == NINE
    assert desk.counted(item) == 1


def test_a_pointer_that_still_waits_needs_nobody_until_it_is_due(desk: Desk) -> None:
    desk.post({"kind": "skip", "original": {"receipt": "never"}})

    assert desk.wait(hours=24, microseconds=-1).items() == {}
    assert set(desk.wait(microseconds=1).items()) == {"pointer.dangling"}


FAILED: list[Body] = [{"kind": "fail", "id": "a"}, {"kind": "skip", "original": {"receipt": "a"}}]
LOST: list[Body] = [
    {"kind": "start", "id": "a", "job": {"id": "1"}},
    {"kind": "skip", "reason": "holder_lost", "original": {"receipt": "a"}},
]


@pytest.mark.parametrize(
    ("code", "given", "sentence"),
    [
        ("skip.original_failed", FAILED, "A skip points to work that did not succeed."),
        ("skip.holder_lost", LOST, "A skip met a key whose holder was lost."),
    ],
)
def test_a_skip_after_which_the_work_may_not_be_done_is_an_item_that_leads_to_its_list(
    desk: Desk, code: str, given: list[Body], sentence: str
) -> None:
    desk.post(*given)

    (item,) = desk.items().values()

    assert (item["code"], item["sentence"]) == (f"verdict.{code}", sentence)
    assert (item["severity"], item["since"]) == ("bad", NINE)
    assert desk.counted(item) == 1


def test_a_failure_that_was_made_good_needs_nobody_any_more(desk: Desk) -> None:
    desk.post({"kind": "fail", "job": {"id": "1"}}, {"kind": "skip", "original": {"job": "1"}})
    assert "verdict.skip.original_failed" in desk.items()

    desk.wait(minutes=5).post({"kind": "done", "job": {"id": "1"}})

    assert desk.items() == {}


def test_a_lost_holder_whose_work_is_done_by_now_needs_nobody(desk: Desk) -> None:
    desk.post(*LOST)

    desk.wait(minutes=5).post({"kind": "done", "job": {"id": "1"}})

    assert desk.items() == {}


def test_a_failure_that_somebody_has_seen_is_quiet_until_there_is_another(desk: Desk) -> None:
    desk.post(*FAILED)
    desk.acknowledge("verdict.skip.original_failed")
    quiet = desk.items()

    desk.wait(minutes=5).post({"kind": "skip", "id": "b", "original": {"receipt": "a"}})

    assert quiet == {}
    item = desk.items()["verdict.skip.original_failed"]
    assert item["sentence"] == "2 skips point to work that did not succeed."


def test_what_is_set_aside_is_one_item_with_the_age_of_the_oldest(desk: Desk) -> None:
    desk.post(b"nonsense")
    desk.wait(hours=1).post(b"more nonsense")

    (item,) = desk.items().values()

    assert (item["code"], item["since"]) == ("quarantine", NINE)
    assert item["sentence"].startswith("2 are set aside")


def test_lists_that_stay_behind_the_log_are_an_item(desk: Desk) -> None:
    desk.post({"kind": "done"})
    with desk.clock():
        ingest.ingest([b'{"kind": "done"}'], Envelope(desk.project.id, desk.now))
        sequence.sequence(desk.project.id)

    assert desk.wait(seconds=4).items() == {}
    assert set(desk.wait(seconds=1).items()) == {"lag"}
    desk.catch_up()
    assert desk.items() == {}


def a_token(desk: Desk, name: str = "poller") -> int:
    with desk.clock():
        listing, _ = factories.make_token(desk.project, name=name)
    return int(ApiToken.objects.get(prefix=listing.prefix).pk)


def test_a_token_that_misses_ten_of_its_usual_intervals_is_silent(desk: Desk) -> None:
    token = a_token(desk)
    for _ in range(12):
        desk.wait(minutes=5).post({"kind": "heartbeat", "loop": "l"}, token=token)
    last = desk.now

    assert desk.wait(minutes=50).items() == {}
    (item,) = desk.wait(seconds=1).items().values()
    assert (item["code"], item["subject"], item["since"]) == ("token.silent", "poller", last)
    assert "every 5 min" in item["small"]
    desk.post({"kind": "heartbeat", "loop": "l"}, token=token)
    assert desk.items() == {}


def test_a_token_that_loaded_a_batch_is_not_silent_ten_seconds_later(desk: Desk) -> None:
    desk.post(*[{"kind": "done"} for _ in range(50)], token=a_token(desk))

    assert desk.wait(minutes=10).items() == {}
    assert set(desk.wait(seconds=1).items()) == {"token.silent"}


def test_a_token_with_too_few_receipts_has_no_usual_interval(desk: Desk) -> None:
    token = a_token(desk)
    for _ in range(9):
        desk.wait(minutes=5).post({"kind": "done"}, token=token)

    assert desk.wait(days=9).items() == {}


def test_an_acknowledged_item_is_quiet_and_listed_apart_with_the_word(desk: Desk) -> None:
    desk.post(NOTHING)
    desk.acknowledge("pointer.missing-pointer")

    assert desk.items() == {}
    (item,) = desk.items(acknowledged=True).values()
    assert item["acknowledged"] == {
        "reason": "we know", "actor": "Alice", "at": NINE, "until": None,
    }  # fmt: skip


def test_the_word_is_an_act_in_the_log_with_who_and_why(desk: Desk) -> None:
    desk.post(NOTHING)
    item = desk.items()["pointer.missing-pointer"]
    desk.acknowledge("pointer.missing-pointer")

    (act,) = desk.acts("acknowledge")
    assert act["actor"] == {"type": "person", "id": "u-17", "label": "Alice"}
    assert act["act"]["reason"] == "we know"
    assert act["act"]["target"] == f"attention:{item['id']}"
    assert act["act"]["facts"] == item["facts"]


def test_an_acknowledged_item_comes_back_when_its_facts_change(desk: Desk) -> None:
    desk.post(NOTHING)
    desk.acknowledge("pointer.missing-pointer")

    desk.wait(hours=1).post(NOTHING)

    assert set(desk.items()) == {"pointer.missing-pointer"}
    assert desk.items(acknowledged=True) == {}


def test_an_acknowledged_item_comes_back_when_its_time_has_passed(desk: Desk) -> None:
    desk.post(NOTHING)
    desk.acknowledge("pointer.missing-pointer", rfc3339(NINE + timedelta(hours=1)))

    assert desk.wait(hours=1, microseconds=-1).items() == {}
    assert set(desk.wait(microseconds=1).items()) == {"pointer.missing-pointer"}


def test_an_acknowledgement_of_a_producer_is_not_ours(desk: Desk) -> None:
    desk.post(NOTHING)
    item = desk.items()["pointer.missing-pointer"]
    act = {"verb": "acknowledge", "target": f"attention:{item['id']}", "facts": item["facts"]}

    desk.post({"kind": "act", "act": act, "actor": {"id": "u-17"}}, token=a_token(desk))

    assert set(desk.items()) == {"pointer.missing-pointer"}


@pytest.mark.parametrize("until", ["soon", "2026-10-05T08:59:59Z", "2026-10-05T09:00:00Z"])
def test_a_word_for_a_time_that_is_none_or_past_is_refused(desk: Desk, until: str) -> None:
    desk.post(NOTHING)

    with pytest.raises(ProblemError) as raised:
        desk.acknowledge("pointer.missing-pointer", until)

    assert raised.value.status == 400
    assert set(desk.items()) == {"pointer.missing-pointer"}


def test_what_needs_nobody_cannot_be_acknowledged(desk: Desk) -> None:
    with desk.clock(), pytest.raises(ProblemError) as raised:
        acknowledge.acknowledge(desk.project.id, "a0000", ALICE, "why", "")

    assert raised.value.status == 404


def send_again(desk: Desk, receipt: Receipt) -> redrive.Redriven:
    with desk.clock():
        found = redrive.redrive(desk.project.id, receipt, ALICE, "fixed")
    desk.catch_up()
    return found


@pytest.fixture
def lenient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a later release read what was refused: a body that is a lone kind in quotes."""
    read = reading.read

    def read_more(raw: bytes, *headers: str) -> Reading:
        return read(b'{"kind": "done"}' if raw == b"'done'" else raw, *headers)

    monkeypatch.setattr(reading, "read", read_more)


def set_aside(desk: Desk, raw: bytes = b"'done'", **more: Any) -> Receipt:
    (receipt,) = desk.post(raw, **more)
    assert receipt.state == "quarantined"
    return receipt


def test_what_is_still_unreadable_stays_open_and_the_try_is_in_the_log(desk: Desk) -> None:
    receipt = set_aside(desk)

    again = send_again(desk, receipt)

    assert (again.state, again.ref) == ("quarantined", ids.ref_of(receipt.pk))
    assert again.reasons
    assert [one["state"] for one in desk.quarantine()] == ["open"]
    (act,) = desk.acts("redrive")
    assert (act["act"]["reason"], act["act"]["result"]) == ("fixed", "quarantined")
    assert Receipt.objects.filter(derived_from=receipt.pk).count() == 0


def test_what_can_be_read_now_becomes_a_receipt_of_its_own_once(
    desk: Desk, request: pytest.FixtureRequest
) -> None:
    receipt = set_aside(desk)
    request.getfixturevalue("lenient")

    first, second = send_again(desk, receipt), send_again(desk, receipt)

    assert (first.state, first.derived_from) == ("accepted", ids.ref_of(receipt.pk))
    assert first == second
    (made,) = Receipt.objects.filter(derived_from=receipt.pk)
    assert ids.ref_of(made.pk) == first.ref
    (item,) = desk.quarantine()
    with desk.clock():
        document = documents.receipt(desk.project.id, first.ref)
    assert (item["state"], item["redriven_leaf"]) == ("redriven", document["leaf_index"])
    assert document["derived_from"] == ids.ref_of(receipt.pk)
    assert desk.items() == {}


def test_what_was_recorded_meanwhile_is_not_recorded_twice_and_is_closed(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = set_aside(desk, b"'d1'")
    (known,) = desk.post({"kind": "done", "id": "d1"})
    read = reading.read
    plain = b'{"kind": "done", "id": "d1"}'
    monkeypatch.setattr(
        reading, "read", lambda raw, *rest: read(plain if raw == b"'d1'" else raw, *rest)
    )

    again = send_again(desk, receipt)

    assert (again.state, again.ref) == ("replayed", ids.ref_of(known.pk))
    assert Receipt.objects.filter(derived_from=receipt.pk).count() == 0
    (item,) = desk.quarantine()
    assert item["state"] == "closed"
    assert again.ref in item["closed_reason"]
    assert send_again(desk, receipt).ref == again.ref


def test_closing_needs_a_reason_and_is_an_act(desk: Desk) -> None:
    receipt = set_aside(desk)
    for reason in ("", "   ", "x" * 501):
        with pytest.raises(ProblemError):
            redrive.check_reason(reason)

    with desk.clock():
        redrive.close(desk.project.id, receipt, ALICE, redrive.check_reason(" not ours "))
    desk.catch_up()

    (item,) = desk.quarantine()
    assert (item["state"], item["closed_reason"]) == ("closed", "not ours")
    (act,) = desk.acts("close")
    assert (act["actor"]["id"], act["act"]["reason"]) == ("u-17", "not ours")
    assert desk.items() == {}


def test_only_what_is_set_aside_can_be_closed_or_sent_through(desk: Desk) -> None:
    (receipt,) = desk.post({"kind": "done"})

    with desk.clock(), pytest.raises(redrive.NotSetAside):
        redrive.close(desk.project.id, receipt, ALICE, "why")
    with desk.clock(), pytest.raises(redrive.NotSetAside):
        redrive.redrive(desk.project.id, receipt, ALICE, "why")


@pytest.mark.parametrize("batch", [1, 500])
def test_whichever_settled_it_first_stands_whatever_the_batches(
    desk: Desk, request: pytest.FixtureRequest, batch: int
) -> None:
    receipt = set_aside(desk)
    request.getfixturevalue("lenient")
    with desk.clock():
        redrive.close(desk.project.id, receipt, ALICE, "not ours")
        follower.acts.drain(desk.project.id)
        sequence.sequence(desk.project.id)
        redrive.redrive(desk.project.id, receipt, ALICE, "after all")
        sequence.sequence(desk.project.id)
        stories.derive_in(desk.project.id, batch)

    (item,) = desk.quarantine()
    assert (item["state"], item["redriven_leaf"]) == ("closed", None)


def test_a_numbered_line_keeps_the_id_of_its_number_when_it_is_sent_through(
    desk: Desk, request: pytest.FixtureRequest
) -> None:
    receipt = set_aside(desk, feed_spool="spool-1", feed_number=7)
    request.getfixturevalue("lenient")

    again = send_again(desk, receipt)

    with desk.clock():
        assert documents.receipt(desk.project.id, again.ref)["id"] == "feed:spool-1:7"
    (same,) = desk.post({"kind": "done"}, feed_spool="spool-1", feed_number=7)
    assert ids.ref_of(same.pk) == again.ref
    assert Delivery.objects.filter(receipt=same.pk).count() == 2
