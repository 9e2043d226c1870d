"""Receipts of Celery's facts, written by the client of this process."""

from __future__ import annotations

import hashlib
import inspect
import uuid
from typing import Any

import counterfoil
from counterfoil import context, encode
from counterfoil.client import Client
from counterfoil.contrib.celery import lines
from counterfoil.contrib.celery.messages import Call
from counterfoil.policy import Policy
from counterfoil.receipts import SCHEMA

SYSTEM = "celery"
INSTANCE = "default"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "celery.contrib.counterfoil").bytes


class Writer:
    """Writes receipts of one source; a process has one for its client."""

    def __init__(self, client: Client) -> None:
        self.client = client
        named = client.settings.source or {}
        # One object for good: the client looks sources up by identity.
        self.source = {
            "system": SYSTEM,
            "instance": named.get("instance", INSTANCE),
            "via": "signal",
        }
        # What a task says by itself in the same place, such as a guard's skip.
        self.own_source = {**self.source, "via": "client"}
        self._instance = self.source["instance"]
        self._source_text = lines.source_of(self.source)
        self._announced: Policy | None = None

    def choice(self, task: str) -> str:
        """Give "each", "tally" or "never" for ordinary outcomes of the task."""
        found = self.client.policy
        if found is not self._announced:
            self._announced = found
            self.client.announce(self.source)
        return found.choice(task)

    def write(
        self,
        kind: str,
        event: str,
        fields: dict[str, Any],
        data: dict[str, Any] | None = None,
        *,
        name: tuple[str, ...] = (),
        durable: bool = False,
    ) -> None:
        """Write a receipt of what a signal told.

        Fields that are None are left out. The id follows from `name` and the time, so that a line
        that is made again from the same facts is the same receipt.
        """
        when = encode.now_text()
        receipt: dict[str, Any] = {
            "schema": SCHEMA,
            "id": made_id(self._instance, kind, *name, when),
            "kind": kind,
            "occurred_at": when,
            **{member: value for member, value in fields.items() if value is not None},
        }
        if "trace" not in receipt:
            trace = context.current_trace()
            if trace is not None:
                receipt["trace"] = trace
        receipt["source"] = self.source
        receipt["data"] = {"event": event, **data} if data else {"event": event}
        self.client.write(receipt, durable=durable)

    def write_plain(
        self, kind: str, event: str, call: Call, worker: str, *, job: str = "", more: str = ""
    ) -> None:
        """Write what comes with every task, the quick way; `job` and `more` are JSON members."""
        when = encode.now_text()
        trace = context.current_trace()
        if trace is not None:
            more += f',"trace":{lines.source_of(trace)}'
        line = lines.line_of(
            receipt_id=made_id(self._instance, kind, call.id, str(call.retries), worker, when),
            kind=kind,
            when=when,
            job=lines.job_of(call, job),
            more=more,
            source=self._source_text,
            data=f'"event":"{event}","worker":{lines.quoted(worker)}',
        )
        self.client.write_line(line, durable=False)

    def tally(self, call: Call, outcome: str, ms: float) -> None:
        """Count an ordinary outcome that ended now."""
        self.client.outcome(call.task, call.queue, call.id, outcome, ms, source=self.source)

    def subjects(self, name: str, args: Any, kwargs: Any, task: Any) -> Any:
        """Give the business objects that the policy names for a call, None when it names none.

        `task` is the registered task, None where this process does not have it.
        """
        if not self.client.policy.subject_fields(name):
            return None
        return self.client.subjects(name, args, kwargs, names_of(task)) or None


def writer() -> Writer:
    """Give the writer of this process; raises SettingsError when the variables are wrong."""
    global _writer
    client = counterfoil.get_client()
    found = _writer
    if found is None or found.client is not client:
        found = _writer = Writer(client)
    return found


def made_id(*parts: str) -> str:
    """Give the UUIDv5 of some texts (written out: uuid.UUID costs three times as much)."""
    name = _NAMESPACE + "\n".join(parts).encode("utf-8", "surrogatepass")
    digits = hashlib.sha1(name, usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def names_of(task: Any) -> tuple[str, ...]:
    """Give the names of a task's positional parameters, so that a policy can name them."""
    if task is None:
        return ()
    found = _names.get(task.name)
    if found is None:
        if len(_names) >= _MAX_NAMES:
            _names.clear()
        found = _names[task.name] = _find_names(task)
    return found


def _find_names(task: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(task.run).parameters.values()
    except (TypeError, ValueError):
        return ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in parameters if p.kind in kinds)


_MAX_NAMES = 10_000
_names: dict[str, tuple[str, ...]] = {}
_writer: Writer | None = None
