"""How SQLite reads its tables for each page: by what is asked for, and never a whole log.

It keeps no statistics, so it plans the same for ten receipts and for ten million.
"""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from ledger import keys
from tests import factories, stories
from tests.databases import Database

TABLES = (
    "entry", "e", "entry_subject", "s", "leaf", "receipt", "receipt_body", "delivery", "tree_head",
    "pointer_event", "pointer_wait", "feed_spool", "feed_gap", "g",
)  # fmt: skip
WHOLE = re.compile(
    rf"(?:SCAN|SEARCH) (?:{'|'.join(TABLES)})(?: USING [A-Z ]*\w+ \(project_id=\?\))?"
)
"""A table read from end to end, or all of it that is the project's.

Where the least or the greatest is all that is wanted the plan says the same, and one row is read;
there the table has another name.
"""
LOG = re.compile(
    r"SEARCH e USING [A-Z ]*sqlite_autoindex_entry_\d \(project_id=\? AND leaf_index<\?\)"
)
"""The log read from its end until a page is full: right for a list that leaves nothing out."""
SELECTIVE = (
    "pointer:dangling", "pointer:unresolved", "pointer:cycle", "verdict:skip.paused", "id:call-1",
    "task:mail,payout", "job:7", "job:oban/prod/7", "scope:e1,e2", "subject:payout:PO-1", "PO-1",
    "key:0,1", "trace:0",
)  # fmt: skip
PAGES = (
    "", "receipts", "receipts?as_of=n5", "receipts/n5", "receipts/n5/explain", "tasks",
    "tasks/mail", "subjects/payout/PO-1", "quarantine", "producers",
    "reconcile?type=payout&id=PO-1",
)  # fmt: skip


@pytest.fixture
def story(sqlite_database: Database) -> stories.Story:
    keys.forget()
    return stories.tell(81, 20)


def plan_of(story: stories.Story, path: str) -> list[str]:
    """Ask for a page, and SQLite for its plan of each statement that the page needed."""
    reader = factories.make_member(story.project, "viewer")
    client = Client()
    client.force_login(factories.get_user_model_of(reader))
    with CaptureQueriesContext(connection) as captured:
        response = client.get(f"/p/{story.project.slug}/{path}")
    assert response.status_code == 200
    selects = [one["sql"] for one in captured if one["sql"].lstrip().startswith("SELECT")]
    with connection.cursor() as cursor:
        plans = [cursor.execute(f"EXPLAIN QUERY PLAN {one}").fetchall() for one in selects]
    return [row[3] for plan in plans for row in plan]


@pytest.mark.parametrize("path", [*PAGES, *(f"receipts?q={q}" for q in SELECTIVE)])
def test_no_page_reads_all_that_a_project_has(story: stories.Story, path: str) -> None:
    with time_machine.travel(story.now + timedelta(hours=1), tick=False):
        plan = plan_of(story, path)

    assert plan
    assert not [line for line in plan if WHOLE.fullmatch(line)]


@pytest.mark.parametrize("q", SELECTIVE)
def test_a_list_that_an_index_leads_does_not_go_through_the_log(
    story: stories.Story, q: str
) -> None:
    with time_machine.travel(story.now + timedelta(hours=1), tick=False):
        plan = plan_of(story, f"receipts?q={q}")

    assert not [line for line in plan if LOG.fullmatch(line)]


def test_the_objects_of_a_list_are_found_by_name(story: stories.Story) -> None:
    asked = "&".join(f"id=PO-{number}" for number in range(20))
    with time_machine.travel(story.now + timedelta(hours=1), tick=False):
        plan = plan_of(story, f"reconcile?type=payout&{asked}")

    read = [line for line in plan if line.startswith("SEARCH s ")]
    assert read
    assert not [line for line in read if "entry_subject_by_leaf" in line]
