"""Derivers beside each other, crashes between planning and writing, and rules that change."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Sequence

import pytest
from django.db import connection

from config import follower
from kit import bulk, ids
from ledger import derive, documents, judged_again, keys, rebuild, redrive, sequence
from ledger.domain import reading, verdicts
from ledger.models import Entry, ProjectorCursor, Receipt
from ledger.projectors.receipts import ReceiptsProjector
from ledger.projectors.roll_ups import RollUpsProjector
from ledger.queries import bodies
from ledger.registry import Write, registry
from ledger.statements import Item
from tests import factories, stories
from tests.databases import Database
from tests.store.test_rebuild import dump_all


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()


def in_threads(count: int, work: Callable[[], None]) -> list[Exception]:
    """Run work in several threads at once; gives what they raised."""
    raised: list[Exception] = []

    def run() -> None:
        try:
            work()
        except Exception as error:
            raised.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def hand_in(story: stories.Story, count: int) -> None:
    """Put receipts into the log that point to each other, and leave them to be derived."""
    bodies = [
        {"kind": "skip", "id": f"s{at}", "original": {"receipt": f"s{at + 7}"}}
        for at in range(count)
    ]
    story.post(*bodies)
    with story.travel():
        while sequence.sequence(story.project.id, 100):
            pass


def test_derivers_at_once_write_no_row_twice(database: Database) -> None:
    story = stories.tell(31, 5)
    hand_in(story, 120)
    size = derive.log_size(story.project.id)

    raised = in_threads(3, lambda: stories.derive_in(story.project.id, 9))

    assert raised == []
    assert Entry.objects.count() == size
    assert {row.next_leaf for row in ProjectorCursor.objects.all()} == {size}
    assert rebuild.rebuild(registry.projectors).differing == 0


def test_a_batch_that_another_deriver_wrote_meanwhile_is_left(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = stories.tell(32, 5)
    hand_in(story, 30)
    plan = ReceiptsProjector.plan

    def plan_slowly(self: ReceiptsProjector, project_id: int, items: Sequence[Item]) -> Write:
        write = plan(self, project_id, items)
        monkeypatch.setattr(ReceiptsProjector, "plan", plan)
        stories.derive_in(project_id, 4)
        return write

    monkeypatch.setattr(ReceiptsProjector, "plan", plan_slowly)
    derive.derive(story.project.id, 10)

    assert Entry.objects.count() == derive.log_size(story.project.id)
    assert rebuild.rebuild(registry.projectors).differing == 0


def test_a_batch_planned_under_rules_that_were_replaced_meanwhile_is_left(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = stories.tell(33, 5)
    hand_in(story, 30)
    before = ProjectorCursor.objects.get(projector="receipts").next_leaf
    plan = ReceiptsProjector.plan

    def plan_slowly(self: ReceiptsProjector, project_id: int, items: Sequence[Item]) -> Write:
        ProjectorCursor.objects.filter(projector="receipts").update(rules_version=1_000)
        return plan(self, project_id, items)

    monkeypatch.setattr(ReceiptsProjector, "plan", plan_slowly)
    derive.derive(story.project.id)

    assert ProjectorCursor.objects.get(projector="receipts").next_leaf == before


@pytest.mark.parametrize("projector", [ReceiptsProjector, RollUpsProjector])
def test_a_crash_between_planning_and_committing_starts_over(
    database: Database, monkeypatch: pytest.MonkeyPatch, projector: type[ReceiptsProjector]
) -> None:
    story = stories.tell(34, 10)
    hand_in(story, 20)
    plan = projector.plan

    def plan_and_crash(self: ReceiptsProjector, project_id: int, items: Sequence[Item]) -> Write:
        write = plan(self, project_id, items)

        def write_and_crash() -> None:
            write()
            raise KeyboardInterrupt

        return write_and_crash

    monkeypatch.setattr(projector, "plan", plan_and_crash)
    with pytest.raises(KeyboardInterrupt):
        derive.derive(story.project.id, 8)
    monkeypatch.undo()

    stories.derive_in(story.project.id, 8)
    assert rebuild.rebuild(registry.projectors).differing == 0


def raise_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a release whose rules call a paused skip something else."""
    monkeypatch.setattr(ReceiptsProjector, "rules_version", ReceiptsProjector().rules_version + 1)
    by_reason = {**verdicts.BY_REASON, "paused": "skip.draining"}
    monkeypatch.setattr(verdicts, "BY_REASON", by_reason)


def paused(number: int) -> dict[str, object]:
    return {"kind": "skip", "id": f"p{number}", "reason": "paused", "rule": {"name": "r"}}


