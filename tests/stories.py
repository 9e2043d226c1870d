"""Histories for the ledger: seeded, with everything in them that a pointer or a count can meet.

A story has a clock of its own that only moves forward, while the producers in it have clocks a
day off, hand in late, twice, out of order, and under odd and long names.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine

from access.models import ApiToken
from access.rows import ProjectRow
from config import follower
from ledger import acknowledge, acts, arrivals, derive, ingest, redrive, sequence
from ledger.domain.draft import Envelope
from ledger.domain.leaf import rfc3339
from ledger.models import Leaf, Receipt
from ledger.queries import attention
from tests import bus_facts, celery_facts, factories

BEGINS = datetime(2026, 10, 5, 9, tzinfo=UTC)
Body = dict[str, Any]

ODD_NAMES = (
    "a\x00b", "\ud800 alone", "x" * 300, 'quote " and \\', "with space, and comma", "é" * 200,
    "\n\t", "日本", "-minus:colon", "a/b/c", "'; DROP TABLE entry; --", "%s %(a)s {values}",
)  # fmt: skip
IDS = (
    "8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16",
    "8ee956d2-4597-4fcf-8c6b-5f5f5c5bac16",
    "ABCDEF01-2345-4678-9ABC-DEF012345678",
    "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    *(f"id-{number}" for number in range(12)),
)
SPOOLS = (
    *(f"w{n}:payouts-d-000000000{n}:4711:17596548{n}0" for n in range(3)),
    "oban/prod-1",
    "~ odd|%s",
)
REASONS = (
    None, "already_done", "in_flight", "holder_lost", "superseded", "lock_contended",
    "rate_limited", "paused", "upstream_failed", "redelivery", "branch_not_taken", "because I say",
)  # fmt: skip


@dataclass
class Story:
    """One project's history in the making."""

    project: ProjectRow
    seed: int
    now: datetime = BEGINS
    tokens: list[int] = field(default_factory=list)
    feed: int = 0
    written: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.chance = random.Random(self.seed)
        self.buses = bus_facts.BusFacts(random.Random(f"buses {self.seed}"))
        for number in range(3):
            name = f"token {number}"
            source = f"oban/prod-{number}" if number < 2 else ""
            listing, _ = factories.make_token(self.project, name=name, source=source)
            self.tokens.append(ApiToken.objects.get(prefix=listing.prefix).pk)

    def tell(self, receipts: int) -> Story:
        """Let things happen, and some of the time follow them into the log."""
        self.post(*(make(self.chance, self.now) for make in celery_facts.FIRST))
        self.watch(self.buses.first(self.now))
        for number in range(receipts):
            self.wait(self.chance.choice((1, 5, 60, 400, 4_000, 40_000)))
            self.chance.choice(EVENTS)(self)
            if number % 8 == 0:
                self.watch(self.buses.next(self.now))
            if self.chance.random() < 0.5:
                self.sequence(self.chance.choice((1, 2, 3, 500)))
        self.wait(1)
        self.catch_up()
        return self

    def wait(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds, microseconds=self.chance.randrange(1_000_000))

    def travel(self) -> time_machine.travel:
        return time_machine.travel(self.now, tick=False)

    def sequence(self, limit: int) -> None:
        with self.travel():
            acts.drain(self.project.id)
            arrivals.drain(self.project.id)
            sequence.sequence(self.project.id, limit)

    def catch_up(self) -> None:
        with self.travel():
            follower.catch_up()

    def post(self, *bodies: Body | bytes, **envelope: Any) -> list[Receipt]:
        """Hand bodies in; some arrive with an earlier time than what came before them."""
        late = self.chance.choice((0, 0, 0, 3))
        given = Envelope(
            project_id=self.project.id,
            received_at=self.now - timedelta(seconds=late),
            **{"token_id": self.chance.choice(self.tokens), **envelope},
        )
        raws = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in bodies]
        outcomes = ingest.ingest(raws, given)
        return [Receipt.objects.get(pk=one.receipt) for one in outcomes]

    def watch(self, bodies: Sequence[Body | bytes]) -> None:
        """Hand in what our own tails tell, whatever chance has in mind for the producers."""
        raws = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in bodies]
        ingest.ingest(raws, Envelope(project_id=self.project.id, received_at=self.now))

    def body(self, kind: str, **members: Any) -> Body:
        """Give a body with some of everything."""
        body: Body = {"kind": kind, "occurred_at": self.time()}
        for share, name, make in MEMBERS:
            if self.chance.random() < share:
                body[name] = make(self)
        return {**body, **members}

    def source(self) -> Body:
        via = self.chance.choice(("client", "row", "log", "import"))
        return {"system": self.name("oban"), "instance": self.name("prod-"), "via": via}

    def invoke(self) -> Body:
        generation = self.chance.choice(("1", "2", "10", "x"))
        return {"scope": self.name("e"), "id": "call", "generation": generation}

    def time(self) -> str:
        """Give a producer's time: mostly near ours, sometimes a day off, or at an end of time."""
        if self.chance.random() < 0.03:
            return self.chance.choice(
                ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.5Z")
            )
        off = self.chance.choice((0, 0, 0, -2, -30, -300, 300, -86_400, 86_400))
        at = self.now + timedelta(seconds=off)
        return at.replace(microsecond=0).isoformat() if off == -30 else rfc3339(at)

    def id(self) -> str:
        return self.name("", IDS)

    def number(self) -> str:
        return self.name("", ("101", "102", "103"))

    def task(self) -> str:
        return self.name("", ("mail.send", "payout", "report"))

    def name(self, stem: str, names: tuple[str, ...] = ("1", "2")) -> str:
        if self.chance.random() < 0.06:
            return self.chance.choice(ODD_NAMES)
        return stem + self.chance.choice(names)

    def key(self, **more: Any) -> Body:
        fields = {"call": self.chance.choice((1, 1, 1, 2)), "who": self.chance.choice(("a", "b"))}
        return {"recipe": "calls", "version": "1", "fields": fields, **more}


