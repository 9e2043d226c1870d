"""Samples of what a bus's Redis holds beside its messages: keys, eviction, subscribers, the head.

Each question is one that only reads. A sample becomes a receipt when it differs from the one
before, and every five minutes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from events.domain import key_values
from events.domain.key_values import EPOCH, SEQ
from events.domain.times import micros
from events.integrations import grants
from events.integrations.redis_address import Address
from events.integrations.redis_link import Link, NotPermitted
from events.integrations.tail_writer import SCHEMA, SYSTEM
from kit import clock
from ledger.domain.leaf import rfc3339

EVERY_S = 15.0
ANYWAY_S = 300.0
MOST_CHANNELS = 200
_LONGEST_VALUE = 64
SECOND = 1_000_000

Receipt = dict[str, Any]


@dataclass(slots=True)
class KeySampler:
    """Samples one bus; `keys` are names by role, `channels` those that messages were seen on."""

    address: Address
    installation: str
    bus: str
    keys: Mapping[str, str]
    channels: set[str] = field(default_factory=set)
    _link: Link | None = None
    _told: dict[str, tuple[int, Any]] = field(default_factory=dict)

    def sample(self) -> list[Receipt]:
        """Ask, and give the receipts of what changed.

        Raises Unreachable, Refused, or NotPermitted with the line that would permit it.
        """
        link = self._link = self._link or Link(self.address)
        try:
            keys = [_key(link, role, name) for role, name in self.keys.items()]
            server = _server(link)
            channels = _subscribers(link, sorted(self.channels)[:MOST_CHANNELS])
        except NotPermitted as error:
            raise error
        except BaseException:
            self.close()
            raise
        found = self._keys(keys, server, channels, clock.now())
        return found + self._head(keys, clock.now())

    def close(self) -> None:
        """Close the connection; the next sample opens another."""
        if self._link is not None:
            self._link.close()
            self._link = None

    def _keys(
        self, keys: Sequence[Receipt], server: Receipt, channels: Sequence[Receipt], at: datetime
    ) -> list[Receipt]:
        said = {"keys": keys, "channels": channels, **server}
        # A counter goes on with every message, and people come and go: that alone is no news.
        news = [{**one, "value": None} if one["role"] == SEQ else one for one in keys]
        heard = [(one["channel"], one["subscribers"] > 0) for one in channels]
        if not self._is_due("keys", (news, heard, server), at):
            return []
        return [self._receipt("keys", at, said)]

    def _head(self, keys: Sequence[Receipt], at: datetime) -> list[Receipt]:
        by_role = {one["role"]: one for one in keys}
        head = _head_of(by_role.get(SEQ))
        if head is None:
            return []
        epoch = by_role.get(EPOCH, {}).get("value")
        if not self._is_due("heads", (head, epoch), at):
            return []
        told = {"channel": "", "node": self.address.shown, "head": head}
        heads = [told if epoch is None else {**told, "epoch": epoch}]
        return [self._receipt("heads", at, {"heads": heads})]

    def _is_due(self, what: str, news: Any, at: datetime) -> bool:
        now = micros(at)
        before = self._told.get(what)
        if before is not None and before[1] == news and now - before[0] < ANYWAY_S * SECOND:
            return False
        self._told[what] = now, news
        return True

    def _receipt(self, what: str, at: datetime, said: Mapping[str, Any]) -> Receipt:
        return {
            "schema": SCHEMA,
            "kind": "observe",
            "what": what,
            "occurred_at": rfc3339(at),
            "source": {"system": SYSTEM, "instance": self.installation, "via": "client"},
            "installation": self.installation,
            "bus": self.bus,
            "sampled_at": rfc3339(at),
            **said,
        }


def _head_of(key: Mapping[str, Any] | None) -> str | None:
    """Give the newest id that the counter has given out; a counter that is absent stands at 0."""
    if key is None:
        return None
    if key["value_class"] == key_values.ABSENT:
        return "0"
    return key.get("value")


def _key(link: Link, role: str, name: str) -> Receipt:
    kind = _text(_ask(link, "TYPE", name))
    said = {"name": name, "role": role, "type": kind}
    if kind == "none":
        return {**said, "value_class": key_values.ABSENT, "ttl_s": None}
    ttl = _ask(link, "TTL", name)
    value = _text(_ask(link, "GET", name) or b"") if kind == "string" else None
    value_class = key_values.class_of(kind, value)
    is_shown = value_class in key_values.SHOWN and len(value or "") <= _LONGEST_VALUE
    shown = {"value": value} if is_shown else {}
    return {**said, "value_class": value_class, "ttl_s": ttl, **shown}


def _server(link: Link) -> Receipt:
    """Give the policy of eviction and which server answered."""
    told = dict(_pairs(_text(_ask(link, "INFO"))))
    server = {
        name: told[name]
        for name in ("redis_version", "run_id", "role", "redis_mode")
        if name in told
    }
    return {"policy": told.get("maxmemory_policy"), "server": server}


def _pairs(text: str) -> Iterable[tuple[str, str]]:
    for line in text.splitlines():
        name, colon, value = line.partition(":")
        if colon:
            yield name, value[:200]


def _subscribers(link: Link, channels: Sequence[str]) -> list[Receipt]:
    if not channels:
        return []
    counts = _ask(link, "PUBSUB", "NUMSUB", *channels)
    return [
        {"channel": _text(name), "subscribers": count}
        for name, count in zip(counts[::2], counts[1::2], strict=True)
    ]


def _ask(link: Link, *words: str) -> Any:
    try:
        return link.ask(*words)
    except NotPermitted as error:
        raise grants.advised(error, link.address, words) from error


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
