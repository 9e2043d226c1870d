"""Histories of a bus for tests: short ways to write records and documents, and to judge them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from events.domain.evaluate_stream import evaluate
from events.domain.finding_rules import RULES
from events.domain.findings import Finding
from events.domain.records import BARE, FRAME, HOLE, JUNK, PREFIXED, SECOND, Record
from events.domain.spaces import Space
from events.domain.stream import Stream
from events.domain.stream_settings import StreamSettings

E1, E2 = "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e01", "0190c0de-5e1f-4a5b-9c2d-0a0b0c0d0e02"
START = 1_790_000_000
"""Seconds since 1970, in September 2026: the time from which ids of an old base are minted."""
LATER = 10**10
Body = dict[str, Any]


def message(at: float, epoch: str | None, number: int, body: object = None, **named: Any) -> Body:
    """Write a record of a document; each has a body of its own unless one is given."""
    return {
        "observed_at": at,
        "installation": "i1",
        "bus": "b",
        "replica": "r1",
        "scope": "ws-1",
        "form": BARE if epoch is None else PREFIXED,
        "epoch": epoch,
        "id": str(number),
        "body": {"of": [epoch, number]} if body is None else body,
        **named,
    }


def told(*messages: tuple[Any, ...], start: float = 0, **named: Any) -> list[Body]:
    """Write messages that come a second after one another."""
    return [message(start + place, *one, **named) for place, one in enumerate(messages)]


def frame(at: float, replica: str = "r1") -> Body:
    """Write a liveness frame."""
    return {"observed_at": at, "installation": "i1", "bus": "b", "replica": replica, "form": FRAME}


def junk(at: float, replica: str = "r1") -> Body:
    """Write a message in neither form."""
    return frame(at, replica) | {"form": JUNK, "body": "?"}


def hole(at: float, until: float, replica: str = "r1") -> Body:
    """Write a time in which nobody watched."""
    return frame(at, replica) | {"form": HOLE, "until": until}


def head(at: float, node: str, number: int, epoch: str | None = None) -> Body:
    """Write a sample of the authority's counter."""
    return {"sampled_at": at, "bus": "b", "node": node, "epoch": epoch, "head": str(number)}


def judge(records: list[Body], until: float = LATER, **named: Any) -> dict[str, Any]:
    """Judge a history on a dense bus with tokens, unless `named` says otherwise."""
    bus = {"density": named.pop("density", "dense"), "profile": named.pop("profile", "opaque")}
    document = {"buses": {"b": bus}, "records": records, "until": until, **named}
    answer = evaluate(json.loads(json.dumps(document)))
    assert {one["rule"] for one in answer["findings"]} <= RULES.keys()
    return answer


def findings(records: list[Body], until: float = LATER, **named: Any) -> list[Body]:
    """Give the findings of a history."""
    return list(judge(records, until, **named)["findings"])


def codes_of(records: list[Body], until: float = LATER, **named: Any) -> list[tuple[str, Any]]:
    """Give code and id of the findings of a history."""
    return [(one["code"], one["id"]) for one in findings(records, until, **named)]


def spaces_of(records: list[Body], **named: Any) -> list[tuple[Any, ...]]:
    """Give epoch, first, last and count of the spaces of a history."""
    found = judge(records, **named)["spaces"]
    return [(one["epoch"], one["first"], one["last"], one["count"]) for one in found]


def record(at: float, epoch: str | None, number: int, body: str = "", **named: Any) -> Record:
    """Make a record as decoders give it."""
    members: dict[str, Any] = {
        "at": round(at * SECOND),
        "installation": "i1",
        "bus": "b",
        "replica": "r1",
        "scope": "ws-1",
        "form": BARE if epoch is None else PREFIXED,
        "epoch": epoch,
        "id": number,
        "fingerprint": body or f"{epoch}/{number}",
    }
    return Record(**{**members, **named})


class Kept:
    """What a reader of a fold holds: its findings and spaces as they stand."""

    def __init__(self) -> None:
        self.findings: dict[str, Finding] = {}
        self.spaces: dict[tuple[str, int], Space] = {}

    def drain(self, stream: Stream) -> None:
        """Take over what changed."""
        changes = stream.drain()
        for key in changes.dropped:
            self.findings.pop(key, None)
        self.findings |= {one.key: one for one in changes.findings}
        self.spaces |= {(one.replica, one.ordinal): one for one in changes.spaces}


def fold(
    settings: StreamSettings, history: Iterable[Any], cuts: frozenset[int] = frozenset()
) -> tuple[Kept, list[int]]:
    """Fold records and heads, cut before those places; give what is kept, and the ordinals."""
    stream, kept, ordinals = Stream(settings), Kept(), []
    for place, one in enumerate(history):
        if place in cuts:
            kept.drain(stream)
            stream = Stream(settings, json.loads(json.dumps(stream.state())))
        if isinstance(one, Record):
            ordinals.append(stream.take(one))
        else:
            stream.take_head(*one)
    kept.drain(stream)
    return kept, ordinals
