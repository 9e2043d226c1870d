"""A recipe: which attempts count as the same work, and which earlier ones stand in their way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter

from jobs.domain.attempts import COMPLETED, FAILED, IN_FLIGHT, SECOND
from jobs.domain.fields import SEPARATOR, Shape

Row = tuple[int, int, int, str, str, str, int, int | None]
"""Leaf, time, shape, values, outcome, state, its time, and when the job's row was deleted."""

BLOCK, RUN_AGAIN = "block", "run_again"
DELETED = "d"
STATE_WORDS = {"in_flight": "i", "completed": "c", "failed": "f", "cancelled": "x", "deleted": "d"}
LETTER_WORDS = {letter: word for word, letter in STATE_WORDS.items()}
USUAL_STATES = frozenset("icfx")
FOREVER_S = 1e10
OWN = -1.0
"""A window as each attempt's own key says."""

CONSTANTS = ("task", "queue")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What an attempt is compared by.

    Without `fields` each attempt is compared by its own key, as it was recorded. `window_s` is
    None for no limit and `OWN` for the recorded one; `states` None for the recorded ones.
    `across_tasks` lets attempts of different tasks meet.
    """

    fields: tuple[str, ...] = ()
    window_s: float | None = OWN
    states: frozenset[str] | None = None
    policy: str = BLOCK
    across_tasks: bool = False


@dataclass(slots=True)
class Plan:
    """A recipe made ready for one shape: how to pick the key, and where it is looked up.

    `lacks` names the first field that the shape has not; then nothing of it can be judged.
    `always` says that whatever holds the key blocks as long as its row is there. `held` are the
    newest runs by key, shared by all shapes of a group.
    """

    shape: Shape
    lacks: str
    group: tuple[str, ...]
    pick: Callable[[str], str]
    window: int | None
    states: frozenset[str]
    policy: str
    always: bool
    held: dict[str, Row] = field(default_factory=dict)

    def blocks(self, holder: Row, at: int) -> str:
        """Say by which rule an earlier attempt lets a later one run; empty when it blocks."""
        _, held_at, _, _, outcome, state, state_at, gone_at = holder
        if self.window is not None and at - held_at > self.window:
            return "window"
        if outcome != "r":
            state = COMPLETED
        elif at < state_at:
            state = IN_FLIGHT
        is_gone = gone_at is not None and at >= gone_at
        if is_gone and DELETED not in self.states:
            return "deleted"
        if state == FAILED and self.policy == RUN_AGAIN:
            return "policy"
        return "" if state in self.states or is_gone else "state"


def plan(recipe: Recipe, shape: Shape) -> Plan:
    """Make a recipe ready for a shape."""
    names = recipe.fields or shape.names[: shape.own]
    constants = [one for one in names if one in CONSTANTS and one not in shape.names]
    wanted = [one for one in names if one not in constants]
    lacking = [one for one in wanted if one not in shape.names]
    lacks = lacking[0] if lacking else "" if names else "key"
    places = [] if lacking else [shape.names.index(one) for one in wanted]
    window, states = _window(recipe, shape), _states(recipe, shape)
    return Plan(
        shape=shape,
        lacks=lacks,
        group=_group(recipe, shape, constants),
        pick=_picker(places, len(shape.names)),
        window=window,
        states=states,
        policy=recipe.policy,
        always=window is None and recipe.policy == BLOCK and states >= USUAL_STATES,
    )


def _group(recipe: Recipe, shape: Shape, constants: list[str]) -> tuple[str, ...]:
    """Give what is the same for all attempts of a shape; keys of two groups never meet."""
    if not recipe.fields:
        return (shape.source, shape.recipe, *shape.names[: shape.own])
    task = "" if recipe.across_tasks else shape.task
    return (shape.source, task, *(f"{one}={getattr(shape, one)}" for one in constants))


def _picker(places: list[int], count: int) -> Callable[[str], str]:
    if places == list(range(count)):
        return str
    if not places:
        return lambda values: ""
    most = max(places) + 1
    if len(places) == 1:
        (place,) = places
        return lambda values: values.split(SEPARATOR, most)[place]
    parts = itemgetter(*places)
    return lambda values: SEPARATOR.join(parts(values.split(SEPARATOR, most)))


def _window(recipe: Recipe, shape: Shape) -> int | None:
    seconds = shape.window_s if recipe.window_s == OWN else recipe.window_s
    return None if seconds is None else int(min(seconds, FOREVER_S) * SECOND)


def _states(recipe: Recipe, shape: Shape) -> frozenset[str]:
    if recipe.states is not None:
        return recipe.states
    return frozenset(shape.blocking) or USUAL_STATES
