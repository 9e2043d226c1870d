"""What Celery's messages and requests say of a call, in the words of a receipt.

Only names, ids and numbers are read. Arguments, their `argsrepr` and headers of the application's
own are left where they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celery import current_app

_queues: dict[tuple[str, str], str] = {}
_MAX_QUEUES = 1_000


class Call:
    """One call of a task: its name, id, attempt and queue, and whether it was delivered before."""

    __slots__ = ("id", "queue", "redelivered", "retries", "task")

    def __init__(
        self, task: str, call_id: str, retries: int = 0, queue: str = "", redelivered: bool = False
    ) -> None:
        self.task = task
        self.id = call_id
        self.retries = retries
        self.queue = queue
        self.redelivered = redelivered

    def job(self) -> dict[str, Any]:
        """Give the job of a receipt; a retry is a further attempt of the same job."""
        job: dict[str, Any] = {"task": self.task, "id": self.id, "attempt": self.retries + 1}
        if self.queue:
            job["queue"] = self.queue
        return job


def call_of_message(told: Mapping[str, Any], exchange: Any, routing_key: Any) -> Call:
    """Read the call of a message that is published from its headers (in protocol 1 its body)."""
    return Call(
        str(told["task"]),
        str(told["id"]),
        number(told.get("retries")),
        queue_of(exchange, routing_key),
    )


def call_of_request(request: Any, task: str = "", call_id: str = "") -> Call:
    """Read the call of a task's request, as the attempt and the worker's main process have it."""
    info = getattr(request, "delivery_info", None) or {}
    return Call(
        task or str(request.task),
        call_id or str(request.id),
        number(getattr(request, "retries", 0)),
        queue_of(info.get("exchange"), info.get("routing_key")),
        bool(info.get("redelivered")),
    )


def call_of_delivery(request: Any) -> Call:
    """Read the call of a request as a worker received it; its `name` may be another one to show."""
    told, info = request.request_dict, request.delivery_info or {}
    return Call(
        str(told["task"]),
        str(request.id),
        number(told.get("retries")),
        queue_of(info.get("exchange"), info.get("routing_key")),
        bool(info.get("redelivered")),
    )


def workflow_of(told: Mapping[str, Any]) -> dict[str, str] | None:
    """Give root, parent and group of a call that is part of something larger, else None."""
    own = told.get("id")
    found = {
        "root": told.get("root_id"),
        "parent": told.get("parent_id"),
        "group": told.get("group"),
    }
    # A retry names itself as its parent, and a call alone is its own root.
    related = {name: str(value) for name, value in found.items() if value and value != own}
    return related or None


def trace_of(told: Any) -> dict[str, str] | None:
    """Give the trace that a message carries by W3C's `traceparent` header, None without one."""
    parts = str(told.get("traceparent") or "").split("-") if isinstance(told, Mapping) else []
    if len(parts) < 4 or len(parts[1]) != 32 or len(parts[2]) != 16:
        return None
    return {"trace_id": parts[1], "span_id": parts[2]}


def queue_of(exchange: Any, routing_key: Any) -> str:
    """Give the name of the queue that an exchange and a routing key lead to.

    Through the default exchange the routing key is the name. Another one is looked up among the
    queues of the app; where it is unknown the routing key is the best that can be said.
    """
    name = str(getattr(exchange, "name", exchange) or "")
    key = str(routing_key or "")
    if not name:
        return key
    known = _queues.get((name, key))
    if known is None:
        if len(_queues) >= _MAX_QUEUES:
            _queues.clear()
        known = _queues[name, key] = _find_queue(name, key)
    return known


def number(value: Any) -> int:
    """Give a count that may be absent as a number."""
    return value if isinstance(value, int) else 0


def _find_queue(exchange: str, routing_key: str) -> str:
    for queue in list(current_app.amqp.queues.values()):
        bound = getattr(queue, "exchange", None)
        if getattr(bound, "name", None) == exchange and queue.routing_key == routing_key:
            return str(queue.name)
    return routing_key
