"""What several lanes saw of one thing is one incident; what clients were answered is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from events.domain import sightings

NINE = datetime(2026, 11, 30, 9, tzinfo=UTC)


def finding(replica: str, seconds: float = 0, **more: Any) -> dict[str, Any]:
    return {
        "finding": f"f{replica}{seconds}",
        "code": "RESET_NO_EPOCH",
        "channel": "ws-1",
        "epoch": None,
        "id": "1",
        "at": NINE + timedelta(seconds=seconds),
        "lane": f"l{replica}",
        "replica": replica,
        **more,
    }


def told(*findings: dict[str, Any]) -> list[list[str]]:
    return [sightings.replicas_of(one) for one in sightings.incidents_of(findings)]


def test_one_thing_that_all_lanes_saw_is_one_incident() -> None:
    assert told(finding("tail", 1.5), finding("r2", 0.1), finding("r1")) == [["r1", "r2", "tail"]]


def test_what_came_after_the_settle_time_is_another_incident() -> None:
    assert told(finding("r1"), finding("r2", 2.001)) == [["r2"], ["r1"]]


def test_one_lane_that_saw_it_twice_saw_two_incidents() -> None:
    assert told(finding("r1"), finding("r1", 1)) == [["r1"], ["r1"]]


def test_another_id_epoch_channel_or_code_is_another_incident() -> None:
    for more in ({"id": "2"}, {"epoch": "7"}, {"channel": "ws-2"}, {"code": "GAP"}):
        assert len(told(finding("r1"), finding("r2", **more))) == 2


def test_what_two_clients_were_answered_is_never_one_incident() -> None:
    skipped = {"code": "SILENT_SKIP"}
    assert len(told(finding("r1", **skipped), finding("r2", **skipped))) == 2


def test_findings_of_no_lane_are_alone() -> None:
    bare = [finding(name) | {"lane": None, "replica": None} for name in "ab"]
    assert told(*bare) == [[], []]


def test_the_incident_that_began_last_comes_first() -> None:
    assert told(finding("r1"), finding("r2", 60, id="9")) == [["r2"], ["r1"]]
