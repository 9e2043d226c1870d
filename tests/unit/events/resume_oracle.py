"""A second, slow telling of what replicas answer and what is safe, to hold the simulator against.

It shares no code with the product but the shape of a record, keeps no state between messages, and
looks at whole histories again for each question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from events.domain.records import Record

S = 1_000_000
Pair = tuple[int, int]


@dataclass
class History:
    """What one replica was sent (own) and another saw, each with its true space, -1 for none.

    `strays` are the places of records of which nothing told what space they are of.
    """

    own: list[tuple[Record, int]] = field(default_factory=list)
    other: list[tuple[Record, int]] = field(default_factory=list)
    strays: set[tuple[int, int]] = field(default_factory=set)
    now: int = 0


def is_read(version: str, one: Record) -> bool:
    """Tell whether a version makes an event of it."""
    if one.form not in ("bare", "prefixed") or one.id is None:
        return False
    if version == "v0":
        return one.form == "bare"
    if version == "v1":
        return one.form == "bare" or bool(one.epoch)
    numeric = one.form == "bare" or ((one.epoch or "").isdigit() and int(one.epoch or 0) > 0)
    return numeric and one.id > 0


class Instance:
    """An instance of a version: a list of everything it kept, by workspace."""

    def __init__(self, version: str, records: list[Record], capacity: int) -> None:
        self.version, self.capacity = version, capacity
        self.kept: dict[str, list[Record]] = {}
        self.known: dict[str, int] = {}
        self.epoch: str | None = None
        self.since = 0
        self.peak: int | None = None
        for one in records:
            self.get(one)

    def get(self, one: Record) -> None:
        if one.form == "hole":
            for scope in [one.scope] if one.scope else list(self.kept):
                self.kept.pop(scope, None)
        elif one.form == "frame" and self.version == "v3":
            return
        elif not is_read(self.version, one):
            if self.version in ("v2", "v3"):
                self.kept.pop(one.scope, None)
        elif self.takes_epoch(one):
            self.keep(one)

    def takes_epoch(self, one: Record) -> bool:
        if one.form == "bare" or one.epoch == self.epoch:
            return True
        lower = (
            self.version != "v1"
            and self.epoch is not None
            and int(one.epoch or 0) < int(self.epoch)
        )
        if lower and one.at - self.since < 30 * S:
            if self.kept:
                self.forget(self.peak or 0)
            return False
        if self.epoch is not None or self.kept:
            self.forget(0)
        self.epoch, self.since = one.epoch, one.at
        return True

    def forget(self, peak: int) -> None:
        self.kept, self.peak = {}, peak

    def keep(self, one: Record) -> None:
        armed = self.version == "v1" or (self.version in ("v2", "v3") and self.epoch is not None)
        held = self.kept.get(one.scope, [])
        if armed and held and (one.id or 0) <= (held[-1].id or 0):
            tops = [kept[-1].id or 0 for kept in self.kept.values()]
            self.forget(max([self.peak or 0, *tops]))
        if one.scope not in self.kept:
            self.known[one.scope] = self.first_known(one.id or 0)
        self.kept[one.scope] = [*self.kept.get(one.scope, []), one][-self.capacity :]

    def first_known(self, number: int) -> int:
        if self.peak is None:
            return number
        beyond = 2 if self.version == "v3" and self.peak else 1
        return max(number + 1, self.peak + beyond)

    def sends(self, scope: str, cursor: int) -> list[Record] | None:
        """Give the records it would send, or None for sync_required."""
        held = self.kept.get(scope)
        if cursor <= 0 or not held:
            return None
        oldest, newest = held[0].id or 0, held[-1].id or 0
        if cursor + 1 < self.known[scope] or cursor > newest:
            return None
        if cursor < oldest and len(held) == self.capacity:
            return None
        return [one for one in held if (one.id or 0) > cursor]


class Truth:
    """What was safe: worked out backwards from the whole history."""

    def __init__(self, version: str, history: History, scope: str, capacity: int) -> None:
        self.version, self.scope, self.capacity = version, scope, capacity
        own = [(one, space) for one, space in history.own if one.at <= history.now]
        self.own = own
        seen = own + [(one, n) for one, n in history.other if one.at <= history.now - 2 * S]
        self.strays = history.strays
        self.seen = [(one, n) for one, n in seen if n >= 0]
        sure = [(one, n) for one, n in self.seen if one.place not in self.strays]
        self.tops = {n: max(o.id or 0 for o, m in sure if m == n) for _, n in sure}
        self.epochs = {
            n: next((o.epoch for o, m in sure if m == n and o.epoch is not None), None)
            for _, n in sure
        }
        self.path = list(self.walk())
        self.settling = list(self.settles())
        self.space, self.entered = (self.path[-1][1], self.path[-1][0]) if self.path else (None, 0)
        started = own[self.entered][0].at if len(self.path) > 1 else 0
        ahead = [n for o, n in history.other if n >= 0 and started <= o.at <= history.now - 2 * S]
        self.behind = bool(ahead) and max(ahead) > (-1 if self.space is None else self.space)
        self.first: list[int | None] = [self.first_in(k) for k in range(1, len(self.path))]
        self.cover()

    def walk(self) -> Iterator[tuple[int, int]]:
        """Give the places in what it was sent where the lane entered a space, with the space."""
        current, since = None, 0
        for place, (one, space) in enumerate(self.own):
            if space < 0 or space == current or one.place in self.strays:
                continue
            if current is not None and space < current and one.at - since < 30 * S:
                continue
            since = one.at if current is not None else 0
            current = space
            yield place, space

    def settles(self) -> Iterator[int]:
        """Find the places of messages that show which life of the counter goes on."""
        current, since = None, 0
        for place, (one, space) in enumerate(self.own):
            if space < 0 or one.place in self.strays:
                continue
            if current is not None and space < current and one.at - since < 30 * S:
                continue
            if space != current:
                since = one.at if current is not None else 0
            current = space
            yield place

    def cover(self) -> None:
        """Find what the replica holds without a break, and from which id it can vouch."""
        since = self.entered
        for place, (one, space) in enumerate(self.own):
            if place >= self.entered and self.breaks(one, space):
                since = place
        run = self.run_since(since)
        self.low = None if self.behind else self.open_lows(since)
        ids = [one for one, _ in run]
        self.held = ids[-self.capacity :]
        self.floor = self.top = None
        if run and not self.behind:
            whole = {o.id or 0 for o, n in self.seen if n == self.space and o.scope == self.scope}
            lost = (whole - set(ids)) | self.gone_of(run)
            self.top = max(one for one, is_sure in run if is_sure)
            self.floor = ids[0]
            while any(number >= self.floor for number in lost):
                self.floor += 1

    def run_since(self, since: int) -> list[tuple[int, bool]]:
        """Give what came of the space in the channel with whether it is sure, from a sure one."""
        run: list[tuple[int, bool]] = []
        for one, space in self.own[since:]:
            is_sure = one.place not in self.strays
            is_here = one.scope == self.scope and is_read(self.version, one)
            if is_here and ((is_sure and space == self.space) or (run and not is_sure)):
                run.append((one.id or 0, is_sure))
        return run

    def gone_of(self, run: list[tuple[int, bool]]) -> set[int]:
        """Give the ids that fell out of the buffer, but for those beyond what was reached then."""
        gone = set()
        for place, (number, _) in enumerate(run[: -self.capacity]):
            then = run[: place + self.capacity + 1]
            if number <= max(one for one, is_sure in then if is_sure):
                gone.add(number)
        return gone

    def breaks(self, one: Record, space: int) -> bool:
        if one.form == "frame":
            return False
        if space < 0:
            return one.scope in ("", self.scope)
        unread = not is_read(self.version, one)
        is_here = space == self.space or one.place in self.strays
        return unread and one.scope == self.scope and is_here

    def open_lows(self, since: int) -> list[int] | None:
        """Give the ids that nothing settled yet and that came behind whatever broke, if any."""
        strays = [place for place, (one, _) in enumerate(self.own) if one.place in self.strays]
        if not strays or any(place > strays[-1] for place in self.settling):
            return None
        last = max((place for place in self.settling if place < strays[-1]), default=-1)
        return [
            one.id or 0
            for place, (one, _) in enumerate(self.own)
            if place in strays
            and place > max(last, since - 1)
            and one.scope == self.scope
            and is_read(self.version, one)
        ]

    def first_in(self, step: int) -> int | None:
        """Give the first id of the channel that was read between entering a space and leaving."""
        place, space = self.path[step]
        end = self.path[step + 1][0] if step + 1 < len(self.path) else len(self.own)
        for one, n in self.own[place:end]:
            is_sure = n == space and one.place not in self.strays
            if is_sure and one.scope == self.scope and is_read(self.version, one):
                return one.id
        return None

    def rule(self, cursor: int, epoch: str | None) -> str:
        """Answer by the text of the resume rule."""
        settled = self.settled_rule(cursor, epoch)
        if self.low is None or settled in ("fresh", "ambiguous"):
            return settled
        if epoch is not None and epoch != self.epochs.get(self.space or 0):
            return settled
        is_low = bool(self.low) and min(self.low) - 1 <= cursor <= max(self.low)
        return "ambiguous" if settled == "serve" or is_low else settled

    def settled_rule(self, cursor: int, epoch: str | None) -> str:
        """Answer as if no low id were open."""
        if cursor == 0:
            return "fresh"
        if self.floor is None or self.top is None:
            return "refuse"
        if epoch is not None and epoch != self.epochs[self.space or 0]:
            return "refuse"
        if cursor > self.top or cursor < self.floor - 1 or self.is_just_below_change(cursor):
            return "refuse"
        olds = [self.tops[space] for _, space in self.path[:-1]]
        if epoch is None and any(cursor <= one for one in olds):
            return "ambiguous"
        return "serve"

    def is_just_below_change(self, cursor: int) -> bool:
        if len(self.path) < 2 or self.floor is None or cursor != self.floor - 1:
            return False
        before, after = (self.epochs[self.path[n][1]] for n in (-2, -1))
        first = self.first[-1]
        return before != after and first is not None and self.floor <= first

    def missed(self, cursor: int, epoch: str | None, sent: list[Record]) -> list[Pair]:
        """Give what a client there lacks and would not get, by space and id."""
        space, number = self.place(cursor, epoch)
        gone = {
            (n, one.id or 0)
            for one, n in self.seen
            if one.scope == self.scope and (n > space or (n == space and (one.id or 0) > number))
        }
        arrived = {(n, o.id or 0) for o, n in self.own if any(o is one for one in sent)}
        return sorted(gone - arrived)

    def place(self, cursor: int, epoch: str | None) -> Pair:
        if epoch is not None:
            spaces = [n for n, known in self.epochs.items() if known == epoch]
        else:
            spaces = [n for n, top in self.tops.items() if top >= cursor]
            doubtful = self.settled_rule(cursor, None) == "ambiguous"
            is_refused = self.rule(cursor, None) == "refuse"
            doubtful = doubtful or (is_refused and self.is_refused_for_change(cursor))
            older = [n for n in spaces if n != self.space]
            spaces = older if doubtful and older else spaces
        return (max(spaces), cursor) if spaces else (self.space or 0, -1)

    def is_refused_for_change(self, cursor: int) -> bool:
        return self.top is not None and cursor <= self.top and self.is_just_below_change(cursor)


def expected(
    version: str, history: History, scope: str, capacity: int
) -> Iterator[tuple[int, str | None, str, str, str | None, list[Pair]]]:
    """Give each cursor and epoch worth asking, with both answers, the code and what is missed."""
    truth = Truth(version, history, scope, capacity)
    records = [one for one, _ in truth.own]
    instance = Instance(version, records, capacity)
    epochs = [None, "nobody's", *{known for known in truth.epochs.values() if known}]
    for cursor in range(max(truth.tops.values(), default=0) + 3):
        sent = instance.sends(scope, cursor)
        given = "refuse" if sent is None else "serve"
        for epoch in epochs:
            safe = truth.rule(cursor, epoch)
            code = {
                ("serve", "refuse"): "SILENT_SKIP",
                ("serve", "ambiguous"): "AMBIGUOUS_RESUME",
                ("refuse", "serve"): "NEEDLESS_RESYNC",
            }.get((given, safe))
            is_skip = code in ("SILENT_SKIP", "AMBIGUOUS_RESUME")
            missed = truth.missed(cursor, epoch, sent or []) if is_skip else []
            yield cursor, epoch, given, safe, code, missed
            if safe == "serve":
                later = truth.missed(cursor, epoch or truth.epochs[truth.space or 0], [])
                unheld = [n for m, n in later if m == truth.space and n not in truth.held]
                assert not unheld, "what the rule serves must be held"
