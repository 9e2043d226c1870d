"""The client: makes receipts and puts them in the spool.

Nothing here waits for the server or raises because of it. What is raised: SpoolFull (and its kin)
for a durable receipt when `when_full` is "raise", and plain mistakes in the arguments.
"""

from __future__ import annotations

import atexit
import time
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from counterfoil import digests, encode, receipts
from counterfoil.forwarder import Forwarder, Outcome
from counterfoil.receipts import UNSET, KeyForm
from counterfoil.sender import Sender
from counterfoil.settings import Settings
from counterfoil.spool import Spool
from counterfoil.transport import Transport


class Client:
    """Writes receipts for one ledger: one address, one token, one spool directory."""

    def __init__(self, settings: Settings, *, timeout_s: float = 10.0) -> None:
        self.settings = settings
        self._spool = Spool(
            settings.spool,
            settings.name,
            max_bytes=settings.max_bytes,
            when_full=settings.when_full,
        )
        self._sender = self._make_sender(timeout_s)
        _open.add(self)

    def _make_sender(self, timeout_s: float) -> Sender | None:
        if not self.settings.url or self.settings.off:
            return None
        return Sender(Forwarder(self.settings.spool, Transport(self.settings, timeout_s)))

    def receipt(self, kind: str, *, durable: bool = False, **fields: Any) -> str:
        """Write a receipt of the fields of contract section 2 and give its id.

        Short forms: `task` and `queue` go into `job`; `job` may be a number; `key` may be a text or
        the fields; `subjects` may be texts like "payout:PO-88213". Fields that are None are left
        out, but for `original`, where None says that there is none. `durable` asks for disk where
        the kind does not by itself.
        """
        receipt = receipts.made(kind, fields, self.settings.source)
        self.write(receipt, durable=durable)
        return str(receipt["id"])

    def skip(
        self,
        *,
        key: KeyForm | None = None,
        reason: str | None = None,
        holder: Any = UNSET,
        original: Any = UNSET,
        rule: Mapping[str, Any] | None = None,
        **fields: Any,
    ) -> str:
        """Write, durably, that something was not done, and give the receipt's id.

        `original` names what it was skipped for: a receipt's id, {"receipt": id}, {"job": id}, or
        None for "there is none"; left out, nothing is said. `holder` is the name that a guard gave
        instead: a token of `once`, or the id of a job. `rule` explains a skip that has no original.
        """
        if holder is not UNSET:
            if original is not UNSET:
                raise receipts.BadReceipt("Give holder or original, not both")
            original = receipts.original_from_holder(holder, is_finished=reason == "already_done")
        return self.receipt("skip", key=key, reason=reason, original=original, rule=rule, **fields)

    def act(self, verb: str, target: str, *, by: Any, why: str, **fields: Any) -> str:
        """Write, durably, who did what to a queue, job or rule, and why."""
        act: dict[str, Any] = {"verb": verb, "target": target}
        if "commit" in fields:
            act["commit"] = fields.pop("commit")
        return self.receipt("act", act=act, actor=receipts.actor_of(by), reason=why, **fields)

    def beat(
        self,
        loop: str,
        *,
        beat: str = "ok",
        channels: Iterable[Any] = (),
        **fields: Any,
    ) -> str:
        """Write a heartbeat of a loop with what this sweep saw of each channel.

        A channel is a mapping of contract section 2, or a text like "lobby:90..100".
        """
        seen = [receipts.channel_of(c) if isinstance(c, str) else c for c in channels]
        return self.receipt(
            "heartbeat",
            loop=loop,
            beat=beat,
            sent_at=encode.now_text(),
            channels=seen or None,
            **fields,
        )

    def digest(self, value: Any) -> str:
        """Give a keyed digest of a value that is not to be sent (see digests)."""
        return digests.digest_of(value, self.settings.digest_key)

    def ignored(self, **values: Any) -> dict[str, str]:
        """Give the `ignored` part of a key: each value as its keyed digest and size."""
        return {name: self.digest(value) for name, value in values.items()}

    def write(
        self, receipt: Mapping[str, Any], *, durable: bool = False, admitted: bool = False
    ) -> bool:
        """Put a whole receipt in the spool; True when it is there."""
        if self.settings.off:
            return False
        wanted = durable or receipts.is_durable(receipt)
        return self.write_line(encode.line_of(receipt), durable=wanted, admitted=admitted)

    def write_line(self, line: bytes, *, durable: bool, admitted: bool = False) -> bool:
        """Put a receipt that was built before in the spool, as the bytes that it is."""
        if self.settings.off:
            return False
        is_there = self._spool.append(line, durable=durable, admitted=admitted)
        if self._sender is not None and self.settings.send:
            self._sender.ensure()
        return is_there

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Send what waits, for at most about that long; True when nothing waits any more.

        One try may outlast the time by the transport's own timeout of 10 s.
        """
        if self._sender is None:
            return self.settings.off
        until = time.monotonic() + timeout_s
        while True:
            outcome = self._sender.forwarder.pass_once()
            if outcome.problem or not outcome.is_busy or time.monotonic() >= until:
                return not outcome.problem and not outcome.is_busy
            time.sleep(min(0.05, max(0.0, until - time.monotonic())))

    def forward_once(self) -> Outcome:
        """Make one pass over the spool directory."""
        if self._sender is None:
            return Outcome(problem="" if self.settings.off else "COUNTERFOIL_URL is not set")
        return self._sender.forwarder.pass_once()

    def close(self) -> None:
        """Close the spool in order; what is in it stays there until it is sent."""
        if self.settings.off:
            return
        self._spool.close()
        if self._sender is not None:
            self._sender.stop()


_open: weakref.WeakSet[Client] = weakref.WeakSet()


def _close_all() -> None:
    for client in list(_open):
        client.close()


# Closing is a rename and asks no server; a process that is killed is found out by the forwarder.
atexit.register(_close_all)
