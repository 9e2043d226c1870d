"""Many writers at once, each with a connection of its own, as several servers would have."""

from __future__ import annotations

import json
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.db import connection, transaction

from kit import clock
from ledger import ingest, keys, store
from ledger.domain.draft import Draft, Envelope
from ledger.models import Delivery, DeliveryTail, Pending, Receipt, ReceiptBody
from ledger.store import Outcome
from tests.desk import Desk, only_on

THREADS = 12


def draft(desk: Desk, body: dict[str, Any]) -> Draft:
    return ingest.prepare(json.dumps(body).encode(), Envelope(desk.project.id, clock.now()))


def at_once(works: Sequence[Callable[[], Any]]) -> list[Any]:
    """Run works in threads that start together; gives their results, or raises what one raised."""
    start = threading.Barrier(len(works))
    results: dict[int, Any] = {}
    faults: list[BaseException] = []

    def run(number: int) -> None:
        try:
            start.wait(30)
            results[number] = works[number]()
        except BaseException as error:
            faults.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=[number]) for number in range(len(works))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if faults:
        raise faults[0]
    return [results[number] for number in range(len(works))]


def append_at_once(desk: Desk, batches: Sequence[Sequence[dict[str, Any]]]) -> list[Outcome]:
    drafts = [[draft(desk, body) for body in batch] for batch in batches]
    works = [lambda mine=mine: store.append(mine) for mine in drafts]
    return [outcome for outcomes in at_once(works) for outcome in outcomes]


def words(outcomes: Sequence[Outcome]) -> Counter[str]:
    return Counter(outcome.word for outcome in outcomes)


def receipts_of(desk: Desk) -> int:
    return Receipt.objects.filter(project_id=desk.project.id).count()


def check_rows(desk: Desk) -> None:
    """Each receipt has its body and waits for its leaf once."""
    receipts = set(Receipt.objects.filter(project_id=desk.project.id).values_list("pk", flat=True))
    pending = Pending.objects.filter(project_id=desk.project.id).values_list("pk", flat=True)
    assert set(pending) == receipts
    assert ReceiptBody.objects.filter(pk__in=receipts).count() == len(receipts)


def test_writers_of_one_new_receipt_agree_on_one_and_the_others_replay(desk: Desk) -> None:
    body = {"id": str(uuid.uuid4()), "kind": "done"}

    outcomes = append_at_once(desk, [[body]] * THREADS)

    assert words(outcomes) == {"accepted": 1, "replayed": THREADS - 1}
    assert len({outcome.receipt for outcome in outcomes}) == receipts_of(desk) == 1
    check_rows(desk)


def test_writers_of_different_contents_keep_each_once(desk: Desk) -> None:
    name = str(uuid.uuid4())
    bodies = [{"id": name, "kind": "done", "n": number} for number in range(THREADS)]

    outcomes = append_at_once(desk, [[body] for body in bodies])

    firsts = {outcome.first for outcome in outcomes}
    assert words(outcomes) == {"accepted": 1, "conflict": THREADS - 1}
    assert len(firsts) == 1
    assert len({outcome.receipt for outcome in outcomes}) == receipts_of(desk) == THREADS
    check_rows(desk)


def test_writers_of_two_contents_keep_two(desk: Desk) -> None:
    name = str(uuid.uuid4())
    bodies = [{"id": name, "kind": "done", "n": number % 2} for number in range(THREADS)]

    outcomes = append_at_once(desk, [[body] for body in bodies])

    half = THREADS // 2 - 1
    assert words(outcomes) == {"accepted": 1, "conflict": 1, "replayed": half, "again": half}
    assert receipts_of(desk) == 2


def test_overlapping_batches_in_opposite_orders_neither_block_nor_lose(desk: Desk) -> None:
    bodies = [{"id": str(uuid.uuid4()), "kind": "done"} for _ in range(1_000)]
    batches = [bodies, bodies[::-1], bodies[500:] + bodies[:500], bodies[::-1]]

    outcomes = append_at_once(desk, batches)

    assert words(outcomes) == {"accepted": 1_000, "replayed": 3_000}
    assert receipts_of(desk) == 1_000
    check_rows(desk)


def test_overlapping_batches_of_conflicts_in_opposite_orders_keep_each_content(
    desk: Desk,
) -> None:
    names = [str(uuid.uuid4()) for _ in range(200)]
    one, other = (
        [{"id": name, "kind": "done", "n": number} for name in names] for number in (1, 2)
    )
    mixed = [body for pair in zip(one, other, strict=True) for body in pair]

    outcomes = append_at_once(desk, [mixed, mixed[::-1], other[::-1] + one, one[::-1] + other])

    assert words(outcomes)["accepted"] == 200
    assert words(outcomes)["conflict"] == 200
    assert receipts_of(desk) == 400
    check_rows(desk)


def test_batches_of_often_repeated_receipts_in_opposite_orders_count_all(desk: Desk) -> None:
    bodies = [{"id": str(uuid.uuid4()), "kind": "done"} for _ in range(20)]
    for _ in range(store.DELIVERIES_KEPT):
        store.append([draft(desk, body) for body in bodies])

    append_at_once(desk, [bodies * 5, bodies[::-1] * 5] * 4)

    mine = Receipt.objects.filter(project_id=desk.project.id).values("pk")
    tails = DeliveryTail.objects.filter(pk__in=mine)
    assert sorted(tail.more for tail in tails) == [40] * 20
    assert Delivery.objects.filter(project_id=desk.project.id).count() == 2_000


def test_first_writers_of_a_project_agree_on_its_key(desk: Desk) -> None:
    def make() -> bytes:
        keys.forget()
        return keys.project_key(desk.project.id)

    found = at_once([make] * THREADS)

    assert len(set(found)) == 1


def test_an_append_that_fails_leaves_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    body = {"id": str(uuid.uuid4()), "kind": "done"}

    def fail(outcomes: object) -> None:
        raise RuntimeError

    with monkeypatch.context() as patched, pytest.raises(RuntimeError):
        patched.setattr(store, "_insert_deliveries", fail)
        store.append([draft(desk, body)])

    assert receipts_of(desk) == 0
    assert words(store.append([draft(desk, body)])) == {"accepted": 1}


@only_on("postgresql")
def test_a_writer_waits_for_the_one_before_and_then_replays(desk: Desk) -> None:
    body = {"id": str(uuid.uuid4()), "kind": "done"}
    waiting = threading.Event()
    second: list[Outcome] = []

    def write() -> None:
        waiting.set()
        second.extend(store.append([draft(desk, body)]))
        connection.close()

    thread = threading.Thread(target=write)
    with transaction.atomic():
        store.append([draft(desk, body)])
        thread.start()
        waiting.wait(30)
    thread.join()

    assert words(second) == {"replayed": 1}


@only_on("postgresql")
def test_a_writer_takes_the_place_of_one_that_failed(desk: Desk) -> None:
    body = {"id": str(uuid.uuid4()), "kind": "done"}
    waiting = threading.Event()
    second: list[Outcome] = []

    def write() -> None:
        waiting.set()
        second.extend(store.append([draft(desk, body)]))
        connection.close()

    thread = threading.Thread(target=write)
    with transaction.atomic():
        store.append([draft(desk, body)])
        thread.start()
        waiting.wait(30)
        transaction.set_rollback(True)
    thread.join()

    assert words(second) == {"accepted": 1}
    assert receipts_of(desk) == 1
