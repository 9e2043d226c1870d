"""The client: makes receipts and puts them in the spool.

Nothing here waits for the server or raises because of it. What is raised: SpoolFull (and its kin)
for a durable receipt when `when_full` is "raise", and plain mistakes in the arguments.
"""

from __future__ import annotations

import atexit
import time
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from counterfoil import context, digests, encode, journal, receipts, values
from counterfoil.errors import BadReceipt, SpoolError
from counterfoil.forwarder import Forwarder, Outcome
from counterfoil.forwarding import Turn
from counterfoil.policy import Policy
from counterfoil.receipts import UNSET, KeyForm
from counterfoil.recording import Recording
from counterfoil.sender import Sender
from counterfoil.settings import Settings
from counterfoil.spool import Spool
from counterfoil.transport import Transport

MAX_HEADS = 64


class Client:
    """Writes receipts for one ledger: one address, one token, one spool directory.

    `lost` counts what found no place in the spool, by this object and in this process.
    """

    def __init__(self, settings: Settings, *, timeout_s: float = 10.0) -> None:
        self.settings = settings
        self._spool = Spool(
            settings.spool,
            settings.name,
            max_bytes=settings.max_bytes,
            when_full=settings.when_full,
        )
        self._sender = self._make_sender(timeout_s)
        self.lost = 0
        self._recording = Recording(settings.policy, self._tell_policy)
        self._heads: dict[int, tuple[Any, Policy, bytes]] = {}
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
        instead, as text or bytes. Inside a running job that `context` knows of it is another job's
        id; elsewhere a UUID is a token of `once` and all else a job's id. `rule` explains a skip
        that has no original. Inside a running job its job, source and trace are filled in.
        """
        if holder is not UNSET:
            if original is not UNSET:
                raise BadReceipt("Give holder or original, not both")
            original = receipts.original_from_holder(
                holder,
                is_finished=reason == "already_done",
                is_in_job=context.current() is not None,
            )
        fields = context.filled(fields)
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

    @property
    def policy(self) -> Policy:
        """The recording policy in force (see policy)."""
        return self._recording.policy()

    def announce(self, source: Mapping[str, Any] | None = None) -> None:
        """Tell the ledger which policy is in force for a source; once, and when it changes.

        `outcome` does it by itself. Whoever writes receipts because of `choice` calls it as well,
        with the source of those; a call that has nothing new to tell costs a microsecond.
        """
        if not self.settings.off:
            self._recording.announce(source or self.settings.source)

    def choice(self, task: str) -> str:
        """Give "each", "tally" or "never": how ordinary outcomes of the task are kept."""
        return self._recording.policy().choice(task)

    def outcome(
        self,
        task: str,
        queue: str,
        job: str,
        outcome: str = "done",
        ms: float = 0.0,
        *,
        source: Mapping[str, Any] | None = None,
    ) -> bool:
        """Tally an ordinary outcome, "done" or "retried", that ended now; True when it is kept.

        Survives kill -9 from the moment that the call returns. Give the same `source` object each
        time: it is looked up by identity. Never raises for what disk or server do.
        """
        if self.settings.off:
            return False
        if outcome not in journal.OUTCOMES:
            raise BadReceipt('An ordinary outcome is "done" or "retried"')
        if len(task) > journal.MAX_TEXT or len(queue) > journal.MAX_TEXT or len(job) > 255:
            return self._outcome_alone(task, queue, job, outcome, ms, source)
        head = self._head(source)
        line = journal.line_of(task, queue, job, outcome, ms)
        is_there = self._spool.append_outcome(line, head)
        self.lost += not is_there
        self._wake()
        return is_there

    def described(self, value: Any) -> dict[str, Any]:
        """Give of a value what may leave: `{"size": 12, "digest": "hmac-sha256:…"}`."""
        return values.described(value, self.settings.digest_key)

    def error(self, error: BaseException) -> dict[str, Any]:
        """Give of an exception what may leave: `{"type", "size", "digest"}`, never its text."""
        return values.error_of(error, self.settings.digest_key)

    def arguments(
        self, task: str, args: Any, kwargs: Any, names: Sequence[str] = ()
    ) -> dict[str, Any]:
        """Give of a call what may leave: `{"args": […], "kwargs": {…}, "clear": {…}}`.

        `names` are the names of the task's positional parameters, where they are known: so a field
        that the policy names is found however it was passed.
        """
        clear = self._recording.policy().clear_fields(task)
        key = self.settings.digest_key
        return values.arguments_of(args, kwargs, clear=clear, names=names, key=key)

    def subjects(
        self, task: str, args: Any, kwargs: Any, names: Sequence[str] = ()
    ) -> list[dict[str, str]]:
        """Give the business objects that the policy finds in a call, for `subjects`."""
        fields = self._recording.policy().subject_fields(task)
        return values.subjects_of(args, kwargs, fields=fields, names=names) if fields else []

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
        self.lost += not is_there
        self._wake()
        return is_there

    def _wake(self) -> None:
        if self._sender is not None and self.settings.send:
            self._sender.ensure()

    def _tell_policy(self, source: Mapping[str, Any] | None, said: Mapping[str, Any]) -> bool:
        told = receipts.made("observe", {"source": source, **said}, self.settings.source)
        try:
            # Durable: absence of other receipts gets its meaning from this one.
            return self.write(told, durable=True)
        except SpoolError:
            # The spool has said in the log why; a task does not fail for a policy.
            return False

    def _head(self, source: Mapping[str, Any] | None) -> bytes:
        """Give the head of the journal for a source, which is told of the policy first."""
        wanted, policy = source or self.settings.source, self._recording.policy()
        known = self._heads.get(id(wanted))
        # The object is kept beside its identity, so that no other can come to have it.
        if known is not None and known[0] is wanted and known[1] is policy:
            return known[2]
        head = journal.head_of(wanted, policy.version)
        if self._recording.announce(wanted):
            if len(self._heads) >= MAX_HEADS:
                self._heads.clear()
            self._heads[id(wanted)] = (wanted, policy, head)
        return head

    def _outcome_alone(
        self, task: str, queue: str, job: str, outcome: str, ms: float, source: Any
    ) -> bool:
        kind = "done" if outcome == journal.DONE else "retry"
        named = {"task": task, "queue": queue, "id": job}
        fields = {"job": named, "took_ms": round(ms), "source": source}
        return self.write(receipts.made(kind, fields, self.settings.source))

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Send what waits, for at most about that long; True when nothing waits any more.

        One try may outlast the time by the transport's own timeout of 10 s.
        """
        if self._sender is None:
            return self.settings.off
        until = time.monotonic() + timeout_s
        while True:
            outcome = self._sender.forwarder.pass_once(everything=True)
            if outcome.problem or not outcome.is_busy or time.monotonic() >= until:
                return not (outcome.problem or outcome.unreadable or outcome.is_busy)
            time.sleep(min(0.05, max(0.0, until - time.monotonic())))

    def forward_once(self, *, everything: bool = True) -> Outcome:
        """Make one pass over the spool directory."""
        if self._sender is None:
            return Outcome(problem="" if self.settings.off else "COUNTERFOIL_URL is not set")
        return self._sender.forwarder.pass_once(everything=everything)

    def turn(self) -> Turn | None:
        """Give the forwarding of this client's directory, for `counterfoil forward`."""
        if self._sender is None:
            return None
        return Turn(self.settings.spool, self._sender.forwarder, self.settings.max_bytes)

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
