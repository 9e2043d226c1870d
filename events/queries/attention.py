"""What of buses needs someone: grave findings, and lanes of ours that have fallen silent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from events.domain.findings import CRITICAL
from events.domain.profiles import ACTIVITY_PROFILES
from events.domain.records import PREFIXED, SECOND
from events.domain.roll_phases import ILLEGAL
from events.domain.times import micros, moment
from events.queries import finding_words, incidents
from kit import bulk
from ledger.registry import AttentionItem

NEWEST = 10_000
"""Grave findings that are looked at, the newest: what only older ones tell has scrolled away."""
QUIET_AFTER = 3 * 30 * SECOND
"""Frames come every 30 seconds; three missing are no delay (reference, section 4, LANE_SILENT)."""
_GRAVE = (
    "SELECT bus, code, min(installation), min(bus_name), sum(opens), min(at), "  # noqa: S608
    "max(leaf_index) "
    f"FROM (SELECT bus, code, installation, bus_name, at, leaf_index, {incidents.OPENS} AS opens "
    f"FROM (SELECT installation, bus_name, leaf_index, {incidents.COLUMNS} FROM bus_finding "
    "WHERE project_id = %s AND severity = %s AND due_at <= %s AND until_leaf IS NULL "
    f"ORDER BY due_at DESC LIMIT %s) AS newest {incidents.ALIKE}) AS told "
    "GROUP BY bus, code ORDER BY min(at), bus, code"
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
_OLD, _WRITING = ("0", "s0", "S0"), ("2", "s2", "S2", "s2a", "S2a")
_MIXED = (
    "SELECT r.installation_id, min(r.installation), min(r.replica), count(*), min(r.sampled_at), "
    "max(r.last_leaf) FROM bus_replica r WHERE r.project_id = %s AND r.phase IN (%s, %s, %s) "
    "AND (EXISTS (SELECT 1 FROM bus_replica w WHERE w.project_id = r.project_id "
    "AND w.installation_id = r.installation_id AND w.phase IN (%s, %s, %s, %s, %s)) "
    "OR EXISTS (SELECT 1 FROM bus b JOIN bus_lane l ON l.project_id = b.project_id "
    "AND l.bus = b.bus WHERE b.project_id = r.project_id "
    "AND b.installation_id = r.installation_id AND l.form = %s "
    "AND b.profile IN (%s, %s, %s, %s))) "
    "GROUP BY r.installation_id ORDER BY r.installation_id"
)


def grave_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each bus and code that critical findings have; it counts incidents."""
    given = [project_id, CRITICAL, micros(now), NEWEST]
    for row in bulk.select_rows(_GRAVE, given):
        yield _grave_item(row)


def _grave_item(row: Sequence[Any]) -> AttentionItem:
    bus, code, installation, name, opened, since, newest = row
    count = int(opened)
    many = "" if count == 1 else f", {count:,} times"
    return AttentionItem(
        code=f"bus.{code}",
        subject=f"bus:{installation}/{name}",
        sentence=f"On bus {name} of {installation}: {finding_words.mark_of(code).word}{many}.",
        since=moment(since),
        severity="bad",
        facts=f"{newest}:{count}",
        next_label="see where",
        next_path=f"buses/{bus}/findings?code={code}",
        small="a client or a reader may have lost something",
        is_named=True,
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
            is_named=True,
        )


def mix_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each installation in which an old replica runs beside written epochs.

    It loses every message with an epoch, and only an error in its own log tells
    (reference/pad.md section 4, the illegal mix).
    """
    given = [project_id, *_OLD, *_WRITING, PREFIXED, *ACTIVITY_PROFILES]
    for row in bulk.select_rows(_MIXED, given):
        key, installation, replica, count, since, newest = row
        named = f"Replica {replica}" if count == 1 else f"{count} replicas, {replica} among them,"
        verb = "reads" if count == 1 else "read"
        yield AttentionItem(
            code=f"bus.{ILLEGAL}",
            subject=f"installation:{installation}",
            sentence=f"{named} of {installation} {verb} bare messages alone, beside epochs.",
            since=moment(since),
            severity="bad",
            facts=f"{newest}:{count}",
            next_label="see the roll",
            next_path=f"installations/{key}/rollout",
            small="its clients lose every message that has an epoch",
            is_named=True,
        )
