"""What is published: an enqueue for each message, retries among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from counterfoil import policy
from counterfoil.contrib.celery import attempts, locks, messages, registry
from counterfoil.contrib.celery.writing import Writer, function_of, writer


def on_published(
    sender: Any = None,
    body: Any = None,
    headers: Any = None,
    exchange: Any = None,
    routing_key: Any = None,
    **_: Any,
) -> None:
    """Record that a message is with the broker (`after_task_publish`)."""
    # In protocol 1 the headers are empty and the body says all.
    told = headers if isinstance(headers, Mapping) and "task" in headers else body
    if not isinstance(told, Mapping) or "task" not in told or "id" not in told:
        return
    attempts.note_published(told["id"])
    task = str(told["task"])
    writes, locked = writer(), locks.published(task)
    registry.tell_once(writes, task)
    choice = writes.choice(task)
    # A skip of a lock library points at an enqueue, so these are kept whatever the policy says.
    if choice == policy.EACH or locked is not None or locks.library_of(registry.find(task)):
        call = messages.call_of_message(told, exchange, routing_key)
        _write(writes, call, told, body, locked, choice)


def _write(
    writes: Writer,
    call: messages.Call,
    told: Mapping[str, Any],
    body: Any,
    locked: locks.LockedCall | None,
    choice: str,
) -> None:
    args, kwargs = _arguments(told, body)
    function = function_of(registry.find(call.task))
    fields = {
        "job": call.job(),
        "key": locked.key if locked is not None else None,
        "subjects": writes.subjects(call.task, args, kwargs, function),
        "workflow": messages.workflow_of(told),
    }
    data = {name: str(told[name]) for name in ("eta", "expires") if told.get(name)}
    if choice == policy.EACH:
        data.update(writes.arguments(call.task, args, kwargs, function))
    name = (call.id, str(call.retries), str(told.get("origin") or ""))
    writes.write("enqueue", "after_task_publish", fields, data, name=name)


def _arguments(told: Mapping[str, Any], body: Any) -> tuple[Any, Any]:
    if isinstance(body, (tuple, list)) and len(body) >= 2:
        return body[0], body[1]
    return told.get("args"), told.get("kwargs")
