"""The job that runs now, as whoever runs it has said, so that a guard's skip can name it.

    token = context.begin(context.Current({"task": "mail.send", "id": "3f0c…"}, source))
    try:
        …  # counterfoil.skip(…) in here names this job by itself
    finally:
        context.end(token)

Each thread, coroutine and greenlet has a current job of its own (contextvars).
"""

from __future__ import annotations

import contextvars
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Optional

Token = contextvars.Token[Optional["Current"]]


@dataclass(frozen=True)
class Current:
    """The running job, its source and its trace, as the contract writes them."""

    job: Mapping[str, Any]
    source: Mapping[str, Any] | None = None
    trace: Mapping[str, Any] | None = None
    subjects: tuple[Mapping[str, Any], ...] = ()


_current: contextvars.ContextVar[Current | None] = contextvars.ContextVar(
    "counterfoil_current", default=None
)


def begin(current: Current) -> Token:
    """Say what runs from now on in this context; give what `end` needs."""
    return _current.set(current)


def end(token: Token) -> None:
    """Say that it has ended; another context's token only clears what is current here."""
    try:
        _current.reset(token)
    except ValueError:
        _current.set(None)


def current() -> Current | None:
    """Give what runs in this context, None when nobody has said."""
    return _current.get()


def current_job() -> Mapping[str, Any] | None:
    """Give the job that runs in this context, None when nobody has said."""
    found = _current.get()
    return found.job if found is not None else None


def current_trace() -> dict[str, str] | None:
    """Give the ids of OpenTelemetry's current span; None without one.

    OpenTelemetry is never imported here: where nobody has, no span can be current.
    """
    tracing = sys.modules.get("opentelemetry.trace")
    if tracing is None:
        return None
    try:
        span = tracing.get_current_span().get_span_context()
        if not span.is_valid:
            return None
        return {"trace_id": f"{span.trace_id:032x}", "span_id": f"{span.span_id:016x}"}
    except Exception:
        # Somebody else's library, of any version: it must cost a receipt its trace at most.
        return None


def filled(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Give the fields of a receipt with what the context knows of job, source and trace.

    What is given stands: a `job` that is named is not replaced, and neither is a task.
    """
    found = {name: value for name, value in fields.items() if value is not None}
    running = _current.get()
    if running is not None:
        if "job" not in found and "task" not in found:
            found["job"] = dict(running.job)
            if running.subjects:
                found.setdefault("subjects", [dict(s) for s in running.subjects])
        if running.source is not None:
            found.setdefault("source", dict(running.source))
        if running.trace is not None:
            found.setdefault("trace", dict(running.trace))
    if "trace" not in found:
        trace = current_trace()
        if trace is not None:
            found["trace"] = trace
    return {**fields, **found}
