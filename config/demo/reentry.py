"""Scenario 3, re-entry and replay (seed 004): a run's calls as Oban rows and telemetry.

Under the key (scope, invoke_id) a re-entered state's second start was lost; under (scope,
invoke_id, macrostep) it runs, a crash replay is still taken for what it is, and a cancel spans all
generations. Every verdict is compared with the one that the history states.
"""

from __future__ import annotations

import json
import time
import urllib.error
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from config.demo import oban_table
from config.demo.fire import Report, Server
from jobs.domain import fixture, oban
from jobs.integrations import oban_loop
from jobs.integrations.oban_loop import Target

HISTORY = Path(__file__).with_name("reentry.json")
WAIT_S = 60.0
Body = dict[str, Any]


def run(server: Server, project_id: int, dsn: str) -> Report:
    """Tell the history to a server, rows by a real table where a database is named, and compare."""
    report = Report()
    document, now = _moved_to_now(json.loads(HISTORY.read_text()))
    instance = f"demo-{now:%Y%m%d%H%M%S}"
    history = fixture.merge_defaults(document)
    told = [oban.event_receipt(one, instance=instance) for one in history.receipts]
    for place, one in enumerate(told):
        one["id"] = f"{instance}-{place}"
    server.post(told)
    if dsn:
        tally = _read_table(project_id, instance, dsn, history.rows)
        report.add(True, f"a real Oban table was read: {tally}")
    else:
        rows = [oban.row_receipt(one, instance=instance, seen_at=now) for one in history.rows]
        server.post(rows)
        report.add(True, "no database was named, so the rows were posted as the reader writes them")
    _wait(server, instance, str(history.rows[-1]["id"]))
    _compare_receipts(server, instance, document, report)
    _compare_rows(server, instance, document, report)
    return report


def _moved_to_now(document: Body) -> tuple[Body, datetime]:
    """Move all times of the history so that it ends now; a page of the last day shows it then."""
    now = datetime.now(UTC).replace(microsecond=0)
    by = now - datetime.fromisoformat(document["now"])
    moved: Body = _moved(document, by)
    return moved, now


def _moved(value: Any, by: timedelta) -> Any:
    if isinstance(value, Mapping):
        return {name: _moved(one, by) for name, one in value.items()}
    if isinstance(value, list):
        return [_moved(one, by) for one in value]
    if isinstance(value, str) and len(value) == 20 and value.endswith("Z"):
        return (datetime.fromisoformat(value) + by).strftime("%Y-%m-%dT%H:%M:%SZ")
    return value


def _read_table(project_id: int, instance: str, dsn: str, rows: Any) -> str:
    with oban_table.filled(dsn, rows) as (schema, table):
        target = Target(
            project_id=project_id, instance=instance, dsn=dsn, schema=schema, table=table
        )
        return oban_loop.run_once(target, lambda line: None).sentence()


def _wait(server: Server, instance: str, number: str) -> None:
    """Wait until the last row has been judged; telemetry may have named its job long before."""
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        try:
            states = server.get(f"/jobs/oban/{instance}/{number}")["states"]
        except urllib.error.HTTPError as error:
            if error.code != 404:
                raise
            states = []
        if any(one["via"] == "row" for one in states):
            return
        time.sleep(0.2)


def _compare_receipts(server: Server, instance: str, document: Body, report: Report) -> None:
    expected = {
        f"{instance}-{place}": one["expect"]["verdict"]
        for place, one in enumerate(document["receipts"])
    }
    found = {
        item["id"]: item["verdict"]["code"]
        for item in server.all_items(f"source:oban/{instance}")
        if item["id"] in expected
    }
    wrong = [
        f"{name}: {found.get(name)}" for name, code in expected.items() if found.get(name) != code
    ]
    right = len(expected) - len(wrong)
    report.add(not wrong, _line(f"{right} of {len(expected)} receipts are judged right", wrong))


def _compare_rows(server: Server, instance: str, document: Body, report: Report) -> None:
    wrong = []
    for row in document["rows"]:
        answer = server.get(f"/jobs/oban/{instance}/{row['id']}")
        if answer["verdict"]["code"] != row["expect"]["verdict"]:
            wrong.append(f"{row['id']}: {answer['verdict']['code']}")
    right = len(document["rows"]) - len(wrong)
    report.add(not wrong, _line(f"{right} of {len(document['rows'])} rows are judged right", wrong))


def _line(text: str, wrong: list[str]) -> str:
    return f"{text}; wrong: {', '.join(wrong)}" if wrong else text
