"""Buses from the log: lanes, ID spaces, messages, findings, answers, and their surroundings.

One projector for all of them: an answer to a resume is judged by the lane as it was at that leaf,
and messages of that time may have been let go since.
"""

from __future__ import annotations

from collections.abc import Sequence

from events.projectors.desk import Desk
from ledger.registry import Write
from ledger.statements import Item

NAME = "streams"


class StreamsProjector:
    """Takes receipts in the order of their leaves, which is that of arrival.

    A segment that tells of before what its lane already has is counted as `late` in it; what of it
    is older by more than messages may be out of order is kept, and no detector takes it. The rules
    are those of `events.domain` too: whoever changes a detector or the resume rule so that the same
    log gives other rows raises the version here.
    """

    name = NAME
    rules_version = 2
    tables: tuple[str, ...] = (
        "bus_installation", "bus", "bus_state", "bus_setting", "bus_lane", "bus_lane_step",
        "bus_space", "bus_segment", "bus_minute", "bus_message", "bus_hole", "bus_finding",
        "bus_resume", "bus_buffer", "bus_key", "bus_sample", "bus_replica", "bus_phase",
        "bus_metric", "bus_reset", "bus_head",
    )  # fmt: skip

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Work out what the batch tells of buses; most receipts tell nothing."""
        desk = Desk(project_id)
        for item in items:
            if item.statement.kind in ("observe", "act"):
                desk.take(item)
        desk.close()
        return desk.write
