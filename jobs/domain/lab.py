"""The key lab: stored attempts gone through again under another recipe.

Attempts come in the order in which they happened. An attempt is skipped when the newest run with
its key stands in its way by the recipe; else it runs, and is from then on the newest with its key.
A skipped attempt that would have run never ran, so nobody knows how it would have ended: it is
taken as completed, and decisions that rest on such a one are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from jobs.domain.attempts import RACED, RAN, RULED, SKIPPED
from jobs.domain.fields import Shape
from jobs.domain.meetings import Differs, Meeting, differing, is_across, meet
from jobs.domain.recipes import Plan, Recipe, Row, plan

LEAF: Final = 0
AT: Final = 1
SHAPE: Final = 2
VALUES: Final = 3
OUTCOME: Final = 4
GONE: Final = 7
REENTRY = "macrostep"
_JUDGED = frozenset({RAN, SKIPPED})
_UNJUDGED = {RULED: "by_rule", RACED: "lock_contended"}


@dataclass(frozen=True, slots=True)
class Flip:
    """An attempt that would have come out otherwise.

    `rule` says why: `held` for one that would be skipped, else what lets it run. `differs` holds
    the fields that the holder has otherwise: name, value here, value there.
    """

    leaf: int
    at: int
    was: str
    now: str
    rule: str
    shape: Shape
    values: str
    holder: int | None = None
    held_at: int | None = None
    holder_ran: bool = True
    is_across_recipes: bool = False
    differs: Differs = ()


@dataclass(slots=True)
class Result:
    """What a recipe would have made of the attempts: exact counts, and samples of the flips."""

    attempts: int = 0
    ran: int = 0
    skipped: int = 0
    would_run: int = 0
    would_skip: int = 0
    unjudged: Counter[str] = field(default_factory=Counter)
    lacking: Counter[str] = field(default_factory=Counter)
    rules: Counter[str] = field(default_factory=Counter)
    differing: Counter[str] = field(default_factory=Counter)
    lost: int = 0
    to_run: int = 0
    to_skip: int = 0
    across_recipes: int = 0
    assumed: int = 0
    first_at: int | None = None
    last_at: int | None = None
    samples_to_run: list[Flip] = field(default_factory=list)
    samples_to_skip: list[Flip] = field(default_factory=list)

    def flips(self, limit: int) -> list[Flip]:
        """Give at most `limit` samples, of both directions where both are there, in order."""
        half = limit // 2
        runs = self.samples_to_run[: max(half, limit - len(self.samples_to_skip))]
        skips = self.samples_to_skip[: limit - len(runs)]
        return sorted([*runs, *skips], key=lambda one: (one.at, one.leaf))


class Replay:
    """One recipe and what it has made of the attempts so far."""

    def __init__(self, recipe: Recipe, shapes: dict[int, Shape], limit: int = 50) -> None:
        """Know the shapes of all attempts to come; keep `limit` samples of each direction."""
        self.result = Result()
        self._limit = limit
        self._meetings: dict[tuple[int, int], Meeting] = {}
        self._plans = {number: plan(recipe, shape) for number, shape in shapes.items()}
        groups: dict[tuple[str, ...], dict[str, Row]] = {}
        for one in self._plans.values():
            one.held = groups.setdefault(one.group, {})

    def take(self, rows: Iterable[Row]) -> None:
        """Go through the next attempts."""
        plans = self._plans
        fresh = kept = 0
        for row in rows:
            one = plans[row[SHAPE]]
            if one.lacks or row[OUTCOME] not in _JUDGED:
                self._leave(row, one)
                continue
            key = one.pick(row[VALUES])
            holder = one.held.get(key)
            if holder is None:
                rule = "none"
            else:
                is_plain = one.always and holder[GONE] is None
                rule = "" if is_plain else one.blocks(holder, row[AT])
            if rule:
                one.held[key] = row
                fresh += 1
                if row[OUTCOME] == SKIPPED:
                    self._runs(row, one, rule, holder)
            elif holder is not None:
                kept += 1
                if row[OUTCOME] == RAN or holder[OUTCOME] != RAN:
                    self._is_skipped(row, one, holder)
        self.result.would_run += fresh
        self.result.would_skip += kept

    def finish(self, first_at: int | None, last_at: int | None, counts: Counter[str]) -> Result:
        """Give the result, with what was counted of the attempts themselves."""
        result = self.result
        result.first_at, result.last_at = first_at, last_at
        for meeting in self._meetings.values():
            result.across_recipes += meeting.is_across * meeting.patterns.total()
            for names, count in meeting.differing():
                result.lost += count * (REENTRY in names)
                result.differing.update(dict.fromkeys(names, count))
        result.attempts = sum(counts.values())
        result.ran = counts[RAN]
        result.skipped = result.attempts - counts[RAN]
        return result

    def _leave(self, row: Row, one: Plan) -> None:
        reason = _UNJUDGED.get(row[OUTCOME], "lacks")
        self.result.unjudged[reason] += 1
        if reason == "lacks":
            self.result.lacking[one.lacks] += 1

    def _runs(self, row: Row, one: Plan, rule: str, holder: Row | None) -> None:
        result = self.result
        result.to_run += 1
        result.rules[rule] += 1
        if len(result.samples_to_run) < self._limit:
            result.samples_to_run.append(self._flip(row, one, rule, holder))

    def _is_skipped(self, row: Row, one: Plan, holder: Row) -> None:
        result = self.result
        if holder[OUTCOME] != RAN:
            result.assumed += 1
        if row[OUTCOME] != RAN:
            return
        result.to_skip += 1
        pair = row[SHAPE], holder[SHAPE]
        meeting = self._meetings.get(pair)
        if meeting is None:
            meeting = self._meetings[pair] = meet(one.shape, self._plans[holder[SHAPE]].shape)
        meeting.note(row[VALUES], holder[VALUES])
        if len(result.samples_to_skip) < self._limit:
            result.samples_to_skip.append(self._flip(row, one, "held", holder))

    def _flip(self, row: Row, one: Plan, rule: str, holder: Row | None) -> Flip:
        was, now = ("ran", "skipped") if rule == "held" else ("skipped", "ran")
        flip = Flip(row[LEAF], row[AT], was, now, rule, one.shape, row[VALUES])
        if holder is None:
            return flip
        other = self._plans[holder[SHAPE]].shape
        return Flip(
            row[LEAF], row[AT], was, now, rule, one.shape, row[VALUES],
            holder=holder[LEAF],
            held_at=holder[AT],
            holder_ran=holder[OUTCOME] == RAN,
            is_across_recipes=is_across(one.shape, other),
            differs=differing(one.shape, row[VALUES], other, holder[VALUES]),
        )  # fmt: skip


def simulate(recipe: Recipe, shapes: dict[int, Shape], rows: list[Row], limit: int = 50) -> Result:
    """Go through attempts that are all at hand."""
    replay = Replay(recipe, shapes, limit)
    replay.take(rows)
    counts = Counter(row[OUTCOME] for row in rows)
    return replay.finish(rows[0][AT] if rows else None, rows[-1][AT] if rows else None, counts)