MEMBERS: tuple[tuple[float, str, Callable[[Story], object]], ...] = (
    (0.7, "id", Story.id),
    (0.5, "job", lambda story: {
        "id": story.number(), "task": story.task(), "queue": story.name("q"),
    }),
    (0.3, "subjects", lambda story: [{"type": "payout", "id": story.name("PO-")}]),
    (0.3, "source", Story.source),
    (0.2, "trace", lambda story: {"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736"}),
    (0.2, "actor", lambda story: {"type": "person", "id": story.name("u-"), "label": "Somebody"}),
    (0.3, "invoke", Story.invoke),
    (0.3, "data", lambda story: {"event": story.chance.choice(("stop", "start")), "n": 1.5}),
)  # fmt: skip


def work(story: Story) -> None:
    kind = story.chance.choice(("enqueue", "start", "done", "done", "fail", "cancel", "discard"))
    members = {"key": story.key()} if story.chance.random() < 0.4 else {}
    story.post(story.body(kind, **members))


def skip(story: Story) -> None:
    """A skip that names its original by id, by job, by both, wrongly, or not at all."""
    original = story.chance.choice(
        (
            {"receipt": story.id()},
            {"receipt": story.id()},
            {"job": story.number()},
            {"job": story.number(), "receipt": story.id()},
            {"job": story.number(), "source": {"system": "oban", "instance": "prod-1"}},
            None,
        )
    )
    story.post(story.body("skip", original=original, reason=story.chance.choice(REASONS)))


def chain(story: Story) -> None:
    """Skips that point to each other: a chain, or a cycle when they close."""
    ids = story.chance.sample(IDS, 3)
    following = [*ids[1:], story.chance.choice(IDS)]
    for own, next_one in zip(ids, following, strict=True):
        original = {"receipt": next_one}
        story.post(story.body("skip", id=own, original=original, reason="redelivery"))


