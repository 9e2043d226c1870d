"""Tells the lines of scenario 4 to the ledger, as those who saw them would.

Messages become segments of the lane that received them, read by that replica's own version; what
instances say of themselves is posted to the server like any producer's receipt.
"""

from __future__ import annotations

import hashlib
import hmac
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from config.demo.fire import Server
from config.demo.roll_lines import ACTIVITY, OURS, THEIRS, WATCH, Away, Heard, Line, Told
from events.domain import rows
from events.domain.bus_settings import settings_of
from events.domain.profiles import BARE, GENERATION, HEARTBEAT
from events.domain.recording import Recorder
from events.domain.segments import Builder, Lane
from events.domain.times import moment
from kit import clock
from ledger import ingest, keys
from ledger.domain.draft import Envelope
from ledger.domain.leaf import rfc3339

SCHEMA = "counterfoil.receipt/1"
DENSITIES = {ACTIVITY: "sparse", WATCH: "dense"}
PROFILES = {ACTIVITY: HEARTBEAT, WATCH: WATCH}


@dataclass(frozen=True, slots=True)
class Run:
    """One telling: its name, and when its story began in microseconds since 1970."""

    name: str
    began_at: int

    def installation(self, which: str) -> str:
        """Name an installation."""
        return {OURS: f"pad-{self.name}", THEIRS: f"pad-{self.name}-b"}[which]

    def time(self, at: int) -> str:
        """Write a time of the story."""
        return rfc3339(moment(self.began_at + at))


@dataclass(slots=True)
class Teller:
    """Stores what it is told in order; lanes `unheard` are written by somebody else."""

    project_id: int
    server: Server
    run: Run
    unheard: Sequence[str] = ()
    told: int = 0
    _builders: dict[tuple[str, str, str], Builder] = field(default_factory=dict)
    _profiles: dict[str, str] = field(default_factory=dict)
    _started: dict[str, int] = field(default_factory=dict)
    _ready: list[bytes] = field(default_factory=list)

    def configure(self) -> None:
        """Set how the buses are to be read, as a person would before the roll."""
        for bus, density in DENSITIES.items():
            self._act("configure", bus, settings={"profile": PROFILES[bus], "density": density})

    def take(self, line: Line) -> None:
        """Take the next line of the story."""
        if isinstance(line, Heard):
            for lane in line.lanes:
                if lane not in self.unheard:
                    self._hear(line, lane)
        elif isinstance(line, Away):
            begin, end = (self.run.began_at + at for at in (line.at, line.until))
            self._add(OURS, ACTIVITY, line.lane, rows.hole(begin, end, "restart"))
        elif isinstance(line, Told):
            self.flush()
            self._post(line)

    def flush(self) -> None:
        """Store all that was heard."""
        self._ready += [one.raw for b in self._builders.values() if (one := b.close())]
        if self._ready:
            ingest.ingest(self._ready, Envelope(self.project_id, clock.now()))
            self._ready.clear()

    def _hear(self, line: Heard, lane: str) -> None:
        profile = self._profile(line.bus, lane)
        settings = settings_of(line.bus, {"profile": profile})
        recorder = Recorder(settings, self._sign)
        at, raw = self.run.began_at + line.at, line.message.encode()
        row, masked = recorder.record(at, line.scope, raw)
        self._add(line.installation, line.bus, lane, row, masked)

    def _add(
        self, installation: str, bus: str, lane: str, row: rows.Row, masked: Sequence[str] = ()
    ) -> None:
        key = (installation, bus, lane)
        if key not in self._builders:
            name, profile = self.run.installation(installation), self._profile(bus, lane)
            named = Lane(name, bus, lane, profile, str(uuid.uuid4()))
            self._builders[key] = Builder(named)
        finished = self._builders[key].add(row, masked)
        if finished:
            self._ready.append(finished.raw)

    def _profile(self, bus: str, lane: str) -> str:
        return self._profiles.get(lane, PROFILES[bus])

    def _sign(self, raw: bytes) -> bytes:
        return hmac.digest(keys.project_key(self.project_id), raw, hashlib.sha256)

    def _post(self, line: Told) -> None:
        body = dict(line.body)
        if line.what == "replica":
            body |= self._of_replica(line)
        named = self.run.installation(OURS)
        self.told += 1
        receipt = {
            "schema": SCHEMA,
            "id": f"{named}-{self.told}",
            "kind": "observe",
            "what": line.what,
            "occurred_at": self.run.time(line.at),
            "sampled_at": self.run.time(line.at),
            "source": {"system": "pad", "instance": named},
            "installation": named,
            "bus": ACTIVITY,
            **body,
        }
        self.server.post([receipt])

    def _of_replica(self, line: Told) -> dict[str, Any]:
        """Write the times of what a replica told; a new process numbers its segments anew."""
        name, started_at = line.body["replica"], line.body["started_at"]
        if self._started.get(name) != started_at:
            self._started[name] = started_at
            self._profiles[name] = BARE if line.body["phase"] == "S0" else GENERATION
            self._builders.pop((OURS, ACTIVITY, name), None)
        at = self.run.time(line.at)
        resets = [{"reason": one, "at": at, "fields": {}} for one in line.body["resets"]]
        return {"started_at": self.run.time(started_at), "resets": resets}

    def _act(self, verb: str, bus: str, **members: Any) -> None:
        target = f"bus:{self.run.installation(OURS)}/{bus}"
        body = {
            "schema": SCHEMA,
            "kind": "act",
            "act": {"verb": verb, "target": target},
            "actor": {"type": "person", "id": "u-17", "label": "Duty operator"},
            "source": {"system": "counterfoil", "instance": "demo"},
            **members,
        }
        ingest.record(self.project_id, body)
