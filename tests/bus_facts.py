"""What tails, replicas and people tell of buses, for stories: seeded, with every fault in it.

It has a chance of its own, so that what else a story tells does not change with it.
"""

from __future__ import annotations

import hashlib
import json
import random
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from events.domain import rows, segments
from events.domain.records import BARE, FRAME, JUNK, PREFIXED
from events.domain.rows import Row
from events.domain.segments import Builder, Lane
from events.domain.times import micros
from ledger.domain.leaf import rfc3339

Body = dict[str, Any]
SECOND = 1_000_000
SCOPES = ("ws-1", "ws-2", "ws-3", "\ud800 odd\x00", "x" * 300)
LANES = (
    ("i1", "activity", "tail", "generation"),
    ("i1", "activity", "r1", "generation"),
    ("i1", "watch", "tail", "watch"),
    ("i2", "activity", "tail", "generation+hb"),
    ("i2", "orders\x00", "tail", "generic"),
)
ODD_ROWS: tuple[Any, ...] = (
    7, [], ["x"] * 7, [0, "bare", None, "1e+14", "", "", 3], [2**70, "bare", None, "1", "", "", 3],
    [0, "prefixed", "9" * 26, str(2**64), "ws-1", "f", 9], [1.5, "bare", None, "4", "", "", 1],
    [3, "bare", None, "4", "\ud800\x00", "\x00\ud800", 3, None, "", "\x00"],
    [2, "hole", None, None, "", "", 2**61, None, "", "\ud800 why"],
)  # fmt: skip


@dataclass
class Counter:
    """The counter of one bus and its epoch."""

    epoch: int = 1
    last: int = 0


