"""Read tables come from the log alone: the same text whatever the batches and the database."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from kit import bulk
from ledger import keys, rebuild
from ledger.dump import dump
from ledger.registry import registry
from ledger.shadow import live_name
from tests import cuts, stories
from tests.databases import Database, copy_of_sqlite


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()


def dump_all() -> dict[str, list[str]]:
    """Dump every read table."""
    tables = [table for projector in registry.projectors for table in projector.tables]
    return {table: list(dump(table, live_name(table))) for table in tables}


def is_rich(dumped: dict[str, list[str]]) -> bool:
    """Say whether a story filled every read table."""
    return all(dumped.values())


@pytest.mark.parametrize(
    "seed", [3, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (2, 14))]
)
def test_a_rebuild_changes_nothing_whatever_the_batches(database: Database, seed: int) -> None:
    stories.tell(seed, 80, "acme")
    stories.tell(seed + 100, 20, "elsewhere")
    before = dump_all()

    reports = [rebuild.rebuild(registry.projectors, batch=batch) for batch in (1, 7, 2_000)]

    assert [(one.differing, one.first) for one in reports] == [(0, [])] * 3
    assert {one.rows for one in reports} == {sum(map(len, before.values()))}
    assert is_rich(before), [one for one, rows in before.items() if not rows]
    assert dump_all() == before


@pytest.mark.slow
@pytest.mark.parametrize("seed", [4, 9])
def test_both_databases_make_the_same_of_one_log(
    seed: int, postgresql_database: Database, sqlite_template: Path, tmp_path: Path
) -> None:
    story = stories.tell(seed, 80)
    made_here = dump_all()
    log = cuts.take()

    folder = tmp_path / "other"
    folder.mkdir()
    with copy_of_sqlite(sqlite_template, folder):
        log.fill()
        stories.derive_in(story.project.id, 3)
        made_there = dump_all()

    assert made_there == made_here
    assert is_rich(made_here), [one for one, rows in made_here.items() if not rows]


def test_a_job_heard_of_before_its_table_was_read_is_not_awaited_whatever_the_batches(
    database: Database,
) -> None:
    oban = {"system": "oban", "instance": "prod-1"}
    story = stories.tell(6, 1)
    for one in (
        {"kind": "done", "source": oban, "job": {"id": "102"}},
        {"kind": "observe", "what": "row", "source": {**oban, "via": "row"},
         "job": {"id": "101", "state": "available", "attempt": 0}},
        {"kind": "enqueue", "source": oban, "job": {"id": "102"}},
    ):  # fmt: skip
        story.post(one)
        story.catch_up()

    reports = [rebuild.rebuild(registry.projectors, batch=batch) for batch in (1, 2_000)]

    assert [(one.differing, one.first) for one in reports] == [(0, [])] * 2


def test_the_rebuilt_tables_are_swapped_in_and_are_the_same(database: Database) -> None:
    stories.tell(6, 40)
    before = dump_all()

    for _ in range(2):
        rebuild.rebuild(registry.projectors, apply=True, batch=9)

    assert dump_all() == before


def test_a_row_made_by_hand_is_found_and_named_and_goes_with_the_swap(database: Database) -> None:
    story = stories.tell(7, 30)
    before = dump_all()
    statement = "UPDATE entry SET task = %s WHERE project_id = %s AND leaf_index = %s"
    bulk.update_rows(statement, [("made by hand", story.project.id, 3)])

    report = rebuild.rebuild(registry.projectors, batch=11)

    assert report.differing == 1
    (difference,) = report.first
    assert difference.table == "entry"
    assert difference.live is not None
    assert '"task": "made by hand"' in difference.live
    assert difference.rebuilt in before["entry"]
    rebuild.rebuild(registry.projectors, apply=True)
    assert dump_all() == before


@pytest.mark.parametrize(
    ("statement", "live", "rebuilt"),
    [
        ("DELETE FROM entry_subject WHERE rowid = (SELECT max(rowid) FROM entry_subject)",
         False, True),
        ("INSERT INTO acknowledgement (project_id, item, leaf_index, facts, reason, actor, at) "
         "SELECT project_id, 'zzz', 0, '', '', '', received_at FROM entry WHERE leaf_index = 0",
         True, False),
    ],
    ids=["a row taken away", "a row put in"],
)  # fmt: skip
def test_a_row_that_one_side_lacks_is_told_by_its_side(
    sqlite_database: Database, statement: str, live: bool, rebuilt: bool
) -> None:
    stories.tell(8, 30)
    bulk.update_rows(statement, [[]])

    report = rebuild.rebuild(registry.projectors)

    (difference,) = report.first
    assert (difference.live is not None, difference.rebuilt is not None) == (live, rebuilt)


def test_many_differences_are_counted_and_the_first_shown(sqlite_database: Database) -> None:
    stories.tell(9, 30)
    bulk.update_rows("UPDATE entry SET queue = %s", [["by hand"]])

    report = rebuild.rebuild(registry.projectors)

    assert report.differing > rebuild.SHOWN
    assert len(report.first) == rebuild.SHOWN


def test_names_that_many_receipts_share_come_to_the_same_in_all_batches(
    sqlite_database: Database,
) -> None:
    story = stories.tell(10, 3)
    key = {"recipe": "calls", "fields": {"call": 1}, "window_s": 30}
    bodies: list[stories.Body] = []
    for number in range(24):
        at = {"occurred_at": str(story.now + timedelta(seconds=number))}
        about = {"job": {"id": "hot"}, "key": key, "id": f"{number}", **at}
        skips = [
            {"kind": "skip", "reason": "in_flight", "key": key, **at},
            {"kind": "skip", "reason": "in_flight", "original": {"job": "hot"}},
            {"kind": "skip", "original": {"receipt": "same"}},
        ]
        bodies.append({"kind": ("start", "done", "observe")[number % 3], **about})
        bodies.append({"kind": "done", "id": "same", "data": number})
        bodies.append(skips[number % 3])
    story.post(*bodies)
    story.catch_up()

    reports = [rebuild.rebuild(registry.projectors, batch=batch) for batch in (2, 2_000)]

    assert [(one.differing, one.first) for one in reports] == [(0, [])] * 2
