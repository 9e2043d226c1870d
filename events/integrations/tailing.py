"""One run of a tail: its parts put together, from the first connection to the last segment."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from events.domain import key_values
from events.domain.recording import Recorded
from events.integrations import lane_lock, listener, tail_place
from events.integrations.key_samples import KeySampler
from events.integrations.listener import Say, Subscription
from events.integrations.replica_samples import LogFile, MetricsPage
from events.integrations.sampling import Sampler, Sampling
from events.integrations.sources import ChannelSource, Source
from events.integrations.stream_source import StreamSource
from events.integrations.tail import Tail, Totals
from events.integrations.tail_writer import TailWriter
from events.integrations.watched import Rows, Watched

SHOWN = 10


@dataclass(frozen=True, slots=True)
class Beside:
    """What is sampled beside the bus: metrics as (address, replica), logs as (file, replica)."""

    metrics: Sequence[tuple[str, str]] = ()
    logs: Sequence[tuple[Path, str]] = ()
    token: str = ""


def follow(
    watched: Watched,
    beside: Beside,
    folder: Path,
    say: Say,
    stop: threading.Event,
    seconds: float | None,
) -> Totals:
    """Watch until told to stop, or for so long.

    `folder` takes what the store is too slow for. Raises Unreachable, Refused or NotPermitted
    when the first connection fails, NotStored when the ledger could not be written at the end, and
    LaneTaken when another tail fills the lane.
    """
    with lane_lock.taken(folder, watched):
        return _follow(watched, beside, folder, say, stop, seconds)


def _follow(
    watched: Watched,
    beside: Beside,
    folder: Path,
    say: Say,
    stop: threading.Event,
    seconds: float | None,
) -> Totals:
    place = tail_place.open_place(
        watched.project_id, watched.installation, watched.bus, watched.replica
    )
    source, keys = open_source(watched, place.entry, folder, say), _key_sampler(watched)
    with closing(source), closing(keys):
        source.connect()
        tail = Tail(watched, source, TailWriter(place), _sampling(watched, beside, keys, say), say)
        keys.channels = tail.rows.channels
        return tail.run(stop, seconds)


def look(
    watched: Watched, folder: Path, say: Say, stop: threading.Event, seconds: float
) -> Iterator[tuple[str, Recorded]]:
    """Yield the first ten messages with their channels, and store nothing.

    Raises Unreachable, Refused or NotPermitted when the connection fails.
    """
    shown = 0
    ends_at = time.monotonic() + seconds
    made = Rows(watched)
    with closing(open_source(watched, "", folder, say)) as source:
        source.connect()
        source.start()
        while shown < SHOWN and not stop.is_set() and time.monotonic() < ends_at:
            for batch in source.take(0.2):
                for recorded in made.of_batch(batch):
                    if shown < SHOWN:
                        shown += 1
                        yield recorded.row.scope, recorded


def open_source(watched: Watched, entry: str, folder: Path, say: Say) -> Source:
    """Open the source that the settings of a bus name."""
    if watched.settings.stream:
        return StreamSource(watched.address, watched.settings.stream, entry, say)
    return ChannelSource(watched.address, _subscription(watched), folder, say)


def _subscription(watched: Watched) -> Subscription:
    if watched.settings.channels:
        return listener.subscription_of(watched.settings.channels)
    # By pattern, so that the tail is not counted among the subscribers of the watch bus's channel.
    return Subscription(watched.channels, is_by_pattern=True)


def _key_sampler(watched: Watched) -> KeySampler:
    keys = key_values.keys_of(watched.settings.profile, watched.namespace)
    return KeySampler(watched.address, watched.installation, watched.bus, keys)


def _sampling(watched: Watched, beside: Beside, keys: KeySampler, say: Say) -> Sampling:
    installation = watched.installation
    samplers: list[Sampler] = [keys]
    samplers += [MetricsPage(url, installation, one, beside.token) for url, one in beside.metrics]
    samplers += [LogFile(path, installation, one) for path, one in beside.logs]
    return Sampling(samplers, say)
