"""What a query is made of."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

MAX_LENGTH = 4_000
"""Characters in a query; a longer one is a fault and none of it is read."""
MAX_ITEMS = 100
"""Terms and words in a query, and values in a term."""

FieldType = Literal["text", "word", "time", "number", "ordinal", "path", "pair"]
RELATIVE_TIMES = ("15m", "2h", "24h", "7d")


@dataclass(frozen=True)
class FieldSpec:
    """A qualifier that may stand before a colon.

    `type` says what its values are: `text` anything (`allowed` are only suggestions), `word` one
    of `allowed`, `time` see `moment`, `number` an integer that may be compared, `ordinal` text
    that may be compared when it is an integer, `pair` TYPE:ID, `path` a prefix used as
    `NAME.PATH:value`. The mapping key of a path ends with a dot where the bare name is a
    qualifier as well.
    """

    name: str
    type: FieldType = "text"
    allowed: tuple[str, ...] = ()
    help: str = ""


@dataclass(frozen=True)
class Term:
    """One `name:values` of a query; two terms are equal wherever they stand."""

    name: str
    values: tuple[str, ...]
    negated: bool = False
    comparison: str = "="
    position: int = field(default=0, compare=False)
    path: str | None = None


@dataclass(frozen=True)
class QueryFault:
    """A piece of a query that was not understood.

    `position` and `length` count characters of the query; `source` is the whole term or word as
    it was typed; `allowed` are the words that would have been understood, best guess first.
    """

    position: int
    length: int
    code: str
    message: str
    allowed: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Query:
    """A parsed query: select nothing by it while it has faults."""

    terms: tuple[Term, ...] = ()
    words: tuple[str, ...] = ()
    faults: tuple[QueryFault, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Suggestion:
    """A completion: put `text` in place of the characters from `start` to `end`.

    `origin` is `field`, `value`, or `recent` for a value seen in a recent slice only.
    """

    text: str
    start: int
    end: int
    origin: Literal["field", "value", "recent"]
    help: str = ""
