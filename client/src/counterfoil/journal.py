"""Ordinary outcomes on their way into tallies: one short line each, in a journal of the process.

A journal's files are those of a spool of level `o`. Each begins with a head that says for all its
lines whose they are and under which policy:

    {"source": {"system": "celery", "instance": "prod-1"}, "policy": "3"}
    ["mail.send", "mail", "3f0c…", "done", 12, 1764499380123]

task, queue, job id, "done" or "retried", duration in ms, end in ms since 1970. `forward` makes
tallies of them (see tallies).
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from counterfoil import encode

DONE, RETRIED = "done", "retried"
OUTCOMES = (DONE, RETRIED)
MAX_TEXT = 255
_quoted = json.encoder.encode_basestring_ascii


@dataclass(frozen=True)
class Outcome:
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


def line_of(task: str, queue: str, job: str, outcome: str, ms: float) -> bytes:
    """Give one outcome that ends now as a line."""
    at_ms = time.time_ns() // 1_000_000
    took = int(ms + 0.5)
    line = f'[{_quoted(task)},{_quoted(queue)},{_quoted(job)},"{outcome}",{took},{at_ms}]\n'
    return line.encode("ascii")
