"""What a lane may answer to a client that resumes: the rule, and the part of it that spoke.

Source: reference/events-and-loops.md section 4, resume rule; cursors as reference/pad.md 3.5 reads
them. The first rule that matches wins, and only equality of epochs means anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from events.domain.whole_numbers import int64_of

FRESH, SERVE, REFUSE, AMBIGUOUS = "fresh", "serve", "refuse", "ambiguous"
EPOCH, RESET = "epoch", "reset"

NO_CURSOR, CURSOR_ZERO, BAD_CURSOR = "no_cursor", "cursor_zero", "bad_cursor"
COLD, OTHER_EPOCH, ABOVE_HIGH_WATER = "cold", "other_epoch", "above_high_water"
BELOW_FLOOR, AFTER_EPOCH_CHANGE = "below_floor", "after_epoch_change"
NUMBER_IN_TWO_SPACES, UNSETTLED, COVERED = "number_in_two_spaces", "unsettled", "covered"

SENTENCES = {
    NO_CURSOR: "The client names no cursor, so it does not resume.",
    CURSOR_ZERO: "Cursor 0 is no place to resume from.",
    BAD_CURSOR: "The cursor is no whole number from 0 to 2^63-1, so it names no place.",
    COLD: "The lane has received nothing that it could vouch for.",
    OTHER_EPOCH: "The cursor names another epoch than the lane's.",
    ABOVE_HIGH_WATER: "The cursor is above the newest id that the lane received.",
    BELOW_FLOOR: "The cursor is more than one below the lowest id that the lane can vouch for.",
    AFTER_EPOCH_CHANGE: (
        "The cursor is one below the first id after an epoch change, so it may be of the epoch"
        " before."
    ),
    NUMBER_IN_TWO_SPACES: "The number exists in an earlier ID space too, and no epoch tells which.",
    UNSETTLED: (
        "An id far below the newest one came last, and nothing tells yet whether it is late or the"
        " counter began anew."
    ),
    COVERED: "The lane holds everything after the cursor.",
}
"""What each rule says, for people."""


@dataclass(frozen=True, slots=True)
class Boundary:
    """Where one ID space followed another: the greatest id of the old one, and what changed.

    `epoch` is that of the old space. `first` is the first id that the lane received in the new
    one; while it is unknown, the newest change of epoch counts as just behind the floor.
    """

    old_high_water: int
    kind: str
    epoch: str | None = None
    first: int | None = None


@dataclass(frozen=True, slots=True)
class Lane:
    """What a lane can vouch for in its ID space, in one channel: the ids from floor to high-water.

    A lane that holds nothing more has its floor one above its high-water mark. Boundaries are in
    the order of time. `unsettled` are the ids of the channel that came last and that are either
    late or of the counter's next life; None says that there are none, and an empty list that
    they went to other channels of the same counter.
    """

    epoch: str | None
    floor: int
    high_water: int
    cold: bool = False
    boundaries: Sequence[Boundary] = ()
    unsettled: Sequence[int] | None = None

    @property
    def lowest_safe(self) -> int:
        """Give the lowest cursor that misses nothing: one below the floor, or the floor itself.

        Right after an epoch change the number below the floor may be the old epoch's.
        """
        return self.floor if self._starts_at_change() else self.floor - 1

    def _starts_at_change(self) -> bool:
        newest = self.boundaries[-1] if self.boundaries else None
        if newest is None or newest.kind != EPOCH:
            return False
        return newest.first is None or self.floor <= newest.first

    def may_be_next_life(self, cursor: int) -> bool:
        """Tell whether a cursor is a place in what may be the counter's next life."""
        low = self.unsettled
        return bool(low) and min(low or ()) - 1 <= cursor <= max(low or ())

    def is_older_number(self, cursor: int) -> bool:
        """Tell whether an earlier ID space reached this number."""
        return any(cursor <= one.old_high_water for one in self.boundaries)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is safe to answer, and the name of the rule that says so."""

    answer: str
    rule: str

    @property
    def sentence(self) -> str:
        """Say the rule in a sentence."""
        return SENTENCES[self.rule]

    @property
    def names_no_place_here(self) -> bool:
        """Tell whether the cursor is of another ID space than the lane's, or of none."""
        return self.rule in (BAD_CURSOR, OTHER_EPOCH, AFTER_EPOCH_CHANGE)


def answer(lane: Lane, cursor: object, epoch: str | None = None) -> Answer:
    """Tell what is safe to answer to a cursor, given as number or text, bare or with its epoch.

    Whatever the cursor is, this answers; None and the empty text are no cursor.
    """
    if cursor is None or cursor == "":
        return Answer(FRESH, NO_CURSOR)
    number = cursor_number(cursor)
    if number is None:
        return Answer(REFUSE, BAD_CURSOR)
    if number == 0:
        return Answer(FRESH, CURSOR_ZERO)
    refused = _refusal(lane, number, epoch)
    if refused is not None:
        is_open = epoch in (None, lane.epoch) and lane.may_be_next_life(number)
        return Answer(AMBIGUOUS, UNSETTLED) if is_open else Answer(REFUSE, refused)
    if epoch is None and lane.is_older_number(number):
        return Answer(AMBIGUOUS, NUMBER_IN_TWO_SPACES)
    return Answer(SERVE, COVERED) if lane.unsettled is None else Answer(AMBIGUOUS, UNSETTLED)


def cursor_number(cursor: object) -> int | None:
    """Read a cursor, or give None for what is no whole number from 0 to 2^63-1.

    Texts are read as Go reads integers: ASCII digits with an optional sign, and nothing around.
    """
    number = int64_of(cursor)
    return None if number is None or number < 0 else number


def _refusal(lane: Lane, cursor: int, epoch: str | None) -> str | None:
    if lane.cold:
        return COLD
    if epoch is not None and epoch != lane.epoch:
        return OTHER_EPOCH
    if cursor > lane.high_water:
        return ABOVE_HIGH_WATER
    if cursor < lane.floor - 1:
        return BELOW_FLOOR
    return AFTER_EPOCH_CHANGE if cursor < lane.lowest_safe else None
