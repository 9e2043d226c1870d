"""Tells the lines of scenario 4 to the ledger, as those who saw them would.

Messages become segments of the lane that received them, read by that replica's own version; what
instances say of themselves is posted to the server like any producer's receipt.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from config.demo.fire import Server
from config.demo.roll_lines import ACTIVITY, OURS, THEIRS, WATCH, Away, Heard, Line, Told
from config.demo.roll_voices import OwnVoice, Voice
from events.domain.bus_settings import settings_of
from events.domain.profiles import BARE, DENSE, GENERATION, HEARTBEAT, SPARSE
from events.domain.times import moment
from events.integrations.watched import Watched
from kit import clock
from ledger import ingest
from ledger.domain.draft import Envelope
from ledger.domain.leaf import rfc3339

SCHEMA = "counterfoil.receipt/1"
DENSITIES = {ACTIVITY: SPARSE, WATCH: DENSE}
PROFILES = {ACTIVITY: HEARTBEAT, WATCH: WATCH}
Place = tuple[str, str, str]
"""An installation, a bus and a replica."""


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
    """Stores what it is told, in order; `voices` are those of lanes that are no replica's own."""

    project_id: int
    server: Server
    run: Run
    voices: dict[Place, Voice] = field(default_factory=dict)
    _profiles: dict[str, str] = field(default_factory=dict)
    _started: dict[str, int] = field(default_factory=dict)
    _ready: list[bytes] = field(default_factory=list)
    _told: int = 0

    def configure(self) -> None:
        """Set how the buses are to be read, as a person would before the roll."""
        for bus, density in DENSITIES.items():
            self._configure(bus, {"profile": PROFILES[bus], "density": density})

    def take(self, line: Line) -> None:
        """Take the next line of the story."""
        if isinstance(line, Heard):
            at = self.run.began_at + line.at
            for lane in line.lanes:
                voice = self._voice((line.installation, line.bus, lane))
                self._ready += voice.hear(at, line.scope, line.message)
        elif isinstance(line, Away):
            begin, end = (self.run.began_at + at for at in (line.at, line.until))
            self._ready += self._voice((OURS, ACTIVITY, line.lane)).miss(begin, end)
        elif isinstance(line, Told):
            self.flush()
            self._post(line)

    def flush(self) -> None:
        """Store all that was heard."""
        for voice in self.voices.values():
            self._ready += voice.close()
        if self._ready:
            ingest.ingest(self._ready, Envelope(self.project_id, clock.now()))
            self._ready.clear()

    def _voice(self, place: Place) -> Voice:
        if place not in self.voices:
            installation, bus, lane = place
            settings = settings_of(bus, {"profile": self._profiles.get(lane, PROFILES[bus])})
            name = self.run.installation(installation)
            self.voices[place] = OwnVoice(Watched(self.project_id, name, bus, lane, settings))
        return self.voices[place]

    def _post(self, line: Told) -> None:
        own = self._of_replica(line) if line.what == "replica" else {}
        name, at = self.run.installation(OURS), self.run.time(line.at)
        self._told += 1
        receipt = {
            "schema": SCHEMA,
            "id": f"{name}-{self._told}",
            "kind": "observe",
            "what": line.what,
            "occurred_at": at,
            "sampled_at": at,
            "source": {"system": "pad", "instance": name},
            "installation": name,
            "bus": ACTIVITY,
            **line.body,
            **own,
        }
        self.server.post([receipt])

    def _of_replica(self, line: Told) -> dict[str, Any]:
        """Write the times of what a replica told; a new process numbers its segments anew."""
        name, started_at = line.body["replica"], line.body["started_at"]
        if self._started.get(name) != started_at:
            self._started[name] = started_at
            self._profiles[name] = BARE if line.body["phase"] == "S0" else GENERATION
            self.voices.pop((OURS, ACTIVITY, name), None)
        resets = [{**one, "at": self.run.time(one["at"])} for one in line.body["resets"]]
        return {"started_at": self.run.time(started_at), "resets": resets}

    def _configure(self, bus: str, settings: dict[str, Any]) -> None:
        target = f"bus:{self.run.installation(OURS)}/{bus}"
        body = {
            "schema": SCHEMA,
            "kind": "act",
            "act": {"verb": "configure", "target": target},
            "settings": settings,
            "actor": {"type": "person", "id": "u-17", "label": "Duty operator"},
            "source": {"system": "counterfoil", "instance": "demo"},
        }
        ingest.record(self.project_id, body)
