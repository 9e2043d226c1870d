"""Where the apps meet: each fills this in `AppConfig.ready()`, and none imports another.

It is the only inversion in the code (design, section 3, rule 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from ledger.statements import Item

Write = Callable[[], None]


class Projector(Protocol):
    """Makes read tables from the log of one project, leaf by leaf.

    `tables` are the names of all tables that it writes and nobody else does; each has a column
    `project_id`. `plan` reads what it needs and gives the function that writes, which runs in the
    transaction that moves the cursor; so the write lock is held for the writing alone.
    """

    name: str
    rules_version: int
    tables: tuple[str, ...]

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Work out what the items change."""
        ...


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """Something that needs a person.

    `code` and `subject` make its lasting id; `facts` changes when what it rests on does, which
    brings an acknowledged item back. `query` is the list that the item counts.
    """

    code: str
    subject: str
    sentence: str
    since: datetime | None
    severity: str
    facts: str
    next_label: str
    next_path: str
    small: str = ""


AttentionSource = Callable[[int, datetime], Iterable[AttentionItem]]


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """One entry of the head's navigation; `path` comes after `/p/{project}/`."""

    label: str
    path: str
    order: int


@dataclass(slots=True)
class Registry:
    """What the apps have registered, in declared order."""

    projectors: list[Projector] = field(default_factory=list)
    attention: list[AttentionSource] = field(default_factory=list)
    navigation: list[NavigationEntry] = field(default_factory=list)

    def add_projector(self, projector: Projector) -> None:
        """Add a projector; it may read the tables of those added before it."""
        if all(projector.name != known.name for known in self.projectors):
            self.projectors.append(projector)

    def add_attention(self, source: AttentionSource) -> None:
        """Add a source of attention items."""
        if source not in self.attention:
            self.attention.append(source)

    def add_navigation(self, entry: NavigationEntry) -> None:
        """Add an entry to the head's navigation."""
        if entry not in self.navigation:
            self.navigation.append(entry)
            self.navigation.sort(key=lambda one: one.order)


registry = Registry()
