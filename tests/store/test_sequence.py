from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection, transaction

from kit import clock
from ledger import ingest, sequence
from ledger.domain import leaf, merkle
from ledger.domain.draft import Envelope
from ledger.domain.merkle import Edge
from ledger.models import Leaf, Pending, Receipt, TreeHead
from tests.desk import Desk, only_on

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def store(desk: Desk, count: int, at: datetime | None = None) -> list[Any]:
    """Store some receipts as one append."""
    raws = [b'{"kind":"heartbeat"}'] * count
    envelope = Envelope(desk.project.id, at or clock.now())
    return [one.receipt for one in ingest.ingest(raws, envelope)]


def sequence_all(desk: Desk, limit: int = sequence.BATCH) -> int:
    """Sequence until nothing is pending; gives how many rounds it took."""
    rounds = 0
    while sequence.sequence(desk.project.id, limit):
        rounds += 1
    return rounds


def leaves_of(desk: Desk) -> list[Leaf]:
    return list(Leaf.objects.filter(project_id=desk.project.id).order_by("leaf_index"))


def heads_of(desk: Desk) -> list[TreeHead]:
    return list(TreeHead.objects.filter(project_id=desk.project.id).order_by("size"))


def naive_root(hashes: list[bytes]) -> bytes:
    """Return the root by the recursive words of RFC 6962 section 2.1."""
    if len(hashes) == 1:
        return hashes[0]
    split = 1
    while split * 2 < len(hashes):
        split *= 2
    return merkle.node_hash(naive_root(hashes[:split]), naive_root(hashes[split:]))


def check_log(desk: Desk) -> None:
    """Hold indexes, records, hashes, roots and edges of the whole log against each other."""
    leaves, receipts = leaves_of(desk), Receipt.objects.in_bulk()
    hashes = [bytes(one.hash) for one in leaves]
    assert [one.leaf_index for one in leaves] == list(range(len(leaves)))
    assert {one.receipt for one in leaves} == {
        key for key, one in receipts.items() if one.project_id == desk.project.id
    }
    for one in leaves:
        assert bytes(one.record) == record_of(desk, receipts[one.receipt])
        assert bytes(one.hash) == merkle.leaf_hash(bytes(one.record))
    for head in heads_of(desk):
        assert bytes(head.root) == naive_root(hashes[: head.size])
        assert Edge.unpack(head.size, bytes(head.edge)) == Edge().extend(hashes[: head.size])
    assert not Pending.objects.filter(project_id=desk.project.id).exists()


def record_of(desk: Desk, receipt: Receipt) -> bytes:
    return leaf.leaf_record(
        log=desk.project.origin,
        kind=receipt.kind if receipt.state == "accepted" else "quarantine",
        length=receipt.length,
        received_at=receipt.received_at,
        commit=receipt.commitment,
        stub=receipt.stub_commitment,
    )


