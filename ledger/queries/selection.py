"""The statements of a selection from `entry`: its newest rows, and how many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from kit.db import indexed_by
from kit.search import Term

Statement = tuple[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Part:
    """One way to meet the leading term: by an index of entries, or by a table that is read first.

    The condition then also says how an entry is found from that table.
    """

    condition: str
    parameters: Sequence[Any]
    index: str = ""
    first: str = ""


ANYTHING = Part("true", ())


@dataclass(slots=True)
class Where:
    """Conditions with their parameters, and what was left for Python to compare.

    `parts` are the ways to meet one more condition, any of which does. Each is a SELECT of its own
    that an index leads newest first, so that a page costs its rows however many there are; joined
    by OR, they would be sorted, or the whole log be read.
    """

    pointer: str
    joined: str = ""
    conditions: list[str] = field(default_factory=list)
    parameters: list[Any] = field(default_factory=list)
    parts: list[Part] = field(default_factory=lambda: [ANYTHING])
    paths: list[Term] = field(default_factory=list)
    first: int = 0
    is_by_time: bool = False

    def add(self, condition: str, *parameters: Any) -> None:
        """Add one condition that must hold."""
        self.conditions.append(condition)
        self.parameters.extend(parameters)

    def text(self, part: Part = ANYTHING, index: str = "") -> str:
        """Give the FROM and WHERE clauses of one part, read by an index."""
        named = indexed_by(index) if index else ""
        conditions = " AND ".join([*self.conditions, f"({part.condition})"])
        # SQLite keeps to the order of a CROSS JOIN; PostgreSQL finds it.
        first = f"{part.first} CROSS JOIN " if part.first else ""
        return f"FROM {first}entry e{named} {self.joined} WHERE {conditions}"

    def newest(self, columns: str, limit: int, more: str = "true", *given: Any) -> Statement:
        """Select rows that also meet `more`, newest first; `columns` begin with `e.leaf_index`."""
        parts, parameters = [], []
        for part in self.parts:
            text = f"{self.text(part, part.index)} AND {more}"
            parts.append(f"SELECT {columns} {text} ORDER BY e.leaf_index DESC LIMIT %s")
            parameters += [*self.parameters, *part.parameters, *given, limit]
        if len(parts) == 1:
            return parts[0], parameters
        # Not UNION ALL: a word may be a receipt's id and its job.
        named = [f"SELECT * FROM ({one}) AS part{at}" for at, one in enumerate(parts)]  # noqa: S608
        united = " UNION ".join(named)
        return f"{united} ORDER BY leaf_index DESC LIMIT %s", [*parameters, limit]

    def ones(self, most: int, more: str = "true", *given: Any) -> Statement:
        """Select a one for each row that also meets `more`, to count no more than `most`."""
        if len(self.parts) > 1:
            united, parameters = self.newest("e.leaf_index", most, more, *given)
            return f"SELECT 1 FROM ({united}) AS united", parameters  # noqa: S608
        (part,) = self.parts
        # What happened since a moment is mostly little, beside all that a task ever did.
        index = "entry_by_time" if self.is_by_time else part.index
        statement = f"SELECT 1 {self.text(part, index)} AND {more}"
        return statement, [*self.parameters, *part.parameters, *given]