def by_key(story: Story) -> None:
    reason = story.chance.choice((None, "already_done", "in_flight", "lock_contended"))
    window = {"window_s": 3_600} if story.chance.random() < 0.5 else {}
    story.post(story.body("skip", key=story.key(**window), reason=reason))


def contended(story: Story) -> None:
    """A skip that lost a lock, and the claim, which comes up to ten minutes after it or later."""
    key = story.key()
    story.post(story.body("skip", key=key, reason="lock_contended", occurred_at=rfc3339(story.now)))
    story.wait(story.chance.choice((1, 300, 598, 601)))
    story.post(story.body("start", key=key, occurred_at=rfc3339(story.now)))


def through_a_key(story: Story) -> None:
    """A skip that points to a later skip, which in turn is found by its key."""
    own = f"link-{story.chance.randrange(5)}"
    story.post(story.body("skip", original={"receipt": own}, reason="redelivery"))
    story.wait(story.chance.choice((10, 2_000)))
    story.post(story.body("skip", id=own, key=story.key(), occurred_at=rfc3339(story.now)))


def ruled(story: Story) -> None:
    members: Body = {"rule": {"name": story.name("limit"), "version": "7"}}
    if story.chance.random() < 0.5:
        members = {"switch": {"name": story.name("paused"), "set_at": story.time()}}
    if story.chance.random() < 0.3:
        members["original"] = {"receipt": "never-comes"}
    story.post(story.body("skip", reason=story.chance.choice(REASONS), **members))


def conflict(story: Story) -> None:
    own = story.id()
    story.post(story.body("done", id=own), story.body("done", id=own, data={"n": 2}))


def again(story: Story) -> None:
    """The same receipt handed in several times, once with other bytes."""
    body = story.body("done", id=f"again-{story.chance.randrange(4)}", occurred_at=None)
    raw = json.dumps(body).encode()
    story.post(raw, raw, json.dumps(body, indent=1).encode())


def unreadable(story: Story) -> None:
    """Bytes that are set aside, some of which claim an id that others point at."""
    raw = story.chance.choice(
        (
            b'{"kind": "done", ',
            b"",
            b"\xff\xfe",
            json.dumps({"id": story.id(), "kind": 5}).encode(),
            json.dumps({"id": story.id(), "kind": "done", "occurred_at": "soon"}).encode(),
            json.dumps({"id": "", "kind": "skip", "original": {"receipt": story.id()}}).encode(),
        )
    )
    (receipt,) = story.post(raw)
    if story.chance.random() < 0.6:
        settle(story, receipt)


def settle(story: Story, receipt: Receipt) -> None:
    """Close what was set aside, send it through again, or both, in either order."""
    if receipt.state != "quarantined":
        return
    ways = story.chance.sample(("close", "redrive", "derived"), 2)
    for way in ways:
        story.wait(1)
        with story.travel():
            if way == "close":
                redrive.close(story.project.id, receipt, factories.TESTER, "not ours")
                acts.drain(story.project.id)
            elif way == "redrive":
                redrive.redrive(story.project.id, receipt, factories.TESTER, "try it")
            else:
                story.post(story.body("done"), derived_from=receipt.pk)


def watch(story: Story) -> None:
    """Receipts that are no work: heartbeats, observations, tallies, decisions, acts."""
    story.post(
        story.chance.choice(
            (
                {"kind": "heartbeat", "loop": story.name("poller"), "n": 1, "beat": "ok"},
                {"kind": "observe", "what": "heads", "heads": []},
                story.body(
                    "observe",
                    job={"id": story.number(), "state": "completed"},
                    source={"system": "oban", "instance": "prod-0", "via": "row"},
                ),
                {"kind": "tally", "id": story.id(), "counts": []},
                {"kind": "decide", "id": story.id(), "decision": "st/ADR-0051", "move": "accept"},
                {"kind": "act", "act": {"verb": "close", "target": "receipt:r0"}},
                {"kind": "teleport", "id": story.id()},
            )
        )
    )


