"""What of buses needs someone: grave findings, and lanes of ours that have fallen silent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from events.domain import codes
from events.domain.findings import CRITICAL
from events.domain.records import SECOND
from events.domain.times import micros, moment
from kit import bulk
from ledger.registry import AttentionItem

NEWEST = 10_000
"""Grave findings that are looked at, the newest: what only older ones tell has scrolled away."""
QUIET_AFTER = 3 * 30 * SECOND
"""Frames come every 30 seconds; three missing are no delay (reference, section 4, LANE_SILENT)."""
_GRAVE = (
    "SELECT f.bus, f.code, min(b.installation), min(b.name), count(*), min(f.at), "
    "max(f.leaf_index) FROM (SELECT bus, code, at, leaf_index FROM bus_finding "
    "WHERE project_id = %s AND severity = %s AND due_at <= %s AND until_leaf IS NULL "
    "ORDER BY due_at DESC LIMIT %s) f JOIN bus b ON b.project_id = %s AND b.bus = f.bus "
    "GROUP BY f.bus, f.code ORDER BY min(f.at), f.bus, f.code"
)
_QUIET = (
    "SELECT l.lane, l.installation, l.bus_name, l.replica, l.last_at FROM bus_lane l "
    "JOIN bus_tail t ON t.project_id = l.project_id AND t.installation = l.installation "
    "AND t.bus = l.bus_name AND t.replica = l.replica "
    "JOIN feed_spool s ON s.project_id = t.project_id AND s.spool = t.spool "
    "AND s.until_leaf IS NULL AND s.closed_at IS NULL "
    "WHERE l.project_id = %s AND l.frame_at IS NOT NULL AND l.last_at <= %s "
    "ORDER BY l.last_at, l.lane"
)


def grave_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each bus and code that critical findings have."""
    given = [project_id, CRITICAL, micros(now), NEWEST, project_id]
    for row in bulk.select_rows(_GRAVE, given):
        yield _grave_item(row)


def _grave_item(row: Sequence[Any]) -> AttentionItem:
    bus, code, installation, name, count, since, newest = row
    many = "" if count == 1 else f", {count:,} times"
    return AttentionItem(
        code=f"bus.{code}",
        subject=f"bus:{installation}/{name}",
        sentence=f"On bus {name} of {installation}: {codes.mark_of(code).word}{many}.",
        since=moment(since),
        severity="bad",
        facts=f"{newest}:{count}",
        next_label="see where",
        next_path=f"buses/{bus}/findings?code={code}",
        small="a client or a reader may have lost something",
    )


def quiet_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each lane that our tail still watches and that has fallen silent.

    Only where liveness frames were seen: without them quiet is not silent. A tail that stopped
    itself is told by its feed.
    """
    for row in bulk.select_rows(_QUIET, [project_id, micros(now) - QUIET_AFTER]):
        lane, installation, bus, replica, last_at = row
        yield AttentionItem(
            code="bus.quiet",
            subject=f"lane:{installation}/{bus}/{replica}",
            sentence=f"Nothing comes on bus {bus} of {installation} any more, not even a frame.",
            since=moment(last_at + QUIET_AFTER),
            severity="gap",
            facts=str(last_at),
            next_label="see the lane",
            next_path=f"lanes/{lane}",
            small=f"as {replica} watches it",
        )
