"""What a person says of a bus: the table `[bus.X]` of the sources file, or a configure act.

Source: contract section 10, design section 2 (bus density and profile are receipts).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from events.domain import profiles
from events.domain.bus_members import JSON, READERS, STREAM, Values
from ledger.domain import plain

BUFFER_EVENTS = 1_024
KEEP_MESSAGES = 1_000_000
BESIDE = frozenset({"redis", "redis_env", "namespace", "installation", "replica", "metrics", "log"})
"""What a table may say besides of where the bus is and who watches; read elsewhere."""
_OF_GENERIC = ("form", "id", "epoch", "channel", "heartbeat", "stream")


class BadSettings(ValueError):
    """The settings of a bus cannot be read; each fault says what is wrong and what to write."""

    def __init__(self, faults: tuple[str, ...]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class BusSettings:
    """How a bus is read, drawn and kept.

    `id`, `epoch` and `channel` are paths of a generic bus, empty where there is none; `mask` is
    None where nobody has said what is personal.
    """

    bus: str
    profile: str
    density: str
    channels: tuple[str, ...] = ()
    stream: str = ""
    form: str = JSON
    id: str = ""
    epoch: str = ""
    channel: str = ""
    heartbeat: str = ""
    mask: tuple[str, ...] | None = None
    buffer_events: int = BUFFER_EVENTS
    buffer_seconds: int | None = None
    keep_messages: int = KEEP_MESSAGES

    def as_json(self) -> Values:
        """Give the settings as a configure act holds them; reading them gives the same again."""
        texts = ("stream", "id", "epoch", "channel", "heartbeat")
        seconds = {} if self.buffer_seconds is None else {"seconds": self.buffer_seconds}
        return {
            "profile": self.profile,
            "density": self.density,
            **({"channels": list(self.channels)} if self.channels else {}),
            **({"form": self.form} if self.profile == profiles.GENERIC else {}),
            **{name: getattr(self, name) for name in texts if getattr(self, name)},
            **({} if self.mask is None else {"mask": list(self.mask)}),
            "buffer": {"events": self.buffer_events, **seconds},
            "keep": {"messages": self.keep_messages},
        }


def read_table(bus: str, table: Mapping[str, Any]) -> BusSettings:
    """Read the table of a bus; raises BadSettings, which names each fault."""
    values, faults = _values(table)
    unknown = table.keys() - READERS.keys() - BESIDE
    faults += [f"{name}: is no setting of a bus; leave it out" for name in sorted(unknown)]
    settings = _settings(bus, values)
    faults += _conflicts(settings, values) if not faults else []
    if faults:
        raise BadSettings(tuple(f"bus.{bus}.{fault}" for fault in faults))
    return settings


def settings_of(bus: str, told: object, profile: str = "") -> BusSettings:
    """Read what a configure act says; what cannot be read, or is not known, counts as not said.

    `profile` is the one that a segment names, which holds where the act names none.
    """
    values, _ = _values(plain.object_of(told))
    return _settings(bus, values, profile)


def _values(table: Mapping[str, Any]) -> tuple[Values, list[str]]:
    values: Values = {}
    faults = []
    for name, read in READERS.items():
        if name in table:
            try:
                values |= read(name, table[name])
            except ValueError as error:
                faults.append(str(error))
    return values, faults


def _settings(bus: str, values: Values, told: str = "") -> BusSettings:
    profile = values.get("profile") or profiles.find_profile(told) or _guess(bus, values)
    form = values.get("form") or (STREAM if values.get("stream") else JSON)
    # The id of a stream's entry is a time, so that one hardly ever follows another.
    is_dated = form == STREAM and not values.get("id")
    usual = profiles.SPARSE if is_dated else profiles.default_density(profile)
    density = values.get("density") or usual
    return BusSettings(bus, **{**values, "profile": profile, "form": form, "density": density})


def _guess(bus: str, values: Values) -> str:
    is_described = any(values.get(name) for name in _OF_GENERIC)
    return profiles.GENERIC if is_described else profiles.default_profile(bus)


def _conflicts(settings: BusSettings, values: Values) -> list[str]:
    if settings.profile != profiles.GENERIC:
        named = [name for name in _OF_GENERIC if values.get(name)]
        reads = f"profile {settings.profile} has a form of its own"
        return [f'{name}: {reads}; leave it out, or write profile = "generic"' for name in named]
    faults = []
    if not settings.channels and not settings.stream:
        faults.append('channels: says where to listen; write channels = ["events:*"] or a stream')
    if settings.stream and settings.form != STREAM:
        faults.append('form: a stream has entries; write form = "stream", or channels')
    if settings.form == STREAM and not settings.stream:
        faults.append('stream: names the stream to read; write stream = "events"')
    if settings.form == JSON and not settings.id:
        faults.append('id: says where an event has its number; write id = "$.seq"')
    return faults
