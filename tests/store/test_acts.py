from __future__ import annotations

import json

from access import store as access_store
from access.rows import COMMAND_LINE
from config.follower import catch_up
from kit import clock
from ledger import acts, ingest
from ledger.domain.draft import Envelope
from ledger.models import Entry
from tests.databases import Database


def test_a_producer_cannot_take_the_id_of_an_act_beforehand(sqlite_database: Database) -> None:
    project = access_store.create_project(slug="acme", actor=COMMAND_LINE)
    squatted = [
        json.dumps({"kind": "act", "id": f"action:{n}", "act": {"verb": "close"}}).encode()
        for n in range(1, 60)
    ]
    token, _ = access_store.create_token(project.id, name="w", scope="ingest", actor=COMMAND_LINE)
    ingest.ingest(squatted, Envelope(project.id, clock.now(), token_id=token.id))

    access_store.record_action(
        project_id=project.id, actor=COMMAND_LINE, verb="acknowledge", target="attention:a1"
    )
    catch_up()

    assert not Entry.objects.filter(token=None, state="conflict").exists()


def test_the_id_of_an_act_is_the_same_each_time_and_tells_no_number(
    sqlite_database: Database,
) -> None:
    project = access_store.create_project(slug="acme", actor=COMMAND_LINE)
    other = access_store.create_project(slug="other", actor=COMMAND_LINE)

    assert acts.action_id(project.id, 7) == acts.action_id(project.id, 7)
    assert len({acts.action_id(project.id, 7), acts.action_id(project.id, 8),
                acts.action_id(other.id, 7)}) == 3  # fmt: skip
