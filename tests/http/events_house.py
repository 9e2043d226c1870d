"""What the tests of buses over HTTP share: who asks, and what was told."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import time_machine
from django.test import Client

from events.domain.told import names
from kit import clock
from ledger import ingest
from ledger.domain.draft import Envelope
from tests import buses, factories
from tests.desk import Desk

TEN = datetime(2026, 10, 5, 10, tzinfo=UTC)
BUS = names.bus_id("i1", "activity")
LANE = names.lane_id("i1", "activity", "tail")
OTHER = names.lane_id("i1", "activity", "r2")
INSTALLATION = names.installation_id("i1")


class House:
    """A desk with a program and a person who read, at ten."""

    def __init__(self, desk: Desk) -> None:
        self.desk, self.now = desk, TEN
        self.person = Client()
        user = factories.make_member(desk.project, "auditor", f"ada-{desk.project.id}")
        self.person.force_login(factories.get_user_model_of(user))

    def tell(self, *bodies: dict[str, Any]) -> list[str]:
        replies = self.desk.post_lines(*bodies).lines
        assert [one["status"] for one in replies] == [201] * len(bodies)
        self.desk.catch_up()
        return [one["ref"] for one in replies]

    def get(self, tail: str) -> Any:
        with time_machine.travel(self.now, tick=False):
            return self.desk.get(tail)

    def read(self, tail: str) -> Any:
        answer = self.get(tail)
        assert answer.status_code == 200, answer.content
        return answer.json()

    def read_at(self, at: str, tail: str) -> Any:
        """Read an answer at another time than ten."""
        with time_machine.travel(datetime.fromisoformat(at), tick=False):
            return self.desk.read(tail)

    def become_a_stranger(self) -> None:
        """Let somebody else ask for pages, who is no member."""
        self.person = Client()
        self.person.force_login(factories.get_user_model_of(factories.make_user()))

    def visit(self, tail: str) -> Any:
        """Ask for a page as a person."""
        with time_machine.travel(self.now, tick=False):
            return self.person.get(f"/p/{self.desk.project.slug}/{tail}")

    def page(self, tail: str) -> str:
        answer = self.visit(tail)
        assert answer.status_code == 200, answer.content
        return str(answer.content.decode())

    def configure(self, bus: str, settings: dict[str, Any]) -> None:
        """Set a bus up as `sources apply` does: by an act of this ledger's own."""
        act = {"kind": "act", "act": {"verb": "configure", "target": f"bus:i1/{bus}"},
               "settings": settings}  # fmt: skip
        ingest.ingest([json.dumps(act).encode()], Envelope(self.desk.project.id, clock.now()))

    def leaf_of(self, ref: str) -> int:
        """Give the number of a receipt in the log."""
        return int(self.read(f"receipts/{ref}")["leaf_index"])


def story() -> list[dict[str, Any]]:
    """Tell of bare ids, a restart below the old mark that climbs past it, and the change to 7."""
    rows = [
        *buses.run(range(1, 41), 0, 1, epoch=None),
        *buses.run(range(1, 61), 60, 1, epoch=None, title="again"),
        *buses.run(range(61, 101), 130, 1),
    ]
    return list(buses.segments(rows))


def replicas() -> list[dict[str, Any]]:
    """Tell of two replicas of a roll, one of which may not run beside the other."""
    counter = 'pad_event_sequence_resets_total{reason="counter_backwards"}'
    source = {"system": "pad", "instance": "i1", "via": "client"}
    told = {"kind": "observe", "what": "replica", "source": source, "installation": "i1"}
    reset = {"reason": "counter_backwards", "at": "2026-10-05T09:02:00Z", "workspace": "ws-1",
             "fields": {"id": 61, "high_water_mark": 90}}  # fmt: skip
    return [
        {**told, "replica": "r1", "phase": "S0", "sampled_at": "2026-10-05T09:00:00Z"},
        {**told, "replica": "r2", "phase": "2", "heartbeat_phase": "1", "metrics": {counter: 0},
         "sampled_at": "2026-10-05T09:00:00Z"},
        {**told, "replica": "r2", "metrics": {counter: 3}, "resets": [reset],
         "sampled_at": "2026-10-05T09:10:00Z"},
    ]  # fmt: skip


def answers() -> list[dict[str, Any]]:
    """Tell of a client that was served across a restart, and of a buffer as r2 dumped it."""
    common = {"kind": "observe", "installation": "i1", "bus": "activity", "replica": "r2",
              "channel": "ws-1"}  # fmt: skip
    return [
        {**common, "what": "resume", "cursor": "30", "answer": "replay", "served": 5,
         "first": "96", "last": "100", "occurred_at": "2026-10-05T09:30:00Z"},
        {**common, "what": "buffer", "epoch": "7", "floor": "90", "high_water": "101",
         "capacity": 12, "ids": [str(one) for one in range(90, 102)],
         "occurred_at": "2026-10-05T09:40:00Z"},
    ]  # fmt: skip


def keys() -> dict[str, Any]:
    """Tell of the keys of a bus, one of which expires."""
    key = {"name": "pad:event_seq", "role": "seq", "type": "string", "value_class": "integer",
           "ttl_s": 60}  # fmt: skip
    return {"kind": "observe", "what": "keys", "installation": "i1", "bus": "activity",
            "keys": [key], "policy": "allkeys-lru", "sampled_at": "2026-10-05T09:00:00Z",
            "channels": [{"channel": "pad:events:ws-1", "subscribers": 2}]}  # fmt: skip