def numbered(story: Story) -> None:
    """Receipts of a feed, whose ids are their numbers."""
    story.feed += 1
    body = story.body("done")
    body.pop("id", None)
    story.post(body, feed_spool="spool-1", feed_number=story.feed)


def fed(story: Story) -> None:
    """Spools of one program: numbers in runs, some late, some never, some twice, and their lines.

    Some close in order, some fall silent, some speak after their end.
    """
    name = story.chance.choice(SPOOLS)
    token = story.tokens[story.chance.random() < 0.05]
    written = story.written.get(name, 0)
    for first in range(written + 1, written + story.chance.choice((1, 1, 3, 7))):
        if story.chance.random() < 0.85:
            number = max(1, first - story.chance.choice((0, 0, 0, 0, 2, 5)))
            given = {"feed_spool": name, "feed_number": number, "token_id": token}
            body = story.body("done")
            if number % 2:
                body["occurred_at"] = rfc3339(story.now - timedelta(days=2))
            story.post(body, **given)
        story.written[name] = first
    if story.chance.random() < 0.25:
        ended(story, name, token)
    elif story.chance.random() < 0.7:
        story.post(spool_line(story, name), token_id=token)


def ended(story: Story, name: str, token: int) -> None:
    """Hand in once more whatever a spool wrote, and close it."""
    written = story.written[name] = max(1, story.written.get(name, 0))
    for number in range(1, written + 1):
        given = {"feed_spool": name, "feed_number": number, "token_id": token}
        story.post({"kind": "done", "id": f"{name}-{number}"}, **given)
    line = {"kind": "observe", "what": "feed", "spool": name, "written": written, "unsent": 0}
    story.post({**line, "closed": True, "dropped": 0}, token_id=token)


def spool_line(story: Story, name: str) -> Body:
    """Give what a spool says of itself: mostly the truth, sometimes too little or too much."""
    written = story.written.get(name, 0)
    line: Body = {"kind": "observe", "what": "feed", "spool": name, "occurred_at": story.time(),
                  "written": max(0, written + story.chance.choice((0, 0, 0, -2, 3)))}  # fmt: skip
    if story.chance.random() < 0.8:
        line["unsent"] = story.chance.choice((0, 0, 0, 2, "many"))
        line["oldest_unsent_s"] = story.chance.choice((None, 0.5, 300, 1e300, -1))
    if story.chance.random() < 0.05:
        line["dropped"] = story.chance.choice((1, 2, 10**15))
        line["outcomes"] = {"waiting": 3, "oldest_s": 7.5, "lost": story.chance.choice((0, 4))}
    if story.chance.random() < 0.4:
        line |= {"closed": True, "end": story.chance.choice(("in_order", "writer_gone", 7))}
    return line


def number_named(story: Story) -> None:
    number = story.chance.randrange(1, story.feed + 3)
    story.post(story.body("skip", original={"receipt": f"feed:spool-1:{number}"}))


def seen(story: Story) -> None:
    """A person acknowledges something that needs them."""
    story.catch_up()
    with story.travel():
        found = attention.attention_document(story.project.id, story.now)["items"]
        if found:
            item = story.chance.choice(found)
            until = story.chance.choice(("", rfc3339(story.now + timedelta(days=1))))
            acknowledge.acknowledge(story.project.id, item["id"], factories.TESTER, "known", until)


def call(story: Story) -> None:
    """What Oban and its telemetry tell of one call: three macrosteps and jobs, one packed scope."""
    kind = story.chance.choice(
        ("enqueue", "enqueue", "row", "row", "deliver", "cancel", "deferred", "prune", "skip")
    )
    number, step = story.number(), story.chance.choice(("1", "2", "3"))
    scope = story.chance.choice(("run", "run", f"run#{step}"))
    body: Body = {
        "kind": {"row": "observe", "deferred": "observe"}.get(kind, kind),
        "occurred_at": story.time(),
        "source": {"system": "oban", "instance": "prod-1", "via": "telemetry"},
        "job": {"id": number, "task": "Invoke"},
        "invoke": {"scope": scope, "id": "pay", "generation": step},
    }
    story.post({**body, **CALLED[kind](story)})


