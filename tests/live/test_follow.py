from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest
from django.core.management import call_command

from access import store as access_store
from access.rows import COMMAND_LINE
from kit import clock
from ledger import ingest
from ledger.domain.draft import Envelope
from ledger.queries import derived_heads
from tests.architecture import ROOT
from tests.databases import Database
from tests.servers import PATIENCE

pytestmark = pytest.mark.slow


def post(project_id: int, number: int) -> None:
    raw = json.dumps({"id": f"r-{number}", "kind": "done"}).encode()
    ingest.ingest([raw], Envelope(project_id=project_id, received_at=clock.now()))


def test_follow_once_brings_the_lists_up_to_date(database: Database) -> None:
    project = access_store.create_project(slug="acme", actor=COMMAND_LINE)
    post(project.id, 1)

    call_command("follow", "--once")

    # The making of the project is a receipt as well.
    assert derived_heads()[project.id] == 1


def test_a_follower_takes_what_another_process_stores_and_ends_at_sigterm(
    database: Database,
) -> None:
    project = access_store.create_project(slug="acme", actor=COMMAND_LINE)
    command = [sys.executable, "manage.py", "follow"]
    with subprocess.Popen(
        command, cwd=ROOT, env={**database.environment, "PATH": "/usr/bin:/bin"}
    ) as follower:
        post(project.id, 1)

        wait_for_leaf(project.id, 1)
        follower.send_signal(signal.SIGTERM)

        assert follower.wait(PATIENCE) == 0


def wait_for_leaf(project_id: int, leaf: int) -> None:
    end = time.monotonic() + PATIENCE
    while derived_heads().get(project_id, -1) < leaf:
        assert time.monotonic() < end
        time.sleep(0.02)
