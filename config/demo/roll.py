"""Scenario 4, the two-phase roll (seed 002): told on a real Redis, or from a recording of one.

A fleet goes from bare ids to prefixed ones; on its way a counter restarts unseen, calls mix, an
epoch is evicted and a failover rolls a counter back. What the ledger finds is compared with what
the rig provoked: no finding less, and none more.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import redis

from config.demo import roll_check, roll_lines, roll_story
from config.demo.fire import Report, Server
from config.demo.moving_clocks import SECOND, Clock, MovedClock
from config.demo.pad_names import Names
from config.demo.roll_fleet import Fleet, Sink
from config.demo.roll_lines import Heard, Line
from config.demo.roll_teller import Run, Teller
from events.domain.times import micros
from kit import clock

RECORDING = Path(__file__).with_name("roll.ndjson")
RECORDED_AT = 1_800_000_000 * SECOND
WAIT_S = 60.0
REST_S = 0.3
_TIMES = re.compile(r'("[tT]imestamp":)(\d+)')


def run(server: Server, project_id: int) -> Report:
    """Tell the recording as if it had ended just now, and compare."""
    lines = list(roll_lines.read(RECORDING))
    end = micros(clock.now())
    told = Run(f"{clock.now():%Y%m%d%H%M%S}", end - lines[-1].at)
    teller = Teller(project_id, server, told)
    teller.configure()
    for line in _moved(lines, told.began_at - RECORDED_AT):
        teller.take(line)
    teller.flush()
    report = Report()
    report.add(True, "no Redis was named, so a recording of a run on one was told")
    report.lines += _wait(server, told, lines).lines
    return report


def record(client: redis.Redis, path: Path) -> None:
    """Tell the story on a Redis with a clock that does not wait, and write down what was seen."""
    lines: list[Line] = []
    _tell(client, "demo-recording", MovedClock(RECORDED_AT), lines.append)
    roll_lines.write(path, lines)


def _tell(client: redis.Redis, namespace: str, watch: Clock, sink: Sink) -> None:
    fleet = Fleet(client, Names(namespace), watch, sink)
    try:
        roll_story.tell(fleet)
    finally:
        fleet.close()


def _moved(lines: Iterable[Line], by: int) -> Iterator[Line]:
    """Move the times that events carry themselves; those of lines count from their begin."""
    for line in lines:
        if isinstance(line, Heard):
            line = replace(line, message=_TIMES.sub(lambda one: _shift(one, by), line.message))
        yield line


def _shift(found: re.Match[str], by: int) -> str:
    return f"{found[1]}{int(found[2]) + by // 1_000}"


def _wait(server: Server, told: Run, lines: list[Line]) -> Report:
    """Compare until everything holds, since the ledger reads behind; at last say what does not."""
    end = time.monotonic() + WAIT_S
    while True:
        report = roll_check.compare(server, told, lines)
        if report.holds or time.monotonic() > end:
            return report
        time.sleep(REST_S)
