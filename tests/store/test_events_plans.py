"""The queries that judge an answer find their rows by an index, however many messages are kept."""

from __future__ import annotations

import pytest

from events.projectors import keys
from events.queries import attention, lane_state, messages
from kit import bulk
from tests.bus_desk import begin
from tests.databases import Database

IN_CHANNEL = {"scope": "AND scope = %s ", "spaces": "%s, %s", "values": "%s"}
IN_ALL = {**IN_CHANNEL, "scope": ""}
SCOPE_INDEX, KEY = "bus_message_by_scope", "(project_id=? AND lane=? AND ordinal>? AND ordinal<?)"
PLANS = (
    (messages._NEWEST.format(**IN_CHANNEL), SCOPE_INDEX),
    (messages._ABOVE.format(**IN_CHANNEL), SCOPE_INDEX),
    (messages._BROKEN.format(**IN_CHANNEL), SCOPE_INDEX),
    (messages._NEWEST.format(**IN_ALL), KEY),
    (messages._ABOVE.format(**IN_ALL), KEY),
    (messages._BROKEN.format(**IN_ALL), KEY),
    (messages._WATCHED, "(project_id=? AND lane=? AND leaf_index<?)"),
    (lane_state._STEP, "(project_id=? AND lane=? AND leaf_index<?)"),
    (lane_state._SPACES, "(project_id=? AND lane=?)"),
    (attention._GRAVE, "bus_finding_by_severity"),
)


@pytest.mark.parametrize(("statement", "wanted"), PLANS)
def test_a_statement_is_answered_by_its_index(
    sqlite_database: Database, statement: str, wanted: str
) -> None:
    begin()

    plan = bulk.select_rows(f"EXPLAIN QUERY PLAN {statement}", [1] * statement.count("%s"))

    told = "\n".join(str(row[-1]) for row in plan)
    assert wanted in told, told
    assert "SCAN bus_" not in told


def test_the_stored_parts_are_looked_up_by_their_keys(sqlite_database: Database) -> None:
    for table, where in (
        ("bus_finding", "finding = %s AND until_leaf IS NULL"),
        ("bus_finding", keys._STANDING),
        ("bus_space", "lane = %s"),
        ("bus_minute", "lane = %s AND minute = %s AND space = %s"),
        ("bus_lane", "bus = %s"),
    ):
        text = f"EXPLAIN QUERY PLAN SELECT 1 FROM {table} WHERE project_id = %s AND {where}"  # noqa: S608
        told = str(bulk.select_rows(text, [1] * text.count("%s")))
        assert "SCAN" not in told, (table, told)
