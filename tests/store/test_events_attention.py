"""What of buses needs someone, and what explaining a receipt tells of them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from events import documents as bus_pages
from events.domain.records import BARE
from events.integrations import tail_place
from events.projectors import folds
from events.queries import attention, findings
from ledger import documents, keys
from ledger.registry import AttentionItem
from tests.bus_desk import BUS, FRAME_ROW, BusDesk, begin, lane_id, numbered
from tests.databases import Database


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()
    folds.forget()


@pytest.fixture
def desk(database: Database) -> BusDesk:
    return begin()


def items(desk: BusDesk, source: object, later_s: float = 0) -> list[AttentionItem]:
    now = desk.story.now + timedelta(seconds=later_s)
    return list(source(desk.project_id, now))  # type: ignore[operator]


def skipped(desk: BusDesk) -> BusDesk:
    """Let two clients be served though they missed something."""
    desk.told(*map(numbered, (5, 6)), replica="r1")
    for cursor in ("1", "2"):
        desk.observe("resume", replica="r1", channel="ws-1", cursor=cursor, answer="replayed")
    return desk


def test_grave_findings_of_a_bus_are_one_item_for_each_code(desk: BusDesk) -> None:
    skipped(desk)

    (item,) = items(desk, attention.grave_items)

    assert (item.code, item.subject) == ("bus.SILENT_SKIP", "bus:i1/activity")
    assert item.sentence == "On bus activity of i1: skipped in silence, 2 times."
    assert item.next_path == f"buses/{BUS}/findings?code=SILENT_SKIP"


def test_what_all_replicas_saw_is_counted_as_one_incident(desk: BusDesk) -> None:
    rows = [numbered(number, None)._replace(form=BARE) for number in (50, 51, 1, 2, 3)]
    for replica in ("r1", "r2", "r3"):
        desk.tell(desk.segment(*rows, replica=replica, profile="bare"))

    (item,) = items(desk, attention.grave_items, later_s=60)
    desk.wait(60)
    with desk.story.travel():
        cut = bus_pages.find_cut(desk.project_id, "")
    ((_, tallies),) = findings.tally_of(desk.project_id, [BUS], cut).items()

    assert desk.codes() == ["RESET_NO_EPOCH"] * 3
    assert item.sentence.endswith("counter restarted unannounced.")
    assert item.is_named
    assert [(one["count"], one["incidents"]) for one in tallies] == [(3, 1)]


def test_an_item_of_findings_comes_back_with_the_next_one(desk: BusDesk) -> None:
    (before,) = items(skipped(desk), attention.grave_items)

    desk.observe("resume", replica="r1", channel="ws-1", cursor="3", answer="replayed")

    (after,) = items(desk, attention.grave_items)
    assert before.facts != after.facts


def test_warnings_and_what_is_not_yet_due_need_nobody(desk: BusDesk) -> None:
    desk.told(numbered(100)).told(numbered(101, "8"))
    skipped(desk)

    assert items(desk, attention.grave_items, later_s=-3_600) == []
    assert {one.code for one in items(desk, attention.grave_items)} == {"bus.SILENT_SKIP"}


def feed_line(desk: BusDesk, **members: object) -> None:
    spool = tail_place.open_place(desk.project_id, "i1", "activity", "tail").spool
    line = {"kind": "observe", "what": "feed", "spool": spool, "written": 1, "unsent": 0}
    desk.tell({**line, "dropped": 0, **members})


def test_a_lane_that_our_tail_watches_is_quiet_when_its_frames_stop(desk: BusDesk) -> None:
    desk.told(numbered(1), FRAME_ROW)
    feed_line(desk)

    assert items(desk, attention.quiet_items, later_s=60) == []
    (item,) = items(desk, attention.quiet_items, later_s=120)
    assert (item.code, item.next_path) == ("bus.quiet", f"lanes/{lane_id()}")


def test_a_lane_without_frames_is_quiet_and_not_silent(desk: BusDesk) -> None:
    desk.told(numbered(1))
    feed_line(desk)

    assert items(desk, attention.quiet_items, later_s=3_600) == []


def test_a_tail_that_ended_is_not_called_quiet(desk: BusDesk) -> None:
    desk.told(numbered(1), FRAME_ROW)
    feed_line(desk)
    feed_line(desk, closed=True, end="in_order")

    assert items(desk, attention.quiet_items, later_s=3_600) == []


def test_an_old_replica_beside_written_epochs_needs_someone(desk: BusDesk) -> None:
    desk.observe("replica", replica="r1", phase="S0")
    desk.told(numbered(1, None)._replace(form=BARE))
    before = items(desk, attention.mix_items)

    desk.told(numbered(2))

    assert before == []
    (item,) = items(desk, attention.mix_items)
    assert (item.code, item.subject, item.severity) == ("bus.s0_s2", "installation:i1", "bad")


def section(desk: BusDesk, table: str) -> documents.Document:
    leaf = desk.select("leaf_index", table)[-1]
    with desk.story.travel():
        (found,) = documents.explanation(desk.project_id, f"n{leaf}", "")["sections"]
    return found


def test_explaining_a_segment_tells_of_its_lane_its_ids_and_what_it_brought_out(
    desk: BusDesk,
) -> None:
    desk.told(numbered(100)).told(numbered(1, "8"), numbered(2, "8"))

    found = section(desk, "bus_segment")

    rows = {row["label"]: row["text"] for row in found["rows"]}
    assert rows == {
        "the lane": "tail on activity of i1",
        "ID space 1": "2 messages, ids 1 to 2",
        "what it brought out": "epoch changed",
    }


def test_explaining_an_answer_tells_what_was_safe(desk: BusDesk) -> None:
    desk.told(*map(numbered, (2, 3, 5)), replica="r2").told(*map(numbered, (5, 6)), replica="r1")
    desk.observe("resume", replica="r1", channel="ws-1", cursor="1", answer="replayed", served=2)

    found = section(desk, "bus_resume")

    rows = {row["label"]: row["text"] for row in found["rows"]}
    assert rows["was answered"] == "replayed"
    assert rows["would have been safe"].startswith("refuse: ")
    assert rows["never sent"] == "2 ids that we know of: 2, 3"
    assert found["links"][0]["path"] == f"lanes/{lane_id('r1')}/resume?cursor=1&channel=ws-1"
