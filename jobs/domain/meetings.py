"""Two attempts of one key held against each other: in which other fields they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import itemgetter, ne

from jobs.domain.fields import SEPARATOR, Shape

Differs = tuple[tuple[str, str, str], ...]
"""Fields that two attempts have otherwise: name, value here, value there."""

Pick = Callable[[Sequence[str]], Sequence[str]]


@dataclass(slots=True)
class Meeting:
    """How attempts of two shapes are compared, and how often each set of fields differed."""

    names: tuple[str, ...]
    here: Pick
    there: Pick
    is_across: bool
    patterns: Counter[tuple[bool, ...]] = field(default_factory=Counter)

    def note(self, here: str, there: str) -> None:
        """Count in which fields two attempts differ."""
        pairs = self.here(here.split(SEPARATOR)), self.there(there.split(SEPARATOR))
        self.patterns[tuple(map(ne, *pairs))] += 1

    def differing(self) -> Iterator[tuple[list[str], int]]:
        """Give each set of differing fields with how often it came."""
        for pattern, count in self.patterns.items():
            yield list(compress(self.names, pattern)), count


def meet(shape: Shape, other: Shape) -> Meeting:
    """Make ready to compare attempts of two shapes by the fields that both name."""
    names = tuple(one for one in shape.names if one in other.names)
    here, there = (_picker([one.names.index(name) for name in names]) for one in (shape, other))
    return Meeting(names, here, there, is_across(shape, other))


def is_across(shape: Shape, other: Shape) -> bool:
    """Say whether two shapes are of different matching rules, or versions of one."""
    return (shape.recipe, shape.version) != (other.recipe, other.version)


def differing(shape: Shape, values: str, other: Shape, others: str) -> Differs:
    """Give the fields that two attempts both have with different values."""
    there = dict(zip(other.names, others.split(SEPARATOR), strict=False))
    here = zip(shape.names, values.split(SEPARATOR), strict=False)
    return tuple(
        (name, text, there[name]) for name, text in here if name in there and there[name] != text
    )


def _picker(places: list[int]) -> Pick:
    # Of fewer than two places `itemgetter` gives no tuple.
    if len(places) < 2:
        return lambda parts: [parts[place] for place in places]
    return itemgetter(*places)