@dataclass
class BusFacts:
    """What is told of the buses of one project; each call of `next` gives some receipts."""

    chance: random.Random
    counters: dict[tuple[str, str], Counter] = field(default_factory=dict)
    builders: dict[int, Builder] = field(default_factory=dict)
    kept_back: list[bytes] = field(default_factory=list)

    def first(self, now: datetime) -> list[bytes | Body]:
        """Give something for every table."""
        found: list[bytes | Body] = [self.configure(now, keep=40), self.alias(), self.maintain(now)]
        for number in range(len(LANES)):
            found += self.segment(now, number)
        found += [self.heads(now), self.keys(now), self.replica(now), self.buffer(now)]
        return [*found, *(self.resume(now, cursor) for cursor in ("1", "3", "99999", "x", None))]

    def next(self, now: datetime) -> list[bytes | Body]:
        """Give what happens next."""
        made: Callable[[datetime], bytes | Body] = self.chance.choice(
            (self.configure, self.maintain, self.heads, self.keys, self.replica, self.buffer,
             self.resume, self.resume)
        )  # fmt: skip
        lanes = self.chance.choices(range(len(LANES)), k=3)
        found = [part for number in lanes for part in self.segment(now, number)]
        return [*found, made(now)]

    def segment(self, now: datetime, number: int) -> list[bytes | Body]:
        """Give a segment of a lane; some are kept back, and come later or twice."""
        installation, bus, replica, profile = LANES[number]
        if number not in self.builders or self.chance.random() < 0.05:
            incarnation = str(uuid.UUID(int=self.chance.getrandbits(128), version=4))
            self.builders[number] = Builder(Lane(installation, bus, replica, profile, incarnation))
        builder = self.builders[number]
        for row in self.messages(micros(now), installation, bus):
            builder.add(row)
        made = builder.close()
        if made is None:
            return []
        raw = self.spoilt(made.raw) if self.chance.random() < 0.1 else made.raw
        late, self.kept_back = self.kept_back, []
        if self.chance.random() < 0.1:
            self.kept_back = [raw]
            return list(late)
        return [raw, *late, *([raw] if self.chance.random() < 0.1 else [])]

    def spoilt(self, raw: bytes) -> bytes:
        """Give a segment with rows that cannot be read."""
        body = json.loads(raw)
        for odd in self.chance.sample(ODD_ROWS, 3):
            body["data"]["messages"].insert(self.chance.randrange(3), odd)
        return json.dumps(body).encode()

    def messages(self, at: int, installation: str, bus: str) -> list[Row]:
        """Give the messages of a second or so, with the faults of a bus."""
        counter = self.counters.setdefault((installation, bus), Counter())
        found: list[Row] = []
        for place in range(self.chance.choice((1, 3, 12, 30))):
            moment = at + place * self.chance.choice((0, 1_000, 20_000))
            found.append(self.message(moment, counter))
        if self.chance.random() < 0.2:
            found.append(rows.hole(at, at + 3 * SECOND, "reconnect"))
        return found

    def message(self, at: int, counter: Counter) -> Row:
        """Give a message: mostly the next one, else one of the faults."""
        what = self.chance.choices(
            ("next", "skip", "again", "back", "reset", "epoch", "bare", "frame", "junk", "huge"),
            (60, 5, 4, 3, 1, 1, 6, 3, 2, 1),
        )[0]
        if what == "frame":
            return Row(at, FRAME, None, None, "", "", 4, "hb|1")
        if what == "junk":
            return Row(at, JUNK, None, None, self.scope(), "j" * 16, 9, note="json")
        if what == "huge":
            return self.numbered(at, PREFIXED, "9" * 26, 2**63 + 5)
        if what == "reset":
            counter.last = 0
        if what == "epoch":
            counter.epoch, counter.last = counter.epoch + 1, 0
        step = {"skip": 3, "again": 0, "back": -2}.get(what, 1)
        number = max(1, counter.last + step)
        counter.last = max(counter.last, number)
        form, epoch = (BARE, None) if what == "bare" else (PREFIXED, str(counter.epoch))
        return self.numbered(at, form, epoch, number)

    def numbered(self, at: int, form: str, epoch: str | None, number: int) -> Row:
        print_of = hashlib.sha256(f"{epoch}{number}{self.chance.randrange(9) == 0}".encode())
        return Row(at, form, epoch, number, self.scope(), print_of.hexdigest()[:16], 312, "{}")

    def scope(self) -> str:
        return self.chance.choices(SCOPES, (50, 30, 10, 2, 2))[0]

    def observe(self, what: str, now: datetime, bus: str = "activity", **members: Any) -> Body:
        source = {"system": "redis", "instance": "i1", "via": "client"}
        about = {"installation": "i1", "bus": bus, "sampled_at": rfc3339(now)}
        return {"kind": "observe", "what": what, "source": source, **about, **members}

    def heads(self, now: datetime) -> Body:
        last = self.counters[("i1", "activity")].last + self.chance.choice((-5, 0, 0, 4))
        head = {"channel": "", "node": "n1", "epoch": "1", "head": str(last)}
        return self.observe("heads", now, heads=[head, {"channel": "", "head": None}])

    def resume(self, now: datetime, cursor: object = 0) -> Body:
        """Give an answer really given; without a cursor of the caller's, by chance."""
        if cursor == 0:
            last = self.counters[("i1", "activity")].last
            cursor = str(max(0, last - self.chance.choice((-3, 0, 1, 5, 20, 60))))
        answer = self.chance.choice(("replayed", "caught_up", "sync_required", "fresh", "eh"))
        members: Body = {"replica": self.chance.choice(("r1", "r9")), "channel": "ws-1"}
        if self.chance.random() < 0.3:
            members["epoch"] = self.chance.choice(("1", "2"))
        if self.chance.random() < 0.3:
            members = {**members, "served": 2, "first": "4", "last": "5"}
        return self.observe("resume", now, cursor=cursor, answer=answer, **members)

    def buffer(self, now: datetime) -> Body:
        numbers = [str(one) for one in range(3, 3 + self.chance.randrange(20))]
        held = {"floor": "3", "high_water": numbers[-1] if numbers else None, "capacity": 1024}
        return self.observe("buffer", now, replica="r1", channel="ws-1", ids=numbers, **held)

    def keys(self, now: datetime) -> Body:
        found = [
            {"name": "pad:event_seq", "role": "seq", "type": "string", "value_class": "integer",
             "ttl_s": self.chance.choice((-1, -1, 60)), "value": "7"},
            {"name": "pad:event_epoch", "role": "epoch", "type": "list",
             "value_class": "wrong_type", "ttl_s": -1},
            {"name": "pad:event_epoch_gen", "role": "gen", "type": "none",
             "value_class": "absent", "ttl_s": None},
        ]  # fmt: skip
        policy = self.chance.choice(("noeviction", "allkeys-lru"))
        channels = [{"channel": "pad:events:ws-1", "subscribers": 2}, {"channel": "x"}]
        taken = self.chance.sample(found, 2)
        return self.observe("keys", now, keys=taken, policy=policy, channels=channels)

    def replica(self, now: datetime) -> Body:
        metrics = {"pad_event_resume_gaps_total": self.chance.randrange(3), "odd": "x"}
        reset = {"reason": "counter_backwards", "at": rfc3339(now), "fields": {"id": "7"}}
        told = {"phase": self.chance.choice((1, 2)), "namespace": "", "metrics": metrics}
        return self.observe("replica", now, replica="r1", resets=[reset], **told)

    def act(self, verb: str, target: str, **members: Any) -> Body:
        actor = {"type": "person", "id": "u-1", "label": "Somebody"}
        return {"kind": "act", "act": {"verb": verb, "target": target}, "actor": actor, **members}

    def configure(self, now: datetime, keep: int = 0) -> Body:
        density = self.chance.choice(("dense", "sparse"))
        settings = {"density": density, "keep": {"messages": keep or self.chance.choice((9, 60))},
                    "buffer": {"events": 8}}  # fmt: skip
        return self.act("configure", "bus:i1/activity", settings=settings)

    def maintain(self, now: datetime) -> Body:
        span = {"from": rfc3339(now), "to": rfc3339(now + timedelta(hours=1))}
        return self.act("maintain", "bus:i1/activity", **span)

    def alias(self) -> Body:
        return self.act("alias", "installation:i1", alias="i3")


def segment_of(lane: Lane, found: list[Row], n: int = 0) -> bytes:
    """Give the receipt of one segment with all of some rows."""
    builder = Builder(lane, n)
    for row in found:
        assert builder.add(row) is None
    made = builder.close()
    assert isinstance(made, segments.Segment)
    return made.raw
