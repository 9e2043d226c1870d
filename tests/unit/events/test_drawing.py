"""A timeline's drawing: rows of spaces, merged marks, links without a script, and the table."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs

import pytest

from events import drawing, twin
from events.domain import bands, codes, marks, shapes
from tests.browser.timelines import LANES, story

Document = dict[str, Any]


def drawn(document: Document | None = None, **asked: str) -> Document:
    return drawing.timeline_of(document or story(), asked)


def band(lane: str, ordinal: int, epoch: str | None, ids: tuple[int, int], kind: str) -> Document:
    return {
        "id": f"{lane}/{ordinal}",
        "lane": lane,
        "ordinal": ordinal,
        "epoch": epoch,
        "kind": kind,
        "label": f"epoch {epoch}",
        "least": str(ids[0]),
        "greatest": str(ids[1]),
        "count": ids[1] - ids[0] + 1,
    }


def rows_of(*found: Document) -> list[bands.Row]:
    return bands.rows_of(found, {one["id"]: (one["ordinal"] * 100.0, 900.0) for one in found})


def test_replicas_that_heard_one_space_share_a_row() -> None:
    rows = rows_of(
        band("l1", 0, None, (1, 90), "adopted"),
        band("l2", 0, None, (40, 90), "adopted"),
        band("l1", 1, "7", (1, 5), "epoch"),
        band("l2", 1, "7", (1, 9), "epoch"),
    )

    assert [(row.epoch, len(row.bands), row.least, row.greatest) for row in rows] == [
        (None, 2, 1, 90),
        ("7", 2, 1, 9),
    ]


def test_a_counter_that_restarts_without_an_epoch_begins_a_row() -> None:
    rows = rows_of(
        band("l1", 0, None, (1, 900), "adopted"), band("l1", 1, None, (1, 2_000), "reset")
    )

    assert [row.greatest for row in rows] == [900, 2_000]


def test_spaces_without_an_epoch_whose_ids_never_met_are_not_one() -> None:
    rows = rows_of(
        band("l1", 0, None, (1, 90), "adopted"), band("l2", 0, None, (5_000, 5_009), "adopted")
    )

    assert len(rows) == 2


def test_the_newest_row_is_the_uppermost_and_none_is_lower_than_36() -> None:
    rows = rows_of(
        band("l1", 0, "6", (1, 2), "adopted"), band("l1", 1, "7", (1, 1_000_000), "epoch")
    )

    foot = bands.stack(rows, 40)

    assert [row.top for row in rows] == [40 + 108 + 6, 40]
    assert [row.height for row in rows] == [36, 108]
    assert foot == 40 + 108 + 6 + 36 + 6


def test_ids_beyond_2_to_the_53_keep_their_places_and_digits() -> None:
    picture = drawn()

    (row,) = [one for one in picture["rows"] if "epoch 8" in one["label"]]
    assert "1,876,951,040,000,000,001" in row["title"]
    assert len({line.split("L")[0] for line in row["lines"]}) == 1
    heights = [int(one.split()[1].split("V")[0]) for one in row["lines"][0][1:].split("L")]
    assert heights[0] > heights[-1]


def test_marks_of_one_kind_closer_than_12_px_are_one_with_a_count() -> None:
    rows = rows_of(band("l1", 0, "7", (1, 100), "adopted"))
    bands.stack(rows, 40)
    near = {"band": "l1/0", "event_id": "50"}
    findings = [
        {"code": code, "at_ms": at, **near}
        for code, at in (("GAP", 0), ("DUPLICATE", 5), ("GAP", 11), ("GAP", 22), ("GAP", 40))
    ]

    found = marks.merge(findings, rows, lambda ms: ms, 40)

    assert [(one.code, len(one.findings)) for one in found] == [
        ("GAP", 3),
        ("DUPLICATE", 1),
        ("GAP", 1),
    ]


def test_every_finding_is_in_some_mark() -> None:
    document = story(findings=200)

    assert sum(one["count"] for one in drawn(document)["marks"]) == 200


def test_a_chosen_lane_leaves_only_its_bands_and_findings() -> None:
    lane = LANES[2][0]
    picture = drawn(lane=lane)

    assert {one["lane"] for one in picture["spaces"]} == {lane}
    assert len(picture["strips"]) == 1
    assert all(len(row["lines"]) == 1 for row in picture["rows"])


@pytest.mark.parametrize("name", ["earlier", "later", "in", "out"])
def test_moves_are_links_that_keep_the_lane(name: str) -> None:
    asked = parse_qs(drawn(lane=LANES[0][0])["moves"][name][1:])

    assert asked["lane"] == [LANES[0][0]]
    assert asked["from"][0] < asked["to"][0]


def test_links_lead_from_finding_to_finding_and_end() -> None:
    document = story(findings=20)
    seen, asked = [], {}
    while query := twin.moves_of(document, asked)["next"]:
        (chosen,) = parse_qs(query[1:])["finding"]
        seen.append(chosen)
        asked = {"finding": chosen}

    assert seen == [one["id"] for one in document["findings"]]
    assert twin.moves_of(document, {"finding": seen[0]})["previous"] == ""


def test_the_table_has_every_bucket_in_order_of_time() -> None:
    document = story(points=240)
    rows: list[Document] = []
    asked: dict[str, str] = {}
    while True:
        table = twin.table_of(document, asked)
        rows += table["rows"]
        if not table["later"]:
            break
        asked = {"row": parse_qs(table["later"][1:])["row"][0]}

    assert len(rows) == sum(len(one["t"]) for one in document["bands"])
    assert [one["at"] for one in rows] == sorted(one["at"] for one in rows)
    assert "1876951040000000001" in {one["least"] for one in rows}


@pytest.mark.parametrize("row", ["-1", "x", "99999999", "٣", "9" * 30])
def test_a_page_of_the_table_that_is_none_is_the_first(row: str) -> None:
    assert twin.table_of(story(points=240), {"row": row})["first"] == 1


def test_a_sparse_bus_is_drawn_as_points_and_a_dense_one_as_a_line() -> None:
    document = story(points=240)
    sparse = document | {"bus": document["bus"] | {"density": "sparse"}}

    assert "L" in drawn(document)["rows"][0]["lines"][0]
    assert drawn(document)["rows"][0]["lines"][0].split("L")[0].count("V") == 1
    assert "L" not in drawn(sparse)["rows"][0]["lines"][0]
    assert drawn(sparse)["rows"][0]["lines"][0].count("M") > 10


def test_of_very_many_replicas_and_spaces_some_are_drawn_and_the_rest_is_said() -> None:
    document = story(points=24, findings=3)
    strip, space = document["strips"][0], document["bands"][0]
    strips = [strip | {"lane": f"l{number}", "replica": f"r{number}"} for number in range(300)]
    found = [
        space | {"id": f"l0/{number}", "lane": "l0", "ordinal": number, "epoch": str(number)}
        for number in range(500)
    ]

    picture = drawn(document | {"strips": strips, "bands": found})

    assert len(picture["strips"]) == 40
    assert picture["lanes_left_out"] == 260
    assert len(picture["rows"]) == 40
    assert (len(picture["spaces"]), picture["spaces_left_out"]) == (200, 300)


def test_a_band_is_linked_by_its_life() -> None:
    asked = parse_qs(drawn()["spaces"][0]["query"][1:])

    assert asked["from"][0] < asked["to"][0]
    assert asked["band"][0].startswith("l")


def test_strips_answers_and_phases_are_in_the_table_too() -> None:
    coverage = drawn()["coverage"]

    states = {(one["replica"], one["state"]) for one in coverage["bars"]}
    assert {("r2", "gap"), ("r3", "silent"), ("r3", "unwatched"), ("r1", "cold")} <= states
    assert [one["at"] for one in coverage["resumes"]] == sorted(
        one["at"] for one in coverage["resumes"]
    )
    assert [one["label"] for one in coverage["phases"]][1] == "S0 and S2 mixed"


def test_a_timeline_without_anything_is_drawn() -> None:
    document = story(points=12, findings=0) | {"bands": [], "strips": [], "holes": []}

    picture = drawn(document)

    assert picture["rows"] == []
    assert picture["table"]["count"] == 0


def test_every_code_has_a_shape() -> None:
    assert set(codes.MARKS) <= set(shapes.SHAPES)