def test_raised_rules_have_the_follower_rebuild_swap_and_say_so_in_the_log(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    story, other = stories.tell(35, 8), stories.tell(36, 8)
    receipts = story.post(*[paused(number) for number in range(3)])
    story.catch_up()
    raise_rules(monkeypatch)

    story.wait(60)
    story.catch_up()
    story.catch_up()

    found = {row.receipt: row.verdict for row in Entry.objects.filter(id_key__startswith="p")}
    assert [found[one.pk] for one in receipts] == ["skip.draining"] * 3
    acts = list(Entry.objects.filter(kind="act", verdict="unknown", project_id=story.project.id))
    said = [
        body
        for act in acts
        if (body := bodies.read_body(documents.receipts.get_raw(
            documents.receipts.get_receipt(story.project.id, f"n{act.leaf_index}"))[0]))
        .get("act", {}).get("verb") == "judged again"
    ]  # fmt: skip
    (judged,) = said
    changed = Counter((one["from"], one["to"]) for one in judged["act"]["counts"])
    assert changed[("skip.paused", "skip.draining")] == 1
    assert judged["act"]["rules"]["receipts"] == str(ReceiptsProjector().rules_version)
    assert {ids.ref_of(one.pk) for one in receipts} <= set(judged["data"]["refs"])
    told = derive.status()
    assert all((one.rules_version, one.lag) == (one.wanted_rules_version, 0) for one in told)
    assert rebuild.rebuild(registry.projectors).differing == 0
    assert other.project.id != story.project.id


def test_rows_stay_as_they_were_until_they_are_rebuilt(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = stories.tell(37, 8)
    before = dump_all()
    raise_rules(monkeypatch)
    hand_in(story, 5)

    derive.derive(story.project.id)

    assert dump_all()["entry"] == before["entry"]
    told = derive.status()
    raised = next(one for one in told if one.projector == "receipts")
    assert (raised.wanted_rules_version - raised.rules_version, raised.lag) == (1, 5)
    # Those whose rules rest on the raised ones wait for the rebuild as well.
    assert all((one.lag == 0) == (one.rules_version == one.wanted_rules_version) for one in told)


def versions_by_name() -> dict[str, int]:
    return dict(ProjectorCursor.objects.values_list("projector", "rules_version"))


def test_a_crash_in_the_swap_leaves_the_old_rows_and_no_word_in_the_log(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = stories.tell(38, 8)
    story.post(paused(1))
    story.catch_up()
    before, size = dump_all(), derive.log_size(story.project.id)
    versions = versions_by_name()
    raise_rules(monkeypatch)

    def crash(*given: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(judged_again, "record", crash)
    with pytest.raises(KeyboardInterrupt):
        story.catch_up()
    assert dump_all() == before
    assert versions_by_name() == versions

    monkeypatch.undo()
    raise_rules(monkeypatch)
    story.catch_up()
    assert derive.log_size(story.project.id) == size + 1


def test_one_projects_failure_does_not_hold_up_the_others(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = stories.tell(39, 3), stories.tell(40, 3)
    hand_in(first, 3)
    hand_in(second, 3)
    plan = ReceiptsProjector.plan

    def stumble(self: ReceiptsProjector, project_id: int, items: Sequence[Item]) -> Write:
        if project_id == first.project.id:
            raise ZeroDivisionError
        return plan(self, project_id, items)

    monkeypatch.setattr(ReceiptsProjector, "plan", stumble)
    failures: list[Exception] = []
    follower.follow_once(failures)

    assert [type(one) for one in failures] == [ZeroDivisionError]
    lags = {one.project_id: one.lag for one in derive.status() if one.projector == "receipts"}
    assert lags == {first.project.id: 3, second.project.id: 0}


def test_a_second_rebuild_in_one_connection_does_not_write_into_the_live_tables(
    database: Database,
) -> None:
    stories.tell(41, 8)
    for _ in range(6):
        bulk.select_rows("SELECT count(*) FROM entry WHERE project_id > %s", [0])
    before = dump_all()

    for _ in range(8):
        assert rebuild.rebuild(registry.projectors, batch=1).differing == 0

    assert dump_all() == before


def test_what_two_people_send_through_again_at_once_becomes_one_receipt(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    story = stories.tell(42, 0)
    (receipt,) = story.post(b"'done'")
    read = reading.read
    monkeypatch.setattr(
        reading, "read", lambda raw, *rest: read(b'{"kind": "done"}' if raw else raw, *rest)
    )
    came: list[redrive.Redriven] = []

    def send_again() -> None:
        came.append(redrive.redrive(story.project.id, receipt, factories.TESTER, "fixed"))

    raised = in_threads(4, send_again)

    assert raised == []
    assert len({(one.ref, one.state) for one in came}) == 1
    assert Receipt.objects.filter(derived_from=receipt.pk).count() == 1
