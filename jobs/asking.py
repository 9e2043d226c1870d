"""A recipe as it is asked for: in a JSON body, or in a page's address."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import Literal
from urllib.parse import urlencode

from django.http import QueryDict
from ninja import Field, Schema

from jobs.domain.fields import STATES
from jobs.domain.recipes import BLOCK, FOREVER_S, LETTER_WORDS, OWN, RUN_AGAIN, Recipe
from kit.http import ProblemError

MOST_FIELDS = 64
SECOND = "b_"
"""What the names of a second recipe begin with, in an address."""

_MEMBERS = ("fields", "window", "states", "policy", "across_tasks")
_PARTS = re.compile(r"[,\s]+")


class RecipeBody(Schema):
    """What attempts are compared by; what is left out stays as each attempt was recorded."""

    fields: list[str] = Field(default=[], max_length=MOST_FIELDS)
    window_s: float | None = Field(default=None, ge=0, le=FOREVER_S, strict=True)
    states: list[str] | None = None
    policy: Literal["block", "run_again"] = "block"
    across_tasks: bool = False


class Trial(Schema):
    """A recipe to try on the attempts that `q` selects, and another to set beside it."""

    recipe: RecipeBody
    compare: RecipeBody | None = None
    q: str = Field(default="", max_length=4_000)
    limit: int = Field(default=50, ge=0, le=500)


def of_body(body: RecipeBody) -> Recipe:
    """Read a recipe from a JSON body; raises a problem for a state that is none."""
    return Recipe(
        fields=_distinct(body.fields),
        window_s=body.window_s if "window_s" in body.model_fields_set else OWN,
        states=None if body.states is None else _letters(body.states),
        policy=body.policy,
        across_tasks=body.across_tasks,
    )


def is_asked(given: QueryDict, prefix: str = "") -> bool:
    """Say whether an address asks to try a recipe."""
    return any(given.get(f"{prefix}{name}") for name in _MEMBERS)


def of_address(given: QueryDict, prefix: str = "") -> Recipe:
    """Read a recipe from a page's address; raises a problem for what cannot be tried."""
    parts = [
        part for text in given.getlist(f"{prefix}fields") for part in _PARTS.split(text) if part
    ]
    policy = given.get(f"{prefix}policy") or BLOCK
    if policy not in (BLOCK, RUN_AGAIN):
        raise _bad(f"`policy` takes {BLOCK} or {RUN_AGAIN}.")
    if len(parts) > MOST_FIELDS:
        raise _bad(f"A matching rule has at most {MOST_FIELDS} fields.")
    states = [one for one in given.getlist(f"{prefix}states") if one]
    return Recipe(
        fields=_distinct(parts),
        window_s=_window(given.get(f"{prefix}window", "")),
        states=_letters(states) if states else None,
        policy=policy,
        across_tasks=given.get(f"{prefix}across_tasks", "") in ("1", "true", "on"),
    )


def both(given: QueryDict) -> tuple[Recipe | None, Recipe | None]:
    """Read the recipe of an address and the one beside it, None for one that is not asked for."""
    recipe = of_address(given) if is_asked(given) else None
    compare = of_address(given, SECOND) if recipe is not None and is_asked(given, SECOND) else None
    return recipe, compare


def address_of(recipe: Recipe, prefix: str = "") -> list[tuple[str, str]]:
    """Write a recipe as the parameters of an address, which `of_address` reads as the same."""
    window = {OWN: "recorded", None: "none"}.get(recipe.window_s) or f"{recipe.window_s:g}"
    found = [("fields", ", ".join(recipe.fields)), ("window", window)]
    if recipe.states is not None:
        found += [("states", word) for letter, word in LETTER_WORDS.items()
                  if letter in recipe.states]  # fmt: skip
    found.append(("policy", recipe.policy))
    if recipe.across_tasks:
        found.append(("across_tasks", "1"))
    return [(f"{prefix}{name}", value) for name, value in found if value]


def query_of(recipe: Recipe, compare: Recipe | None, q: str = "") -> str:
    """Write a trial as the query of an address."""
    second = [] if compare is None else address_of(compare, SECOND)
    return urlencode([*address_of(recipe), *second, *([("q", q)] if q else [])])


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _letters(states: Sequence[str]) -> frozenset[str]:
    unknown = [one for one in states if one not in STATES]
    if unknown:
        raise _bad(f"`states` takes some of {', '.join(STATES)}.")
    return frozenset(STATES[one] for one in states)


def _window(text: str) -> float | None:
    if text in ("", "recorded"):
        return OWN
    if text == "none":
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds <= FOREVER_S:
        raise _bad("`window` takes a number of seconds, or none, or recorded.")
    return seconds


def _bad(detail: str) -> ProblemError:
    return ProblemError(400, "recipe", "This matching rule cannot be tried", detail)
