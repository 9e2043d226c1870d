"""Ordinary outcomes on their way into tallies: one short line each, in a journal of the process.

A journal is a spool of level `o`. Each of its files begins with a head, which is not counted and
says for all lines whose they are and under which policy:

    {"policy":"3","source":{"instance":"prod-1","system":"celery"}}
    ["mail.send","mail","3f0c…","done",12,1764499380123]

task, queue, job id, "done" or "retried", duration in ms, end in ms since 1970. Journals are not
sent: the forwarder makes tallies of them (see composer).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

from counterfoil import encode

DONE, RETRIED = "done", "retried"
OUTCOMES = (DONE, RETRIED)
MAX_TEXT = 255
MAX_LINE = 16 * 1024
_LONGEST_MS = 10**15
_quoted = json.encoder.encode_basestring_ascii


class Entry(NamedTuple):
    """One ordinary outcome: how long it took in ms, and when it ended in ms since 1970."""

    task: str
    queue: str
    job: str
    outcome: str
    ms: int
    at_ms: int


def head_of(source: Mapping[str, Any] | None, policy: str) -> bytes:
    """Give the first line of a journal's file."""
    return encode.canonical({"source": source, "policy": policy}) + b"\n"


def read_head(line: bytes) -> dict[str, Any]:
    """Read the first line of a file; one that is no head says nothing."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def line_of(task: str, queue: str, job: str, outcome: str, ms: float) -> bytes:
    """Give one outcome that ends now as a line."""
    at_ms = time.time_ns() // 1_000_000
    # Not a number compares as neither, and an outcome must not fail for its duration.
    took = int(ms + 0.5) if 0 <= ms < _LONGEST_MS else 0
    line = f'[{_quoted(task)},{_quoted(queue)},{_quoted(job)},"{outcome}",{took},{at_ms}]\n'
    return line.encode("ascii")


def parse(line: bytes) -> Entry | None:
    """Read a line; None when it is not an outcome."""
    try:
        found = json.loads(line)
        task, queue, job, outcome, ms, at_ms = found[:6]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if outcome not in OUTCOMES or type(ms) is not int or type(at_ms) is not int:
        return None
    if not (isinstance(task, str) and isinstance(queue, str) and isinstance(job, str)):
        return None
    return Entry(task, queue, job, outcome, ms, at_ms)
