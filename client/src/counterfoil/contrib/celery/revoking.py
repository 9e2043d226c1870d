"""Revokes as they are asked for. A worker's own word follows by `task_revoked`, or never."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Callable

from celery.app.control import Control

from counterfoil.contrib.celery import rim
from counterfoil.contrib.celery.writing import writer

BY_ID = ("revoke", "terminate")
BY_STAMP = "revoke_by_stamped_headers"
_ASKER = {"type": "unknown"}


def wrap() -> None:
    """Wrap `Control.broadcast`, by which every revoke is sent, `Control.revoke` among them."""
    if not getattr(Control.broadcast, "counterfoil", False):
        Control.broadcast = _recording(Control.broadcast)


def _recording(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def broadcast(self: Any, command: Any, *more: Any, **options: Any) -> Any:
        # Told only when it was sent: an exception here is the caller's, and nobody was asked.
        answer = original(self, command, *more, **options)
        if command in BY_ID or command == BY_STAMP:
            with rim.contained("a revoke"):
                arguments = more[0] if more else options.get("arguments")
                _tell(command, arguments or {}, options.get("destination"))
        return answer

    broadcast.counterfoil = True  # type: ignore[attr-defined]
    return broadcast


def _tell(command: str, arguments: Mapping[str, Any], destination: Any) -> None:
    wanted: dict[str, Any] = {"terminate": bool(arguments.get("terminate"))}
    if wanted["terminate"] or command == "terminate":
        wanted.update(terminate=True, signal=str(arguments.get("signal", "")))
    if destination:
        wanted["destination"] = [str(name) for name in _each(destination)]
    if command == BY_STAMP:
        _write(None, {**wanted, "stamps": _stamps(arguments.get("headers") or {})})
        return
    for job in _each(arguments.get("task_id")):
        _write({"id": str(job)}, wanted)


def _write(job: dict[str, str] | None, data: dict[str, Any]) -> None:
    fields = {"job": job, "reason": "asked", "actor": _ASKER}
    name = (job["id"] if job else "stamps",)
    writer().write("revoke", "revoke", fields, data, name=name)


def _stamps(headers: Any) -> dict[str, Any]:
    """Give the names of the stamps that were asked for; their values as digests."""
    if not isinstance(headers, Mapping):
        return {}
    return {str(name): writer().client.described(value) for name, value in headers.items()}


def _each(value: Any) -> list[Any]:
    if value is None:
        return []
    many = isinstance(value, Iterable) and not isinstance(value, (str, bytes))
    return list(value) if many else [value]
