"""A replica of Pad's activity bus: what it does with each message, cut and subscriber.

Source: reference/pad.md sections 3.1 to 3.5.
"""

from __future__ import annotations

from collections import Counter

from events.domain.records import HOLE, REPLAY, SECOND, Record
from events.domain.replicas import resets
from events.domain.replicas.answers import NO_BUFFER, SYNC_REQUIRED, Given, given, header_answer
from events.domain.replicas.hearing import Heard, heard, is_frame
from events.domain.replicas.resets import FollowedSpace, Step
from events.domain.replicas.ring import CAPACITY, Ring
from events.domain.replicas.subscribers import Subscriber, Subscription
from events.domain.replicas.versions import version_of
from events.domain.whole_numbers import int64_of

IDLE_LIMIT = 90 * SECOND


class Replica:
    """One process of a version, fed with decoded messages, cuts and subscribers.

    `resets` counts by reason as `pad_event_sequence_resets_total`, `resume_gaps` and `loop_exits`
    as their counters; `drops` are the events that full subscribers lost, which only the last
    version counts and older ones log. A reset of one workspace counts only where it held a buffer.
    """

    def __init__(
        self, version: str, *, capacity: int = CAPACITY, expects_frames: bool = False
    ) -> None:
        self.version = version_of(version)
        self.space = FollowedSpace(self.version)
        self.buffers: dict[str, Ring] = {}
        self.resets: Counter[str] = Counter()
        self.resume_gaps = self.loop_exits = self.drops = self.cycled = 0
        self._capacity = capacity
        self._expects_frames = expects_frames
        self._live: dict[str, Subscription] = {}
        self._generations = 0

    def follow(self, scope: str, at: int = 0) -> int:
        """Receive a workspace's channel from now on; give the subscription's generation."""
        if scope not in self._live:
            self._generations += 1
            self._live[scope] = Subscription(self._generations, at)
        return self._live[scope].generation

    def subscribe(self, scope: str, at: int = 0, limit: int = 0) -> Subscriber | None:
        """Open a stream, or give None when the workspace has its limit of them (0 is none)."""
        open_ones = self._live[scope].subscribers if scope in self._live else []
        if 0 < limit <= len(open_ones):
            return None
        self.follow(scope, at)
        subscriber = Subscriber(scope)
        self._live[scope].subscribers.append(subscriber)
        return subscriber

    def unsubscribe(self, subscriber: Subscriber) -> None:
        """Close a stream; with the last one of a workspace its buffer goes too."""
        live = self._live.get(subscriber.scope)
        if live is None or subscriber not in live.subscribers:
            return
        live.subscribers.remove(subscriber)
        subscriber.is_open = False
        if not live.subscribers:
            self._stop(subscriber.scope)
            self.buffers.pop(subscriber.scope, None)

    def close(self) -> None:
        """End all subscriptions and close all streams, as a process that ends does."""
        for scope in list(self._live):
            for one in self._live[scope].subscribers:
                one.is_open = False
            self._stop(scope)

    def take(self, record: Record, generation: int | None = None) -> None:
        """Take a message of a channel, by the subscription that received it or the live one.

        After a hole, in which the recorder did not watch its channel (or any, when it names none),
        nobody knows what the replica held: its buffer goes, and nothing is counted. Replayed
        messages are not received.
        """
        if record.source == REPLAY:
            return
        if record.form == HOLE:
            self._forget(record.scope)
            return
        live = self._live.get(record.scope)
        if live is None or generation not in (None, live.generation):
            return
        live.heard_at = record.at
        if is_frame(self.version, record):
            return
        message = heard(self.version, record)
        if message is not None:
            self._fan_out(live, message, record)
        elif self.version.ends_on_junk:
            self._end(record.scope, resets.UNDECODABLE)

    def reconnected(self, scope: str, generation: int | None = None) -> None:
        """Note that a connection was cut and resubscribed, as its receive loop learns it."""
        live = self._live.get(scope)
        if live is not None and generation in (None, live.generation):
            self._end(scope, resets.RESUMED)

    def unconfirmed(self, scope: str) -> None:
        """Note that a SUBSCRIBE was not acknowledged in time, which only the last version asks."""
        if scope in self._live and self.version.confirms:
            self._end(scope, resets.UNCONFIRMED)

    def tick(self, at: int, probe_ok: bool = True) -> None:
        """Replace subscriptions that fell silent, if frames are expected and Redis answers."""
        if not (self.version.reads_frames and self._expects_frames and probe_ok):
            return
        for scope, live in self._live.items():
            if at - live.heard_at > IDLE_LIMIT:
                self._generations += 1
                live.generation, live.heard_at = self._generations, at
                self.cycled += 1
                self._end(scope, resets.IDLE)

    def resume(self, scope: str, header: object) -> Given:
        """Answer a client by its Last-Event-ID header, given as text or number, or None."""
        return self._counted(self.would_resume(scope, header))

    def since(self, scope: str, cursor: int) -> Given:
        """Answer as the bus does beneath the header; cursor 0 asks for all that is held."""
        return self._counted(self._held(scope, cursor))

    def would_resume(self, scope: str, header: object) -> Given:
        """Tell what `resume` would answer, without counting it."""
        return header_answer(header) or self._held(scope, int64_of(header) or 0)

    def subscribe_and_replay(
        self, scope: str, header: object, at: int = 0
    ) -> tuple[Subscriber | None, Given]:
        """Open a stream and answer in one step, so that nothing comes both ways.

        Versions before the last take two steps, between which a message comes both ways.
        """
        return self.subscribe(scope, at), self.resume(scope, header)

    def _held(self, scope: str, cursor: int) -> Given:
        ring = self.buffers.get(scope)
        if ring is None:
            return given(None if cursor > 0 else (), NO_BUFFER)
        return ring.since(cursor)

    def _counted(self, found: Given) -> Given:
        self.resume_gaps += found.answer == SYNC_REQUIRED
        return found

    def _fan_out(self, live: Subscription, message: Heard, record: Record) -> None:
        holds = any(ring.ids for ring in self.buffers.values())
        step = self.space.step(message.epoch, record.at, holds)
        self._drop_all(step)
        if not step.is_taken:
            return
        ring = self._ring(record.scope)
        if self.space.is_backward(message.id, ring.high_water):
            self._drop_all(Step(reason=resets.COUNTER_BACKWARD, floor=resets.RAISE))
            ring = self._ring(record.scope)
        ring.append(message.id, record)
        for one in live.subscribers:
            if not one.offer(message.id):
                self.drops += 1
                one.is_signalled = self.version.signals

    def _ring(self, scope: str) -> Ring:
        if scope not in self.buffers:
            self.buffers[scope] = Ring(self._capacity, self.space.least_known)
        return self.buffers[scope]

    def _drop_all(self, step: Step) -> None:
        if step.reason is None:
            return
        self.space.drop(step.floor, [ring.high_water for ring in self.buffers.values()])
        self.buffers.clear()
        self.resets[step.reason] += 1
        for scope in self._live:
            self._signal(scope)

    def _end(self, scope: str, reason: str) -> None:
        """End the coverage of one workspace, if it held a buffer."""
        if self.buffers.pop(scope, None) is not None:
            self.resets[reason] += 1
            self._signal(scope)

    def _signal(self, scope: str) -> None:
        if self.version.signals:
            for one in self._live[scope].subscribers:
                one.is_signalled = True

    def _forget(self, scope: str) -> None:
        for one in [scope] if scope else list(self.buffers):
            self.buffers.pop(one, None)

    def _stop(self, scope: str) -> None:
        del self._live[scope]
        self.loop_exits += 1
