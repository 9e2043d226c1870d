"""Why an attempt would have come out otherwise, in sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from jobs.domain.attempts import SECOND
from jobs.domain.lab import Flip
from jobs.domain.meetings import Differs
from jobs.domain.recipes import OWN, Recipe
from ledger.domain import plain

RULES = {
    "none": "no earlier attempt that would have run has the same key",
    "window": "the newest run with the same key lies further back than the window",
    "state": "the newest run with the same key was in a state that does not block",
    "policy": "the newest run with the same key had failed, and failed work may run again",
    "deleted": "the row of the newest run with the same key had been deleted",
}
UNJUDGED = {
    "lacks": "the receipt does not name a field of the matching rule",
    "by_rule": "it was skipped by a rule or another verdict, which no key decides",
    "lock_contended": "it lost a lock, and which of the two came first is not known",
}
Naming = Callable[[int], str]


def because(flip: Flip, recipe: Recipe, name: Naming, original: tuple[int, Differs] | None) -> str:
    """Say why a flip flips; `original` is what the skip was skipped for, with what it has else."""
    if flip.rule == "held":
        return _held(flip, recipe, name)
    text = _let_run(flip, recipe, name)
    if original is None:
        return text
    leaf, differs = original
    if leaf == flip.holder:
        return text
    return f"{text} What it was skipped for, {name(leaf)}, {_differs(differs)}."


def same(flip: Flip, recipe: Recipe) -> str:
    """Name the fields that the recipe compares."""
    names = recipe.fields or flip.shape.names[: flip.shape.own]
    return f"the same {_listed(names)}"


def duration(micros: int) -> str:
    """Say a length of time in the two largest units that it has."""
    seconds = abs(micros) // SECOND
    if seconds < 1:
        return "under a second"
    parts = []
    for unit, size in (("day", 86_400), ("h", 3_600), ("min", 60), ("s", 1)):
        count, seconds = divmod(seconds, size)
        if count:
            plural = "s" if unit == "day" and count > 1 else ""
            parts.append(f"{count:,} {unit}{plural}")
    return " ".join(parts[:2])


def _held(flip: Flip, recipe: Recipe, name: Naming) -> str:
    before, holder = _before(flip), name(flip.holder or 0)
    text = f"{holder} had taken {same(flip, recipe)} {before} before; it {_differs(flip.differs)}."
    if flip.is_across_recipes:
        text += " Both ran because keys of different matching rules, or versions of one, never met."
    if not flip.holder_ran:
        text += f" {holder} was itself skipped; that it would have run and completed is assumed."
    return text


def _let_run(flip: Flip, recipe: Recipe, name: Naming) -> str:
    shared = same(flip, recipe)
    if flip.holder is None:
        return f"No earlier attempt has {shared}."
    holder = name(flip.holder)
    if flip.rule == "window":
        window = flip.shape.window_s if recipe.window_s == OWN else recipe.window_s
        limit = duration(int((window or 0) * SECOND))
        return f"{holder} has {shared} but came {_before(flip)} before, and the window is {limit}."
    return f"{holder} has {shared}, but {_SINCE[flip.rule]}."


def _before(flip: Flip) -> str:
    return duration(flip.at - (flip.at if flip.held_at is None else flip.held_at))


_SINCE = {
    "state": "by then it was in a state that does not block",
    "policy": "by then it had failed, and failed work may run again",
    "deleted": "by then its row had been deleted",
}


def _differs(differs: Differs) -> str:
    if not differs:
        return "differs in no field that both name"
    told = [f"{name} ({shown(there)} there, {shown(here)} here)" for name, here, there in differs]
    return f"differs in {_listed(told)}"


def shown(value: str) -> str:
    """Show a value as a person reads it."""
    return plain.text_of_json(value)


def _listed(names: Sequence[str]) -> str:
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
