"""A replay buffer as a ruler: the regions of its ids side by side, none too narrow to be seen.

Source: reference/events-and-loops.md section 5.3. Widths grow with the logarithm of the count: an
evicted past of millions would leave nothing of a buffer of 1,024.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

WIDTH = 1_000
LEAST = 60


def parts_of(regions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Give each region of ids its place and width; regions of no ids are left out."""
    shown = [one for one in regions if int(one["count"]) > 0]
    weights = [math.log10(int(one["count"]) + 1) for one in shown]
    room = WIDTH - LEAST * len(shown)
    parts, x = [], 0.0
    for one, weight in zip(shown, weights, strict=True):
        width = LEAST + room * weight / sum(weights)
        parts.append({**one, "x": round(x, 1), "width": round(width, 1)})
        x += width
    return parts