def row(story: Story) -> Body:
    """A job's row in some state, whose times may contradict the receipts."""
    state = story.chance.choice(("available", "executing", "completed", "cancelled", "discarded"))
    step = story.chance.choice(("1", "2"))
    return {
        "what": "row",
        "source": {"system": "oban", "instance": "prod-1", "via": "row"},
        "job": {
            "id": story.number(), "state": state, "attempt": 1, "inserted_at": story.time(),
            "attempted_at": story.time(), "completed_at": story.time(),
            "last_error": story.chance.choice(("", "cancel", "cancel_discarded")),
        },
        "invoke": {"scope": "run", "id": "pay", "generation": step, "element": [1, 0]},
    }  # fmt: skip


CALLED: dict[str, Callable[[Story], Body]] = {
    "enqueue": lambda story: {},
    "row": row,
    "deliver": lambda story: {},
    "cancel": lambda story: {
        "job": {}, "jobs": {"count": story.chance.choice((0, 0, 1)), "ids": []},
    },
    "deferred": lambda story: {"data": {"event": "invoke.deferred"}},
    "prune": lambda story: {"job": {}, "invoke": {}, "jobs": {"ids": [story.number()]}},
    "skip": lambda story: {
        "job": {"task": "Invoke"}, "original": {"job": story.number()}, "reason": "already_done",
    },
}  # fmt: skip


def counted(story: Story) -> None:
    """A receipt of a run that numbers its receipts; some numbers never come, some come twice."""
    number = story.chance.randrange(1, 9)
    invoke = {"scope": "run", "id": "pay", "generation": "1", "seq": number}
    story.post(story.body(story.chance.choice(("start", "done")), invoke=invoke))


def passed_by(story: Story) -> None:
    """A job that was stored, and a reader that takes a later row; its own may come after all."""
    oban = {"system": "oban", "instance": "prod-0"}
    number = story.chance.randrange(200, 300)
    at = rfc3339(story.now)

    def seen(job: int) -> Body:
        source = {**oban, "via": "row"}
        state = story.chance.choice(("available", "discarded"))
        named = {"id": str(job), "state": state, "attempt": 1}
        return {"kind": "observe", "what": "row", "source": source, "job": named}

    story.post(seen(100))
    told = {"kind": "enqueue", "occurred_at": at, "source": {**oban, "via": "telemetry"}}
    story.post({**told, "job": {"id": str(number)}})
    story.wait(story.chance.choice((1, 90)))
    story.post(seen(number + 1))
    if story.chance.random() < 0.5:
        story.wait(5)
        story.post(seen(number), {"kind": "done", "source": oban, "job": {"id": str(number)}})


def of_celery(story: Story) -> None:
    """What a Celery shop tells of a few jobs: singly, tallied, by its locks and its policy."""
    story.post(*(celery_facts.fact(story.chance, story.now) for _ in range(3)))


EVENTS: tuple[Callable[[Story], None], ...] = (
    work, work, work, work, skip, skip, skip, skip, chain, by_key, by_key, contended,
    through_a_key, ruled, ruled, conflict, again, unreadable, unreadable, watch, watch, numbered,
    number_named, seen, call, call, call, call, counted, counted, passed_by, fed, fed, fed,
    of_celery, of_celery, of_celery, of_celery,
)  # fmt: skip


def tell(seed: int, receipts: int, slug: str = "") -> Story:
    """Make a project and tell its story; everything is derived at the end."""
    with time_machine.travel(BEGINS - timedelta(days=1), tick=False):
        story = Story(factories.make_project(slug), seed)
    return story.tell(receipts)


def leaves_of(story: Story) -> list[int]:
    rows = Leaf.objects.filter(project_id=story.project.id).order_by("leaf_index")
    return list(rows.values_list("leaf_index", flat=True))


def derive_in(project_id: int, batch: int) -> None:
    """Derive a project from where it is, in batches of one size."""
    while derive.derive(project_id, batch):
        pass
