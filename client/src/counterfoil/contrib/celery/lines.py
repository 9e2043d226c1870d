"""The lines of receipts that come with every task, written out rather than encoded.

Encoding a mapping costs three times as much, and a worker pays it for every delivery, start and
done. A line says what `Writer.write` would say of the same facts, in ASCII.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from counterfoil.contrib.celery.messages import Call
from counterfoil.receipts import SCHEMA

quoted = json.encoder.encode_basestring_ascii
_HEAD = f'{{"schema":{quoted(SCHEMA)},"id":"'
_MAX_KNOWN = 10_000
_jobs: dict[tuple[str, str, int], tuple[str, str]] = {}


def source_of(source: Mapping[str, Any]) -> str:
    """Give a source as its part of a line."""
    return json.dumps(source, separators=(",", ":"))


def line_of(
    *, receipt_id: str, kind: str, when: str, job: str, more: str, source: str, data: str
) -> bytes:
    """Give a line; all but id, kind and time are JSON already, `more` and `data` whole members."""
    return (
        f'{_HEAD}{receipt_id}","kind":"{kind}","occurred_at":"{when}","job":{job}{more},'
        f'"source":{source},"data":{{{data}}}}}\n'
    ).encode("ascii")


def job_of(call: Call, more: str = "") -> str:
    """Give the job of a call as its part of a line, with further members of it."""
    known = _jobs.get((call.task, call.queue, call.retries))
    if known is None:
        if len(_jobs) >= _MAX_KNOWN:
            _jobs.clear()
        known = _jobs[call.task, call.queue, call.retries] = _around_id(call)
    before, after = known
    return f"{before}{quoted(call.id)}{after}{more}}}"


def _around_id(call: Call) -> tuple[str, str]:
    queue = f',"queue":{quoted(call.queue)}' if call.queue else ""
    return (
        f'{{"task":{quoted(call.task)},"id":',
        f',"attempt":{call.retries + 1}{queue}',
    )