@pytest.mark.parametrize("limit", [1, 2, 7, 500])
def test_leaves_are_dense_and_roots_right_however_the_log_is_cut(desk: Desk, limit: int) -> None:
    store(desk, 21)

    rounds = sequence_all(desk, limit)

    assert rounds == -(-21 // limit)
    assert [one.size for one in heads_of(desk)] == [
        min(size, 21) for size in range(limit, 21 + limit, limit)
    ]
    check_log(desk)


def test_a_log_grows_from_where_it_was(desk: Desk) -> None:
    for count in (1, 2, 3, 4, 5):
        store(desk, count)
        sequence_all(desk)

    assert [one.size for one in heads_of(desk)] == [1, 3, 6, 10, 15]
    check_log(desk)


def test_set_aside_and_conflicting_receipts_have_leaves_by_that_word(desk: Desk) -> None:
    desk.post({"id": "a", "kind": "done"})
    desk.post({"id": "a", "kind": "done", "n": 1})
    desk.post(b"{")
    desk.post(b"x" * 2_000_000)
    sequence_all(desk)

    records = [bytes(one.record) for one in leaves_of(desk)]

    kinds = [record.split(b'"kind":"')[1].split(b'"')[0] for record in records]
    assert kinds == [b"done", b"conflict", b"quarantine", b"quarantine"]


def test_each_project_has_a_log_of_its_own(desk: Desk) -> None:
    other = Desk(desk.database, desk.loop)
    store(desk, 3)
    store(other, 2)

    sequence_all(desk)
    sequence_all(other)

    check_log(desk)
    check_log(other)
    assert [len(leaves_of(one)) for one in (desk, other)] == [3, 2]
    assert desk.project.origin.encode() in bytes(leaves_of(desk)[0].record)


def test_nothing_pending_makes_no_head(desk: Desk) -> None:
    assert sequence.sequence(desk.project.id) == 0
    assert heads_of(desk) == []
    assert sequence.head(desk.project.id) == (Edge(0, ()), None)


def test_a_clock_that_jumps_back_makes_no_head_older_than_the_one_before(desk: Desk) -> None:
    times = [NOON, NOON + timedelta(seconds=1), NOON - timedelta(hours=1), NOON]
    for at in times:
        with time_machine.travel(at, tick=False):
            store(desk, 1)
            sequence_all(desk)

    committed = [one.committed_at for one in heads_of(desk)]

    latest = NOON + timedelta(seconds=1)
    assert committed == [NOON, latest, latest, latest]
    check_log(desk)


def test_a_receipt_older_than_the_newest_leaf_gets_the_next_index(desk: Desk) -> None:
    (newer,) = store(desk, 1, NOON)
    sequence_all(desk)
    (older,) = store(desk, 1, NOON - timedelta(days=1))

    sequence_all(desk)

    assert [one.receipt for one in leaves_of(desk)] == [newer, older]


def test_leaf_indexes_are_given_for_receipts_that_have_one(desk: Desk) -> None:
    sequenced = store(desk, 2)
    sequence_all(desk)
    pending = store(desk, 1)

    found = sequence.leaf_indexes([*sequenced, *pending])

    assert found == {sequenced[0]: 0, sequenced[1]: 1}


def test_a_sequencer_that_dies_before_its_commit_leaves_everything_pending(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(desk, 3)

    def die(receipts: object) -> None:
        raise SystemExit

    with monkeypatch.context() as patched, pytest.raises(SystemExit):
        patched.setattr(sequence, "_drain", die)
        sequence.sequence(desk.project.id)

    assert (leaves_of(desk), heads_of(desk)) == ([], [])
    sequence_all(desk)
    check_log(desk)


def in_thread(work: Any) -> threading.Thread:
    def run() -> None:
        try:
            work()
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_sequencers_at_once_give_each_receipt_one_leaf(desk: Desk) -> None:
    store(desk, 120)
    start = threading.Barrier(3)

    def sequence_much() -> None:
        start.wait()
        while Pending.objects.filter(project_id=desk.project.id).exists():
            sequence.sequence(desk.project.id, 10)

    threads = [in_thread(sequence_much) for _ in range(3)]
    for thread in threads:
        thread.join()

    assert len(leaves_of(desk)) == 120
    check_log(desk)


def test_receipts_that_come_while_sequencers_run_all_get_a_leaf(desk: Desk) -> None:
    posting = threading.Event()
    posting.set()

    def post() -> None:
        for _ in range(15):
            store(desk, 5)

    def sequence_on() -> None:
        while posting.is_set() or Pending.objects.filter(project_id=desk.project.id).exists():
            sequence.sequence(desk.project.id, 20)

    posters = [in_thread(post) for _ in range(2)]
    sequencers = [in_thread(sequence_on) for _ in range(2)]
    for thread in posters:
        thread.join()
    posting.clear()
    for thread in sequencers:
        thread.join()

    assert len(leaves_of(desk)) == 150
    check_log(desk)


@only_on("postgresql")
def test_a_second_sequencer_of_a_log_steps_back_on_postgresql(desk: Desk) -> None:
    store(desk, 2)
    found: list[int] = []
    with transaction.atomic(), connection.cursor() as cursor:
        name = f"sequence:{desk.project.id}"
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [name])

        in_thread(lambda: found.append(sequence.sequence(desk.project.id))).join()

    assert found == [0]
    assert sequence.sequence(desk.project.id) == 2


@only_on("postgresql")
def test_a_transaction_that_commits_late_is_not_lost_on_postgresql(desk: Desk) -> None:
    written, commit = threading.Event(), threading.Event()
    late: list[Any] = []

    def store_late() -> None:
        with transaction.atomic():
            late.extend(store(desk, 1, NOON))
            written.set()
            commit.wait(30)

    thread = in_thread(store_late)
    written.wait(30)
    early = store(desk, 1, NOON + timedelta(hours=1))
    sequence_all(desk)
    before = [one.receipt for one in leaves_of(desk)]
    commit.set()
    thread.join()
    sequence_all(desk)

    assert before == early
    assert [one.receipt for one in leaves_of(desk)] == [*early, *late]
    check_log(desk)
