"""Receipts of Celery's facts, written by the client of this process."""

from __future__ import annotations

from typing import Any

import counterfoil
from counterfoil import context, encode
from counterfoil.client import Client
from counterfoil.contrib import writing
from counterfoil.contrib.celery import lines
from counterfoil.contrib.celery.messages import Call
from counterfoil.contrib.writing import made_id

SYSTEM = "celery"


class Writer(writing.Writer):
    """Writes receipts of one source; a process has one for its client."""

    def __init__(self, client: Client) -> None:
        super().__init__(SYSTEM, client)
        # What a task says by itself in the same place, such as a guard's skip.
        self.own_source = {**self.source, "via": "client"}
        self._source_text = lines.source_of(self.source)

    def write_plain(
        self, kind: str, event: str, call: Call, worker: str, *, job: str = "", more: str = ""
    ) -> None:
        """Write what comes with every task, the quick way; `job` and `more` are JSON members."""
        when = encode.now_text()
        name = (call.id, str(call.retries), worker)
        trace = context.current_trace()
        if trace is not None:
            more += f',"trace":{lines.source_of(trace)}'
        line = lines.line_of(
            receipt_id=made_id(SYSTEM, self.source["instance"], kind, *name, when),
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


def writer() -> Writer:
    """Give the writer of this process; raises SettingsError when the variables are wrong."""
    global _writer
    client = counterfoil.get_client()
    found = _writer
    if found is None or found.client is not client:
        found = _writer = Writer(client)
    return found


def function_of(task: Any) -> Any:
    """Give the function of a registered task, None where this process does not have it."""
    return None if task is None else task.run


_writer: Writer | None = None
