"""Receipts of what a job system's hooks tell, written by the client of this process."""

from __future__ import annotations

import hashlib
import inspect
import sys
import uuid
from collections.abc import Mapping
from typing import Any, Callable

import counterfoil
from counterfoil import context, encode, policy
from counterfoil.client import Client
from counterfoil.policy import Policy
from counterfoil.receipts import SCHEMA

INSTANCE = "default"
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_DNS, "contrib.counterfoil").bytes
_MAX_NAMES = 10_000


class Writer:
    """Writes receipts of one source: a system, and the instance that COUNTERFOIL_SOURCE names."""

    def __init__(self, system: str, client: Client) -> None:
        self.client = client
        named = client.settings.source or {}
        # One object for good: the client looks sources up by identity.
        self.source = {
            "system": system,
            "instance": named.get("instance", INSTANCE),
            "via": "signal",
        }
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
        fields: Mapping[str, Any],
        data: Mapping[str, Any] | None = None,
        *,
        name: tuple[str, ...] = (),
        durable: bool = False,
    ) -> None:
        """Write a receipt of what a hook told; fields that are None are left out.

        The id follows from `name` and the time, so that a line made again of the same facts is the
        same receipt. `original` is kept where it is None: that says that there is none.
        """
        when = encode.now_text()
        said = {m: v for m, v in fields.items() if v is not None or m == "original"}
        receipt: dict[str, Any] = {
            "schema": SCHEMA,
            "id": made_id(self.source["system"], self.source["instance"], kind, *name, when),
            "kind": kind,
            "occurred_at": when,
            **said,
        }
        trace = context.current_trace()
        if trace is not None:
            receipt.setdefault("trace", trace)
        receipt["source"] = self.source
        receipt["data"] = {"event": event, **(data or {})}
        self.client.write(receipt, durable=durable)

    def ordinary(
        self,
        outcome: str,
        event: str,
        fields: Mapping[str, Any],
        data: Mapping[str, Any] | None = None,
        *,
        name: tuple[str, ...] = (),
    ) -> None:
        """Keep an ordinary outcome, "done" or "retried", as the policy says.

        `fields` has the job, and `took_ms` where it is known.
        """
        job = fields["job"]
        choice = self.choice(job["task"])
        if choice == policy.EACH:
            self.write("done" if outcome == "done" else "retry", event, fields, data, name=name)
        elif choice == policy.TALLY:
            took = fields.get("took_ms") or 0.0
            queue, source = job.get("queue", ""), self.source
            self.client.outcome(job["task"], queue, job["id"], outcome, took, source=source)

    def subjects(self, task: str, args: Any, kwargs: Any, function: Any) -> Any:
        """Give the business objects that the policy names for a call, None when it names none."""
        if not self.client.policy.subject_fields(task):
            return None
        return self.client.subjects(task, args, kwargs, names_of(task, function)) or None

    def arguments(self, task: str, args: Any, kwargs: Any, function: Any) -> dict[str, Any]:
        """Give of a call what may leave, for `data`; nothing for a call without arguments."""
        if not args and not kwargs:
            return {}
        return {"arguments": self.client.arguments(task, args, kwargs, names_of(task, function))}


def writer_of(system: str) -> Writer:
    """Give this process's writer; raises SettingsError when the variables are wrong."""
    client = counterfoil.get_client()
    found = _writers.get(system)
    if found is None or found.client is not client:
        found = _writers[system] = Writer(system, client)
    return found


def made_id(*parts: str) -> str:
    """Give the UUIDv5 of some texts (written out: uuid.UUID costs three times as much)."""
    name = _NAMESPACE + "\n".join(parts).encode("utf-8", "surrogatepass")
    digits = hashlib.sha1(name, usedforsecurity=False).hexdigest()
    variant = "89ab"[int(digits[16], 16) & 3]
    return f"{digits[:8]}-{digits[8:12]}-5{digits[13:16]}-{variant}{digits[17:20]}-{digits[20:32]}"


def names_of(task: str, function: Any) -> tuple[str, ...]:
    """Give the names of a task's positional parameters, so that a policy can name them."""
    if not callable(function):
        return ()
    found = _names.get(task)
    if found is None:
        if len(_names) >= _MAX_NAMES:
            _names.clear()
        found = _names[task] = _find_names(function)
    return found


def function_of(path: str) -> Callable[..., Any] | None:
    """Give the function that a dotted path names, where its module is imported; never import it."""
    module, _, name = path.rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    return found if callable(found) else None


def _find_names(function: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return ()
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(p.name for p in parameters if p.kind in kinds)


_names: dict[str, tuple[str, ...]] = {}
_writers: dict[str, Writer] = {}
