"""The read tables of feeds come from the log alone, whatever the batches and the database."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from ledger import keys, rebuild
from ledger.dump import dump
from ledger.models import FeedGap, FeedSpool
from ledger.projectors.feeds import FeedsProjector
from ledger.shadow import live_name
from tests import cuts, stories
from tests.databases import Database, copy_of_sqlite


@pytest.fixture(autouse=True)
def no_keys() -> None:
    keys.forget()


def tell(seed: int, times: int = 60) -> stories.Story:
    """Tell of feeds alone, some of the time with a minute's pause for the follower."""
    story = stories.tell(seed, 0, "acme")
    for _ in range(times):
        story.wait(story.chance.choice((1, 20, 61, 400)))
        stories.fed(story)
        if story.chance.random() < 0.5:
            story.sequence(500)
    story.wait(100)
    story.catch_up()
    return story


def dump_feeds() -> dict[str, list[str]]:
    return {table: list(dump(table, live_name(table))) for table in FeedsProjector.tables}


@pytest.mark.parametrize("seed", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_rebuild_of_feeds_changes_nothing_whatever_the_batches(
    database: Database, seed: int
) -> None:
    tell(seed)
    before = dump_feeds()

    reports = [rebuild.rebuild([FeedsProjector()], batch=batch) for batch in (1, 7, 2_000)]

    assert [(one.differing, one.first) for one in reports] == [(0, [])] * 3
    assert all(before.values())
    assert FeedGap.objects.filter(closed_by="arrived").exists()


@pytest.mark.slow
def test_both_databases_keep_the_same_of_feeds(
    postgresql_database: Database, sqlite_template: Path, tmp_path: Path
) -> None:
    story = tell(4)
    made_here = dump_feeds()
    log = cuts.take()

    (tmp_path / "other").mkdir()
    with copy_of_sqlite(sqlite_template, tmp_path / "other"):
        log.fill()
        stories.derive_in(story.project.id, 3)
        made_there = dump_feeds()

    assert made_there == made_here


def test_one_row_of_a_spool_is_in_force_at_any_leaf(sqlite_database: Database) -> None:
    story = tell(5)

    for name in stories.SPOOLS:
        rows = list(FeedSpool.objects.filter(spool=name).order_by("leaf_index"))
        ends = [row.until_leaf for row in rows]
        assert ends == [*[row.leaf_index for row in rows[1:]], None] if rows else True
        spans = [row.span for row in rows[:-1]]
        lengths = [
            (after.leaf_index - row.leaf_index).bit_length()
            for row, after in itertools.pairwise(rows)
        ]
        assert spans == lengths
        assert all(row.span == (0 if row.is_settled else None) for row in rows[-1:])
    assert FeedSpool.objects.filter(project_id=story.project.id).count() > len(stories.SPOOLS)
