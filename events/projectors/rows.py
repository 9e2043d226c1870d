"""The rows of buses and lanes as dataclasses; the models say what each column means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class InstallationRow:
    """One installation."""

    installation: str
    name: str
    alias_of: str
    alias_leaf: int | None
    since_leaf: int
    last_leaf: int


@dataclass(slots=True)
class BusRow:
    """One bus."""

    bus: str
    installation_id: str
    installation: str
    name: str
    profile: str
    density: str
    settings: str
    settings_leaf: int | None
    first_leaf: int
    last_leaf: int
    from_at: int
    to_at: int
    last_at: int | None = None
    messages: int = 0
    frames: int = 0
    junk: int = 0
    refused: int = 0
    late: int = 0


@dataclass(slots=True)
class LaneRow:
    """One lane."""

    lane: str
    bus: str
    installation: str
    bus_name: str
    replica: str
    profile: str
    first_leaf: int
    last_leaf: int
    from_at: int
    to_at: int
    incarnation: str = ""
    n: int | None = None
    last_at: int | None = None
    frame_at: int | None = None
    messages: int = 0
    kept_from: int = 0
    segments: int = 0
    frames: int = 0
    junk: int = 0
    holes: int = 0
    refused: int = 0
    late: int = 0
    spaces: int = 0
    space: int | None = None
    epoch: str | None = None
    high_water: int | None = None
    form: str = ""


STEP = (
    "profile", "incarnation", "n", "from_at", "to_at", "last_at", "frame_at", "messages",
    "kept_from", "segments", "frames", "junk", "holes", "refused", "late", "spaces", "space",
    "epoch", "high_water", "form",
)  # fmt: skip
"""The columns of a lane that each of its segments may change, kept with each step of it."""


@dataclass(slots=True)
class SpaceRow:
    """One ID space of a lane."""

    lane: str
    ordinal: int
    bus: str
    epoch: str | None
    kind: str
    born_at: int
    last_at: int
    first: int | None
    last: int | None
    least: int | None
    greatest: int | None
    count: int
    parent: int | None
    switch_id: int | None
    born_leaf: int
    last_leaf: int
    turned_leaf: int | None = None
    was_kind: str = ""
    was_born_at: int | None = None
    was_first: int | None = None

    def turn_from(self, before: SpaceRow, leaf: int) -> None:
        """Keep what it was below a leaf at which it turned out to be something else."""
        if before.kind != self.kind:
            self.turned_leaf, self.was_kind = leaf, before.kind
            self.was_born_at, self.was_first = before.born_at, before.first
        else:
            self.turned_leaf, self.was_kind = before.turned_leaf, before.was_kind
            self.was_born_at, self.was_first = before.was_born_at, before.was_first


@dataclass(slots=True)
class MinuteRow:
    """What one minute added to one ID space."""

    lane: str
    minute: int
    space: int
    first: int | None = None
    last: int | None = None
    least: int | None = None
    greatest: int | None = None
    count: int = 0

    def add(self, number: int | None) -> None:
        """Count a message with its id, which may be none."""
        self.count += 1
        if number is None:
            return
        if self.first is None or self.least is None or self.greatest is None:
            self.first = self.least = self.greatest = number
        self.last = number
        self.least = min(self.least, number)
        self.greatest = max(self.greatest, number)


@dataclass(slots=True)
class SegmentRow:
    """What one segment added to one ID space."""

    lane: str
    leaf_index: int
    space: int
    from_at: int
    to_at: int
    first: int | None
    last: int | None
    least: int | None
    greatest: int | None
    count: int
    first_ordinal: int
    last_ordinal: int


@dataclass(slots=True)
class FindingRow:
    """One form of a finding."""

    finding: str
    leaf_index: int
    origin: str
    code: str
    severity: str
    at: int
    due_at: int
    closed_at: int | None
    bus: str
    lane: str
    installation: str
    bus_name: str
    replica: str
    scope: str
    space: int
    epoch: str | None
    event_id: str | None
    rule: str
    facts: str
    until_leaf: int | None
    opened_leaf: int


@dataclass(slots=True)
class SettingRow:
    """One act on a bus or an installation."""

    subject: str
    leaf_index: int
    verb: str
    target: str
    data: str
    at: int
    actor: str


@dataclass(slots=True)
class StateRow:
    """Where the detectors of a bus stand."""

    bus: str
    state: str


@dataclass(slots=True)
class KeyRow:
    """A key as it was from one sample on."""

    installation_id: str
    bus_name: str
    name: str
    leaf_index: int
    until_leaf: int | None
    installation: str
    role: str
    type: str
    value_class: str
    ttl_s: int | None
    value: str | None
    sampled_at: int
    seen_at: int
    seen_leaf: int


@dataclass(slots=True)
class SampleRow:
    """The newest sample of a bus's keys."""

    installation_id: str
    bus_name: str
    installation: str
    policy: str
    channels: str
    sampled_at: int
    leaf_index: int


@dataclass(slots=True)
class ReplicaRow:
    """A replica and what it last told of itself."""

    installation_id: str
    replica: str
    installation: str
    phase: str
    heartbeat_phase: str
    namespace: str
    started_at: int | None
    sampled_at: int
    first_leaf: int
    last_leaf: int


@dataclass(slots=True)
class HeadRow:
    """The newest head that was sampled at a node."""

    bus: str
    channel: str
    node: str
    epoch: str
    head: int | None
    at: int
    leaf_index: int
