"""Incidents for templates: told once with all who saw them, counted, in the tone of the worst."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from events import incidents_present

NINE = datetime(2026, 11, 30, 9, tzinfo=UTC)


def finding(replica: str, id_: str = "1") -> dict[str, Any]:
    place = {"lane": f"l{replica}", "replica": replica, "channel": None, "epoch": None}
    return {"finding": replica + id_, "code": "GAP", "at": NINE, "id": id_, **place}


def bus(tone: str, *tallies: tuple[int, int]) -> dict[str, Any]:
    found = [{"count": count, "incidents": incidents, "tone": tone} for count, incidents in tallies]
    total = sum(count for count, _ in tallies)
    return {"findings": found, "findings_count": total, "worst": found[0] if found else None}


def count(value: int, method: str = "exact") -> dict[str, Any]:
    return {"value": value, "method": method}


def test_an_incident_is_told_once_with_all_who_saw_it() -> None:
    alone, shared = incidents_present.told_once(
        [finding("r1", "2"), finding("r2", "2"), finding("tail")]
    )

    assert (shared["id"], shared["seen_by"]) == ("2", ["r1", "r2"])
    assert (alone["id"], alone["seen_by"]) == ("1", [])


def test_each_finding_of_a_list_names_the_others_of_its_incident() -> None:
    found = incidents_present.marked([finding("r1"), finding("r2"), finding("r1", "9")])

    assert [one["also_seen_by"] for one in found] == [["r2"], ["r1"], []]


def test_findings_and_incidents_are_counted_apart_in_the_tone_of_the_worst() -> None:
    found = incidents_present.counted(bus("bad", (4, 1), (2, 2)), count(6))

    assert found["findings_words"] == "3 incidents, 6 findings"
    assert (found["findings_tone"], found["findings_icon"]) == ("bad", "triangle-alert")


def test_where_each_finding_is_an_incident_one_number_is_enough() -> None:
    found = incidents_present.counted(bus("gap", (1, 1)), count(1))

    assert (found["findings_words"], found["findings_icon"]) == ("1 finding", "diamond")


def test_a_count_that_stops_says_so() -> None:
    found = incidents_present.counted(bus("plain", (10_000, 5_000)), count(10_000, "capped"))

    assert found["findings_words"] == "5,000 or more incidents, 10,000 or more findings"
