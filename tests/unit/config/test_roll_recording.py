"""The recording of scenario 4: as a run on a real Redis gives it, and told to the detectors."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import redis

from config.demo import roll, roll_lines
from config.demo.roll_lines import ACTIVITY, Away, Heard, Line, Provoked, Told
from config.demo.roll_teller import DENSITIES, PROFILES
from events.domain import codes, rows, segments
from events.domain.bus_settings import settings_of
from events.domain.findings import Finding
from events.domain.given_answers import AMBIGUOUS_RESUME, NEEDLESS_RESYNC, SILENT_SKIP
from events.domain.profiles import BARE, GENERATION
from events.domain.recording import Recorder
from events.domain.stream import Stream
from events.domain.stream_settings import StreamSettings
from tests.servers import Redis

ELSEWHERE = {SILENT_SKIP, AMBIGUOUS_RESUME, NEEDLESS_RESYNC, codes.CROSS_FEED}
"""What is found of answers and across installations, not by the fold of one bus."""
UUID = re.compile(r"^[0-9a-f-]{36}(?=\|)")


def test_the_detectors_find_in_the_recording_what_the_rig_provoked() -> None:
    lines = list(roll_lines.read(roll.RECORDING))

    found = fold(lines)

    provoked = [one for one in lines if isinstance(one, Provoked) and one.code not in ELSEWHERE]
    of_buses = {one.code for one in provoked if not one.lane}
    assert Counter(
        (one.bus, one.code, "" if one.code in of_buses else one.replica) for one in found
    ) == Counter((one.bus, one.code, one.lane) for one in provoked)


def test_the_recording_is_small() -> None:
    assert roll.RECORDING.stat().st_size < 300_000


def test_nothing_personal_or_of_this_machine_is_in_the_recording() -> None:
    text = roll.RECORDING.read_text()

    assert not re.search(r"/(home|root|tmp|work)/|127\.0\.0\.1|@", text)


@pytest.mark.slow
def test_the_recording_is_what_a_run_on_a_real_redis_gives(
    redis_server: Redis, tmp_path: Path
) -> None:
    with redis.Redis(port=redis_server.port) as client:
        client.flushall()

        roll.record(client, tmp_path / "fresh")

    fresh = list(roll_lines.read(tmp_path / "fresh"))
    kept = list(roll_lines.read(roll.RECORDING))
    # Run `manage.py demo --scenario 4 --redis-env VAR --record config/demo/roll.ndjson` again.
    assert list(without_uuid(fresh)) == list(without_uuid(kept))


def without_uuid(lines: Iterable[Line]) -> Iterator[Line]:
    """Leave out the watch bus's epoch, which is drawn anew in each run."""
    for line in lines:
        is_heard = isinstance(line, Heard)
        yield replace(line, message=UUID.sub("", line.message)) if is_heard else line


def fold(lines: Iterable[Line]) -> list[Finding]:
    """Tell the lines to the detectors of each bus, each lane read by its replica's version."""
    streams = {
        bus: Stream(StreamSettings("ours", bus, PROFILES[bus], DENSITIES[bus])) for bus in PROFILES
    }
    profiles: dict[str, str] = {}
    found: dict[str, Finding] = {}
    for line in lines:
        bus = line.bus if isinstance(line, Heard) else ACTIVITY
        take(streams[bus], line, profiles)
        changes = streams[bus].drain()
        found |= {one.key: one for one in changes.findings}
        for key in changes.dropped:
            found.pop(key, None)
    return list(found.values())


def take(stream: Stream, line: Line, profiles: dict[str, str]) -> None:
    if isinstance(line, Heard) and line.installation == roll_lines.OURS:
        for lane in line.lanes:
            profile = profiles.get(lane, PROFILES[line.bus])
            recorder = Recorder(settings_of(line.bus, {"profile": profile}), digest)
            row = recorder.record(line.at, line.scope, line.message.encode()).row
            stream.take(segments.record_of(row, "ours", line.bus, lane))
    elif isinstance(line, Away):
        row = rows.hole(line.at, line.until, "restart")
        stream.take(segments.record_of(row, "ours", ACTIVITY, line.lane))
    elif isinstance(line, Told) and line.what == "replica":
        is_old = line.body["phase"] == "S0"
        profiles[line.body["replica"]] = BARE if is_old else GENERATION
    elif isinstance(line, Told) and line.what == "heads":
        for one in line.body["heads"]:
            stream.take_head(line.at, one["node"], one["epoch"], int(one["head"]))


def digest(raw: bytes) -> bytes:
    return hashlib.sha256(raw).digest()
