"""The strips below a timeline: what each replica covered, and what it answered.

Source: reference/events-and-loops.md section 5.1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from events.domain import codes, strips
from events.domain.axis import Axis
from events.domain.strips import COVERED, Bar, Life
from events.domain.times import micros
from events.queries import answers, rows, told_lanes
from events.queries.rows import Document
from ledger.queries.as_of import AsOf

MODELLED, DUMPED, REPORTED = "modelled", "dumped", "reported"
"""How a strip is known: from the messages seen, from dumps, or from the answers alone."""
_QUIET = frozenset({codes.LANE_SILENT})
_GAPS = frozenset({codes.GAP, codes.TAIL_GAP})


@dataclass(frozen=True, slots=True)
class _Told:
    """All that the strips of a bus are drawn from."""

    spaces: Sequence[Document]
    holes: Sequence[Document]
    found: Sequence[Document]
    dumps: Sequence[Document]
    axis: Axis
    cut: AsOf


def strips_of(
    project_id: int,
    lanes: Sequence[Document],
    spaces: Sequence[Document],
    holes: Sequence[Document],
    found: Sequence[Document],
    axis: Axis,
    cut: AsOf,
) -> list[Document]:
    """Give a strip for each lane, also for those that we know by their words alone."""
    names = [lane["lane"] for lane in lanes]
    ticks = answers.in_range(project_id, names, axis, cut)
    end = 2**63 - 1 if cut.is_now else cut.end
    dumps = told_lanes.dumps_in(project_id, names, axis.begin, axis.end, end)
    told = _Told(spaces, holes, found, dumps, axis, cut)
    return [
        {
            "lane": lane["lane"],
            "replica": lane["replica"],
            "basis": _basis(lane, told),
            "bars": [_bar(bar, axis) for bar in _bars(lane, told)],
            "resumes": ticks.get(lane["lane"], []),
        }
        for lane in lanes
    ]


def _basis(lane: Document, told: _Told) -> str:
    if not lane.get("is_told"):
        return MODELLED
    return DUMPED if any(one["lane"] == lane["lane"] for one in told.dumps) else REPORTED


def _bars(lane: Document, told: _Told) -> Sequence[Bar]:
    if lane.get("is_told"):
        return list(_dumped(lane, told))
    own = [one for one in told.found if one["lane"] == lane["lane"]]
    return strips.bars_of(
        told.axis,
        [_life(one) for one in told.spaces if one["lane"] == lane["lane"]],
        [(one["from_at"], one["to_at"]) for one in told.holes if one["lane"] == lane["lane"]],
        [_silence(one, told.cut) for one in own if one["code"] in _QUIET],
        [micros(one["at"]) for one in own if one["code"] in _GAPS],
        micros(told.cut.at),
    )


def _dumped(lane: Document, told: _Told) -> Iterator[Bar]:
    """Give what dumps told, each up to the next one: between them nothing is known for sure."""
    own = [one for one in told.dumps if one["lane"] == lane["lane"]]
    for one, following in pairwise([*own, None]):
        if one is not None:
            end = one["at"] if following is None else following["at"]
            state = COVERED if one["count"] else strips.COLD
            yield Bar(
                one["at"],
                end,
                state,
                rows.as_number(one["floor"]),
                rows.as_number(one["high_water"]),
            )


def _life(row: Document) -> Life:
    return Life(row["born_at"], row["last_at"], row["first"], row["greatest"])


def _silence(one: Mapping[str, Any], cut: AsOf) -> tuple[int, int]:
    return micros(one["at"]), micros(one["closed_at"] or cut.at)


def _bar(bar: Bar, axis: Axis) -> Document:
    return {
        "from_ms": axis.ms(bar.begin),
        "to_ms": axis.ms(bar.end),
        "state": bar.state,
        "floor": rows.as_text(bar.floor),
        "high_water": rows.as_text(bar.high_water),
    }
