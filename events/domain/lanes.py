"""One lane: what one replica of a bus received, message by message."""

from __future__ import annotations

from typing import Any

from events.domain import ahead, codes, forms, sizes, steps
from events.domain.channels import Channels
from events.domain.desk import Desk
from events.domain.epochs import Entry, Epochs
from events.domain.forms import Forms
from events.domain.lines import IDLE_WINDOW, NARROW_WINDOW, WINDOW, Key, Line, read_line
from events.domain.records import BARE, HOLE, JUNK, PREFIXED, Record
from events.domain.spaces import ADOPTED, EPOCH, INCARNATION, RESET

NOWHERE = -1
LINES, NARROW_LINES = 6, 64
_CHANGES = (codes.EPOCH_CHANGE, codes.EPOCH_CHANGE_PLANNED)


class Lane:
    """The state of one lane; `heard` is when its last message or frame came, `line` where it is."""

    __slots__ = (
        "_channels",
        "_is_plural",
        "_lines",
        "_may_split",
        "_scope",
        "desk",
        "epochs",
        "forms",
        "heard",
        "line",
    )

    def __init__(self, desk: Desk, state: dict[str, Any] | None = None) -> None:
        state = state or {}
        self.desk = desk
        self.heard: int = state.get("heard", 0)
        self.epochs = Epochs(state.get("epochs"))
        self.forms = Forms(state.get("forms"))
        self._channels = Channels(state.get("channels"))
        self._scope: str | None = state.get("scope")
        has_one = desk.settings.has_one_counter or self._channels.verdict is False
        self._may_split = desk.is_dense and not has_one
        lines = [read_line(one) for one in state.get("lines", ())]
        self._lines: dict[Key, Line] = {line.key: line for line in lines}
        current = state.get("line")
        self.line: Line | None = None if current is None else self._lines.get(tuple(current))
        self._is_plural = self._has_several_lines()

    def take(self, record: Record) -> int:
        """Take a record, and give the ordinal of its space, -1 for what belongs to none."""
        if record.at > self.heard:
            self.heard = record.at
        form = record.form
        if form not in (PREFIXED, BARE):
            return self._beside(record)
        number = record.id
        if number is None or number < 1:
            return NOWHERE
        if not self.forms.is_known(form):
            self.forms.note(self.desk, record)
        line = self.line
        if (
            line is None
            or record.epoch != self.epochs.token
            or number >= sizes.LARGE
            or line.era != self.epochs.era
            or self._is_plural
            or (self._may_split and record.scope != self._scope)
        ):
            return self._elsewhere(record)
        if record.epoch not in line.bands:
            self._bear(line, record)
        return steps.take(self.desk, line, record)

    def line_of(self, channel: str) -> Line | None:
        """Give the line that a head is to be held against: its channel's where each has its own."""
        line = self.line
        if not self._channels.are_split:
            return line if line is not None and line.era == self.epochs.era else None
        return self._lines.get((self.epochs.era, sizes.SMALL, channel))

    def _beside(self, record: Record) -> int:
        """Take what has no id: a frame, junk, or a time in which we did not watch."""
        if record.form == JUNK:
            forms.note_junk(self.desk, record)
        elif record.form == HOLE:
            self.heard = max(self.heard, record.until)
            for line in self._lines.values():
                ahead.unwatch(self.desk, line, record.at)
        return NOWHERE

    def _elsewhere(self, record: Record) -> int:
        """Take a record that may not belong to the line that the lane is in."""
        before = self.line
        points = before.points if before else 0
        entry = self.epochs.enter(self.desk.settings, record, points)
        line = self._find_line(entry, record)
        if record.epoch not in line.bands:
            self._bear(line, record)
        ordinal = line.bands[record.epoch]
        if entry.code:
            self._tell(entry, record, line, before, ordinal)
            # Two publishers with two tokens may share a counter: what this line did not see is
            # then no loss, but the other's.
            line.is_unwatched = True
            line.look()
        self._is_plural = self._has_several_lines()
        if line.base == sizes.JUNK:
            return self.desk.spaces.touch(ordinal, record.at, record.id or 0)
        if not entry.is_late:
            self._go_to(line)
        return steps.take(self.desk, line, record)

    def _go_to(self, line: Line) -> None:
        """Be in a line, and remember less of the one before."""
        if self.line is not line and not line.scope:
            if self.line is not None and not self.line.scope:
                self.line.resize(IDLE_WINDOW)
            line.resize(WINDOW)
        self.line = line

    def _find_line(self, entry: Entry, record: Record) -> Line:
        scope = self._scope_of(record)
        base = sizes.base_of(self.desk, self._lines, entry.era, scope, record)
        key = (entry.era, base, scope)
        line = self._lines.pop(key, None)
        if line is None:
            line = Line(key, record.id or 0, NARROW_WINDOW if scope else WINDOW)
            line.bands = self._shared_bands(key)
        self._lines[key] = line
        self._forget_lines()
        return line

    def _shared_bands(self, key: Key) -> dict[str | None, int]:
        """Give the spaces that a channel's own counter shares with those of other channels."""
        era, base, scope = key
        alike = (one for one in self._lines.values() if (one.era, one.base) == (era, base))
        known = next((one for one in alike if scope or one.scope), None)
        return dict(known.bands) if known else {}

    def _forget_lines(self) -> None:
        limit = NARROW_LINES if self._channels.are_split else LINES
        while len(self._lines) > limit:
            oldest = next(one for one in self._lines.values() if one is not self.line)
            del self._lines[oldest.key]

    def _scope_of(self, record: Record) -> str:
        """Give the channel whose counter an id belongs to, empty where all share one."""
        if not self._may_split or self._channels.verdict is False:
            return ""
        if self._scope is None:
            self._scope = record.scope
        if not self._channels.are_split:
            if record.scope == self._scope:
                return ""
            self._channels.begin(self._scope, self.line.high if self.line else 0)
        if self._channels.verdict is None:
            self._channels.note(record)
            if self._channels.verdict is False:
                self._rejoin()
        return record.scope if self._channels.are_split else ""

    def _rejoin(self) -> None:
        """Go on with one line for all channels, and blame nothing on what it did not see."""
        self._may_split = False
        for line in self._lines.values():
            if not line.scope:
                line.is_unwatched = True
                line.look()

    def _bear(self, line: Line, record: Record) -> None:
        """Begin the space of a line for what the wire calls by this epoch."""
        spaces, before = self.desk.spaces, line if line.bands else self.line
        kind = ADOPTED if record.epoch is None or not spaces.born else EPOCH
        if before is line and line.resets:
            kind = RESET
        if before is not None and before is not line and before.era == line.era:
            kind = INCARNATION
        parent = (before.band, before.high) if before is not None and before.bands else None
        number = record.id or 0
        line.bands[record.epoch] = spaces.bear(record.at, number, kind, record.epoch, parent)

    def _tell(
        self, entry: Entry, record: Record, line: Line, before: Line | None, ordinal: int
    ) -> None:
        """Tell of a token that differs from the lane's, once for all lanes of the bus."""
        pair = (entry.before, record.epoch or "")
        named = sorted(pair) if entry.code == codes.EPOCH_FLAP else pair
        high = before.high if before else 0
        facts: dict[str, str | int] = {"from": entry.before, "high": str(high), "space": ordinal}
        name, is_change = "\n".join((entry.code, *named)), entry.code in _CHANGES
        found = self.desk.incidents.note(name, entry.code, record, entry.rule, facts, is_change)
        if before is not None and not line.points and not entry.is_late:
            # From this id on the new life of the counter looks like progress of the old one.
            line.limit, line.limited = before.high, found

    def _has_several_lines(self) -> bool:
        has_large = any(line.base > sizes.SMALL for line in self._lines.values())
        return has_large or self._channels.are_split

    def state(self) -> dict[str, Any]:
        """Give it as JSON."""
        return {
            "heard": self.heard,
            "epochs": self.epochs.state(),
            "forms": self.forms.state(),
            "channels": self._channels.state(),
            "scope": self._scope,
            "lines": [line.state() for line in self._lines.values()],
            "line": list(self.line.key) if self.line else None,
        }
