"""Scenario 4, the two-phase roll (seed 002): told on a real Redis, or from a recording of one.

A fleet goes from bare ids to prefixed ones; on its way a counter restarts unseen, calls mix, an
epoch is evicted and a failover rolls a counter back. What the ledger finds is compared with what
the rig provoked: no finding less, and none more.
"""

from __future__ import annotations

import os
import re
import time
import urllib.error
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import redis

from access.rows import ProjectRow
from config.demo import roll_check, roll_lines, roll_story
from config.demo.fire import Report, Server
from config.demo.moving_clocks import SECOND, Clock, MovedClock, QuickClock
from config.demo.pad_names import Names
from config.demo.roll_fleet import TAIL, Fleet, Sink
from config.demo.roll_lines import ACTIVITY, OURS, Heard, Line
from config.demo.roll_tail import Tailed, tail
from config.demo.roll_teller import PROFILES, Run, Teller
from config.demo.roll_voices import SomebodyElse, UploadedVoice, Voice
from events.domain.bus_settings import settings_of
from events.domain.times import micros
from events.integrations.watched import Watched
from kit import clock

RECORDING = Path(__file__).with_name("roll.ndjson")
RECORDED_AT = 1_800_000_000 * SECOND
PACE = 0.02
"""The part of the story's time that a telling on a real Redis takes."""
WAIT_S = 60.0
REST_S = 0.3
NOT_FOUND = 404
OUR_TAIL = (OURS, ACTIVITY, TAIL)
_TIMES = re.compile(r'("[tT]imestamp":)(\d+)')
_UUID = re.compile(r"^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=\|)")


def run(server: Server, project: ProjectRow, variable: str) -> Report:
    """Tell the story to a server, on a Redis where a variable names one, and compare."""
    # Asked first, so that an address without a server is known before anything is stored.
    server.get("/receipts", limit="1")
    if os.environ.get(variable):
        return perform(server, project, variable)
    return replay(server, project)


def replay(server: Server, project: ProjectRow) -> Report:
    """Tell the recording as if it had ended just now, and compare."""
    lines = list(roll_lines.read(RECORDING))
    told = _run(micros(clock.now()) - lines[-1].at)
    settings = settings_of(ACTIVITY, {"profile": PROFILES[ACTIVITY]})
    watched = Watched(project.id, told.installation(OURS), ACTIVITY, TAIL, settings)
    teller = _teller(server, project, told, UploadedVoice(watched))
    for line in _moved(lines, told.began_at - RECORDED_AT, told.name):
        teller.take(line)
    teller.flush()
    return _wait(server, told, lines, "no Redis was named, so a recording of one was told")


def perform(server: Server, project: ProjectRow, variable: str) -> Report:
    """Tell the story on the Redis whose address a variable holds, under a tail, and compare."""
    told = _run(micros(clock.now()))
    space = f"demo-{told.name}"
    tailed = Tailed(project.slug, told.installation(OURS), variable, space)
    lines: list[Line] = []
    with redis.Redis.from_url(os.environ[variable]) as client:
        client.ping()
        teller = _teller(server, project, told, SomebodyElse())

        def sink(line: Line) -> None:
            lines.append(line)
            teller.take(line)

        with tail(client, tailed):
            _tell(client, space, QuickClock(PACE), sink, told.began_at)
            teller.flush()
    return _wait(server, told, lines, f"the story was told on a real Redis, as {space}")


def record(client: redis.Redis, path: Path) -> int:
    """Tell the story on a Redis with a clock that does not wait, and write down what was seen.

    Gives how many lines there are.
    """
    lines: list[Line] = []
    _tell(client, "demo-recording", MovedClock(RECORDED_AT), lines.append, RECORDED_AT)
    roll_lines.write(path, lines)
    return len(lines)


def _run(began_at: int) -> Run:
    return Run(f"{clock.now():%Y%m%d%H%M%S}", began_at)


def _teller(server: Server, project: ProjectRow, told: Run, voice: Voice) -> Teller:
    teller = Teller(project.id, server, told, {OUR_TAIL: voice})
    teller.configure()
    return teller


def _tell(client: redis.Redis, namespace: str, watch: Clock, sink: Sink, began_at: int) -> None:
    fleet = Fleet(client, Names(namespace), watch, sink, began_at)
    try:
        roll_story.tell(fleet)
    finally:
        fleet.close()


def _moved(lines: Iterable[Line], by: int, run: str) -> Iterator[Line]:
    """Move the times that events carry themselves; those of lines count from their begin.

    Epochs that no two stores share get a name for this run: told twice, the recording would be
    taken for one store and its copy.
    """
    for line in lines:
        if isinstance(line, Heard):
            message = _TIMES.sub(lambda one: _shift(one, by), line.message)
            line = replace(line, message=_UUID.sub(lambda one: _renamed(one[0], run), message))
        yield line


def _renamed(epoch: str, run: str) -> str:
    return str(uuid.uuid5(uuid.UUID(epoch), run))


def _shift(found: re.Match[str], by: int) -> str:
    return f"{found[1]}{int(found[2]) + by // 1_000}"


def _wait(server: Server, told: Run, lines: list[Line], how: str) -> Report:
    """Compare until everything holds, since the ledger reads behind; at last say what does not."""
    end = time.monotonic() + WAIT_S
    while True:
        report = _compare(server, told, lines)
        if report.holds or time.monotonic() > end:
            return Report([(True, how), *report.lines])
        time.sleep(REST_S)


def _compare(server: Server, told: Run, lines: list[Line]) -> Report:
    try:
        return roll_check.compare(server, told, lines)
    except urllib.error.HTTPError as error:
        if error.code != NOT_FOUND:
            raise
        return Report([(False, "the ledger has not read of these buses yet")])
