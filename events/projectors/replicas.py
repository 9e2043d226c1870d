"""Replicas as they tell of themselves: phases, counters and resets."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from events.domain.told import names
from events.domain.told.answers import ResumeTold
from events.domain.told.surroundings import ReplicaTold
from events.projectors.book import Book
from events.projectors.rows import ReplicaRow
from kit import bulk

_PHASE = (
    "project_id", "installation_id", "replica", "leaf_index", "at", "phase", "heartbeat_phase",
)  # fmt: skip
_METRIC = ("project_id", "installation_id", "replica", "name", "leaf_index", "at", "value")
_RESET = (
    "project_id", "leaf_index", "place", "installation_id", "installation", "replica", "at",
    "reason", "word", "workspace", "fields",
)  # fmt: skip
_NEWEST = (
    "SELECT name, value FROM bus_metric m WHERE project_id = %s AND installation_id = %s "
    "AND replica = %s AND leaf_index = (SELECT max(o.leaf_index) FROM bus_metric o "
    "WHERE o.project_id = m.project_id AND o.installation_id = m.installation_id "
    "AND o.replica = m.replica AND o.name = m.name) AND name IN ({values})"
)
_DROPPED = (
    "SELECT max(at) FROM bus_reset WHERE project_id = %s AND installation_id = %s "
    "AND replica = %s AND workspace IN (%s, '') AND at <= %s"
)
Owner = tuple[str, str]


@dataclass(slots=True)
class Replicas:
    """The samples of a batch."""

    project_id: int
    rows: Book[ReplicaRow] = field(init=False)
    _values: dict[Owner, dict[str, float | None]] = field(default_factory=dict)
    _phases: list[tuple[Any, ...]] = field(default_factory=list)
    _metrics: list[tuple[Any, ...]] = field(default_factory=list)
    _resets: list[tuple[Any, ...]] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Start with nothing loaded."""
        self.rows = Book(self.project_id, "bus_replica", ReplicaRow, 2)

    def take(self, told: ReplicaTold, leaf: int) -> None:
        """Take what a replica told at once."""
        owner = (names.installation_id(told.installation), told.replica)
        before = self.rows.find(*owner)
        row = before or ReplicaRow(*owner, told.installation, "", "", "", None, told.at, leaf, leaf)
        phases = (row.phase, row.heartbeat_phase)
        row.sampled_at, row.last_leaf = max(row.sampled_at, told.at), leaf
        row.phase = row.phase if told.phase is None else told.phase
        if told.heartbeat_phase is not None:
            row.heartbeat_phase = told.heartbeat_phase
        row.namespace = row.namespace if told.namespace is None else told.namespace
        row.started_at = row.started_at if told.started_at is None else told.started_at
        self.rows.put(row)
        if before is None or phases != (row.phase, row.heartbeat_phase):
            place = (self.project_id, *owner, leaf, told.at)
            self._phases.append((*place, row.phase, row.heartbeat_phase))
        self._take_metrics(owner, told, leaf)
        self._take_resets(owner, told, leaf)

    def _take_metrics(self, owner: Owner, told: ReplicaTold, leaf: int) -> None:
        """Note each counter whose value is another than before."""
        known = self._known(owner, told)
        for name, value in told.metrics.items():
            if known[name] != value:
                known[name] = value
                self._metrics.append((self.project_id, *owner, name, leaf, told.at, value))

    def _known(self, owner: Owner, told: ReplicaTold) -> dict[str, float | None]:
        known = self._values.setdefault(owner, {})
        unknown = [name for name in told.metrics if name not in known]
        known.update(dict.fromkeys(unknown))
        known.update(bulk.select_in(_NEWEST, [self.project_id, *owner], unknown))
        return known

    def _take_resets(self, owner: Owner, told: ReplicaTold, leaf: int) -> None:
        for place, one in enumerate(told.resets):
            self._resets.append(
                (
                    self.project_id, leaf, place, owner[0], told.installation, told.replica,
                    one.at, one.reason, one.word, one.workspace, one.fields,
                )
            )  # fmt: skip

    def dropped_at(self, told: ResumeTold) -> int | None:
        """Give when the replica of an answer last told that it dropped the channel's buffer.

        Replicas tell of resets of their activity bus; of no other can it be said which are its own.
        """
        owner = (names.installation_id(told.bus.installation), told.replica)
        ((stored,),) = bulk.select_rows(_DROPPED, [self.project_id, *owner, told.channel, told.at])
        fresh = (
            row[6] for row in self._resets
            if (row[3], row[5]) == owner and row[9] in (told.channel, "") and row[6] <= told.at
        )  # fmt: skip
        return max((one for one in (stored, *fresh) if one is not None), default=None)

    def write(self) -> None:
        """Write what the batch came to."""
        self.rows.write()
        bulk.insert_rows("bus_phase", _PHASE, self._phases)
        bulk.insert_rows("bus_metric", _METRIC, self._metrics)
        bulk.insert_rows("bus_reset", _RESET, self._resets)
