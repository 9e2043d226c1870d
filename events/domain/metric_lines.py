"""The counters of event buses on a replica's `/metrics` page, in the text format of Prometheus.

Source: reference/pad.md section 7.
"""

from __future__ import annotations

import math
import re

_KEPT = (
    "pad_event_",
    "pad_eventbus_",
    "pad_watchevents_",
    "pad_sse_connections_active",
    "pad_stream_connections_active",
    "pad_redis_up",
)
_LINE = re.compile(
    r'(?P<name>[A-Za-z_:][A-Za-z0-9_:]*)(?P<labels>\{(?:[^"}]|"(?:\\.|[^"\\])*")*\})?'
    r"[ \t]+(?P<value>\S+)(?:[ \t]+-?[0-9]+)?[ \t]*"
)
_BUCKET = ("_bucket", "_created")
MOST = 500
_LONGEST = 200


def read_metrics(text: str) -> dict[str, int | float]:
    """Give the values of the metrics that tell of event buses, by name with its labels.

    Lines that cannot be read are passed over, and so is a value that is no number.
    """
    found: dict[str, int | float] = {}
    for line in text.splitlines():
        if not line.startswith(_KEPT) or len(found) >= MOST:
            continue
        match = _LINE.fullmatch(line)
        if match is None or match["name"].endswith(_BUCKET):
            continue
        value = _number(match["value"])
        if value is not None:
            found[(match["name"] + (match["labels"] or ""))[:_LONGEST]] = value
    return found


def _number(text: str) -> int | float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    if not math.isfinite(value):
        return None
    return int(value) if value.is_integer() and abs(value) < 2**53 else value
