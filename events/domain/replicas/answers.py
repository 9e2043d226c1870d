"""What a replica answers to a client that resumes, and which of its own checks decided.

Source: reference/pad.md section 3.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from events.domain.records import Record
from events.domain.resume import FRESH, REFUSE, SERVE
from events.domain.whole_numbers import int64_of

REPLAY, CAUGHT_UP, SYNC_REQUIRED = "replay", "caught_up", "sync_required"

NO_HEADER, BAD_HEADER, BELOW_BASE, NO_BUFFER = "no_header", "bad_header", "below_base", "no_buffer"
BELOW_KNOWN, ABOVE_NEWEST, EVICTED, HELD = "below_known_from", "above_newest", "evicted", "held"
EMPTY, OUTRUN = "empty", "outrun"

SENTENCES = {
    NO_HEADER: "The client sent no Last-Event-ID, so nothing is replayed.",
    BAD_HEADER: "The Last-Event-ID is no whole number above 0.",
    BELOW_BASE: "The id was given out before this process started.",
    NO_BUFFER: "The replica holds no replay buffer for this channel.",
    BELOW_KNOWN: "The next id lies below the first that the replica vouches for.",
    ABOVE_NEWEST: "The id is above the newest one in the replay buffer.",
    EVICTED: "The id is below the oldest one in a replay buffer that is full.",
    HELD: "The replay buffer holds what came after the id.",
    EMPTY: "Nothing was published to this channel yet, and the client asks from the start.",
    OUTRUN: "The shared counter is at another id than this replica, even after the settle time.",
}
"""What each check says, for people."""


@dataclass(frozen=True, slots=True)
class Given:
    """An answer with the ids that it sends, in the order of their arrival, and what decided.

    `records` are the messages sent, where the replica was fed with records.
    """

    answer: str
    ids: tuple[int, ...]
    rule: str
    records: tuple[Record, ...] = field(default=(), compare=False)

    @property
    def clears_cursor(self) -> bool:
        """Tell whether an empty id goes with it, which makes a browser forget its cursor."""
        return self.answer == SYNC_REQUIRED

    @property
    def kind(self) -> str:
        """Give it in the resume rule's words: fresh, serve or refuse."""
        if self.answer == FRESH:
            return FRESH
        return REFUSE if self.answer == SYNC_REQUIRED else SERVE

    @property
    def sentence(self) -> str:
        """Say in a sentence what decided."""
        return SENTENCES[self.rule]


def given(ids: Sequence[int] | None, rule: str, records: Sequence[Record] = ()) -> Given:
    """Make the answer of what a buffer gave: None cannot be vouched for, empty is caught up."""
    if ids is None:
        return Given(SYNC_REQUIRED, (), rule)
    return Given(REPLAY if ids else CAUGHT_UP, tuple(ids), rule, tuple(records))


def header_answer(header: object) -> Given | None:
    """Give the answer that a Last-Event-ID has before any bus is asked, or None to ask one."""
    if header is None or header == "":
        return Given(FRESH, (), NO_HEADER)
    cursor = int64_of(header)
    return Given(SYNC_REQUIRED, (), BAD_HEADER) if cursor is None or cursor <= 0 else None
