"""A replay buffer as it was at a moment, made again from what was seen of its lane.

Buffers live in the memory of a process, so this is what the process would hold if it got what we
saw: the newest messages of a channel up to the capacity, since the lane's last change of ID space
or the last reset that the replica told of. Source: reference/events-and-loops.md section 5.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from events.domain.profiles import ACTIVITY_PROFILES
from events.domain.replicas.resets import UNDECODABLE
from events.domain.replicas.versions import version_of
from events.domain.vouching import CLOCKS
from events.queries import messages, rows
from events.queries.lane_state import LaneCut
from events.queries.messages import Span
from events.queries.rows import Document
from kit import bulk

MOST = 5_000
"""Messages of a buffer that are read again, whatever its capacity."""
_COLUMNS = "ordinal, at, space, id, scope, form, length, fingerprint, leaf_index, place"
_NEWEST = (
    "FROM bus_message WHERE project_id = %s AND lane = %s AND scope = %s AND ordinal >= %s "
    "AND ordinal < %s AND at >= %s AND at <= %s AND space IN ({spaces}) AND id IS NOT NULL "
    "ORDER BY ordinal DESC LIMIT %s"
)


class Held(NamedTuple):
    """One message in a buffer, with its place in the lane and in the log."""

    ordinal: int
    at: int
    space: int
    id: int
    scope: str
    form: str
    length: int
    fingerprint: str
    leaf: int
    place: int


@dataclass(frozen=True, slots=True)
class Ring:
    """What a lane holds of a channel, in the order of arrival.

    `newest` are the messages that it is made of, newest first, with one that fell out where there
    is one. `spaces` are the ordinals of the ID spaces it is of, `space` the one that counts among
    them, None for a lane that nothing was seen of. `dropped_at` is when the replica last dropped
    the buffer, `reason` why, and `told_by` whether it said so or its messages tell. `junk` is the
    ordinal of the last message that could not be read, -1 for none.
    """

    held: Sequence[Held]
    newest: Sequence[Held] = ()
    epoch: str | None = None
    space: int | None = None
    spaces: Sequence[int] = ()
    dropped_at: int | None = None
    reason: str = ""
    told_by: str = "replica"
    junk: int = messages.NONE


NOTHING = Ring(())
_DROPPING = [one for one in ACTIVITY_PROFILES if version_of(one).ends_on_junk]
"""Whose replicas drop the buffer of a channel when they cannot read a message of it."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A buffer to be made again: of a channel, at a moment, of what was known below a leaf.

    `capacity` counts messages, `max_age` microseconds, None without a bound.
    """

    channel: str
    at: int
    end: int
    capacity: int
    max_age: int | None = None


def ring_of(project_id: int, lane: Document, cut: LaneCut | None, wanted: Wanted) -> Ring:
    """Give what a lane held, by the cut of it at that moment, as far as its messages are kept."""
    if cut is None:
        return NOTHING
    dropped_at, reason = dropped(project_id, lane, wanted)
    found = _newest(project_id, cut, wanted, (dropped_at or 0) - CLOCKS)
    junk, junk_at = _last_junk(project_id, cut, wanted, found)
    told_by = "replica"
    if lane["profile"] in _DROPPING and junk_at is not None:
        found = [one for one in found if one.ordinal > junk]
        if junk_at >= (dropped_at or 0):
            dropped_at, reason, told_by = junk_at, UNDECODABLE, "messages"
    oldest_at = 0 if wanted.max_age is None else wanted.at - wanted.max_age
    current = cut.facts.current
    return Ring(
        held=[one for one in found[: wanted.capacity] if one.at >= oldest_at][::-1],
        newest=found,
        epoch=None if current is None else current.epoch,
        space=None if current is None else current.ordinal,
        spaces=cut.facts.together,
        dropped_at=dropped_at,
        reason=reason,
        told_by=told_by,
        junk=junk,
    )


def _last_junk(
    project_id: int, cut: LaneCut, wanted: Wanted, found: Sequence[Held]
) -> tuple[int, int | None]:
    """Give ordinal and time of the last message that could not be read, of those since `found`."""
    span = Span(cut.span.lane, found[-1].ordinal if found else cut.span.end, cut.span.end)
    return messages.last_junk_at(project_id, span, wanted.channel, wanted.at)


def _newest(project_id: int, cut: LaneCut, wanted: Wanted, since: int) -> list[Held]:
    """Give the newest messages first: one more than the buffer holds, where there are so many."""
    spaces = cut.facts.together
    found = bulk.select_rows(
        f"SELECT {_COLUMNS} {_NEWEST.format(spaces=rows.marks(spaces))}",
        [project_id, cut.span.lane, wanted.channel, cut.span.first, cut.span.end, since,
         wanted.at, *spaces, min(wanted.capacity, MOST) + 1],
    )  # fmt: skip
    return [Held(*row) for row in found]


def dropped(project_id: int, lane: Document, wanted: Wanted) -> tuple[int | None, str]:
    """Give when, and why, the replica last told that it dropped the buffers of a channel.

    Replicas tell of resets of their activity bus; of no other can it be said which are its own.
    """
    if lane["profile"] not in ACTIVITY_PROFILES:
        return None, ""
    found = bulk.select_rows(
        "SELECT r.at, r.reason FROM bus_reset r JOIN bus b ON b.project_id = r.project_id "
        "AND b.installation_id = r.installation_id WHERE b.project_id = %s AND b.bus = %s "
        "AND r.replica = %s AND r.workspace IN (%s, '') AND r.at <= %s AND r.leaf_index < %s "
        "ORDER BY r.at DESC, r.leaf_index DESC, r.place DESC LIMIT 1",
        [project_id, lane["bus"], lane["replica"], wanted.channel, wanted.at, wanted.end],
    )
    return found[0] if found else (None, "")


def channels_of(project_id: int, lane: Document, most: int = 200) -> list[Document]:
    """Give the channels of a lane with their newest message, the one heard last first.

    It steps from name to name in the index, so a channel of a million messages costs one step.
    """
    own = [project_id, lane["source"]]
    found = rows.select(
        "m.scope, m.ordinal, m.at, m.id",
        "FROM c JOIN bus_message m ON m.project_id = %s AND m.lane = %s AND m.ordinal = "
        "(SELECT max(x.ordinal) FROM bus_message x WHERE x.project_id = %s AND x.lane = %s "
        "AND x.scope = c.scope AND x.ordinal < %s) ORDER BY m.ordinal DESC",
        [*own, *own, lane["messages"]],
        before=(_STEPS, [*own, *own, most]),
    )
    return found


_STEPS = (
    "WITH RECURSIVE c(scope, step) AS (SELECT (SELECT min(scope) FROM bus_message "
    "WHERE project_id = %s AND lane = %s), 1 UNION ALL SELECT (SELECT min(b.scope) "
    "FROM bus_message b WHERE b.project_id = %s AND b.lane = %s AND b.scope > c.scope), step + 1 "
    "FROM c WHERE c.scope IS NOT NULL AND step < %s)"
)
