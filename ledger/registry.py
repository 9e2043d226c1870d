"""Where the apps meet: each fills this in `AppConfig.ready()`, and none imports another.

It is the only inversion in the code (design, section 3, rule 1).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol

from kit.search import Term
from ledger.domain.statement import Statement
from ledger.domain.verdicts import Verdict
from ledger.statements import Item

Write = Callable[[], None]


class Projector(Protocol):
    """Makes read tables from the log of one project, leaf by leaf.

    `tables` are the names of all tables that it writes and nobody else does; each has a column
    `project_id`. `plan` reads what it needs and gives the function that writes, which runs in the
    transaction that moves the cursor; so the write lock is held for the writing alone.
    """

    name: str

    @property
    def rules_version(self) -> int:
        """Give the version of its rules; other rules make other rows of the same log."""
        ...

    @property
    def tables(self) -> tuple[str, ...]:
        """Give the tables that it fills."""
        ...

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Work out what the items change."""
        ...


class Judging(Protocol):
    """One batch as an app judges it, receipt by receipt in the order of the leaves."""

    def take(self, item: Item) -> Iterable[int]:
        """Note a receipt, and give the earlier leaves whose verdict may be another one now."""
        ...

    def watches(self, leaf: int) -> bool:
        """Tell whether a receipt without a pointer may still come to another verdict."""
        ...

    def judge(self, statement: Statement, original: Statement | None) -> Verdict | None:
        """Judge a receipt by what was taken so far, or leave it to the ledger's own rules.

        `original` is what its pointer was found to point at.
        """
        ...

    def write(self) -> None:
        """Write the app's rows, in the transaction that moves the cursor."""
        ...


class Judge(Protocol):
    """Concludes more of a receipt than its pointer tells, by what the app keeps of others.

    It runs inside the projector of receipts, which writes its verdict beside the pointer, so that
    there is one verdict, with one history. `tables` count as the projector's, and
    `rules_version`, which starts at 0, raises the projector's.
    """

    rules_version: int
    tables: tuple[str, ...]

    def open(self, project_id: int, items: Sequence[Item]) -> Judging:
        """Load what judging a batch takes."""
        ...

    def explain(
        self, project_id: int, statement: Statement, original: Statement | None, end: int | None
    ) -> Verdict | None:
        """Judge one receipt as of the leaves below `end`, or of all, with its sentence."""
        ...


@dataclass(frozen=True, slots=True)
class AttentionItem:
    """Something that needs a person.

    `code` and `subject` make its lasting id; `facts` changes when what it rests on does, which
    brings an acknowledged item back. `is_named` says that the sentence names the subject in words
    of its own, so that a page need not name it again.
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
    is_named: bool = False


AttentionSource = Callable[[int, datetime], Iterable[AttentionItem]]


@dataclass(frozen=True, slots=True)
class WatchedVerdict:
    """A verdict of receipts that needs someone, with the words for one of them and for many.

    `further` narrows the list that its item counts.
    """

    code: str
    one: str
    many: str
    small: str
    further: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """One entry of the head's navigation; `path` comes after `/p/{project}/`.

    `under` is the label of the entry in whose section it stands; without, it stands in the first
    row. `also` are further paths whose pages belong to it.
    """

    label: str
    path: str
    order: int
    under: str = ""
    also: tuple[str, ...] = ()


SectionSource = Callable[[int, Statement, int | None], dict[str, Any] | None]
"""Gives a section of the explanation of a receipt as of the leaves below a number, or of all:
`{"title", "rows": [{"label", "text", "path", "tone"?, "icon"?}], "links": [{"label", "path"}]}`;
paths come after `/p/{project}/`."""

ContradictionSource = Callable[[int, int, int | None, datetime], list[dict[str, Any]]]
"""Gives what a receipt, by its leaf, contradicts as of the leaves below a number, or of all, at a
clock: `{"invariant", "sentence", "refs", …}`, where `refs` are the other receipts."""

Evaluation = Callable[[Any], Any]
"""Judges a recorded history: JSON in, JSON out; raises ValueError for one it cannot read."""


RowReader = Callable[[Mapping[str, Any], str], dict[str, Any]]
"""Makes the receipt of a row of a foreign table, given by its columns, for an instance.

It raises ledger.domain.import_values.LineFault for a row that is none of that table.
"""


@dataclass(slots=True)
class Registry:
    """What the apps have registered, in declared order."""

    projectors: list[Projector] = field(default_factory=list)
    judges: list[Judge] = field(default_factory=list)
    attention: list[AttentionSource] = field(default_factory=list)
    watched: list[WatchedVerdict] = field(default_factory=list)
    navigation: list[NavigationEntry] = field(default_factory=list)
    sections: list[SectionSource] = field(default_factory=list)
    contradictions: list[ContradictionSource] = field(default_factory=list)
    evaluations: dict[str, Evaluation] = field(default_factory=dict)
    row_readers: dict[str, RowReader] = field(default_factory=dict)

    def add_projector(self, projector: Projector) -> None:
        """Add a projector; it may read the tables of those added before it."""
        if all(projector.name != known.name for known in self.projectors):
            self.projectors.append(projector)

    def add_judge(self, judge: Judge) -> None:
        """Add a judge; the first that has a verdict on a receipt is heard."""
        if all(type(judge) is not type(known) for known in self.judges):
            self.judges.append(judge)

    def add_attention(self, source: AttentionSource) -> None:
        """Add a source of attention items."""
        if source not in self.attention:
            self.attention.append(source)

    def add_watched(self, *verdicts: WatchedVerdict) -> None:
        """Add verdicts that the overview names as long as a receipt has them."""
        self.watched += [one for one in verdicts if one not in self.watched]

    def add_navigation(self, entry: NavigationEntry) -> None:
        """Add an entry to the head's navigation."""
        if entry not in self.navigation:
            self.navigation.append(entry)
            self.navigation.sort(key=lambda one: one.order)

    def add_section(self, source: SectionSource) -> None:
        """Add a section to the explanation of receipts."""
        if source not in self.sections:
            self.sections.append(source)

    def add_contradictions(self, source: ContradictionSource) -> None:
        """Add what may speak against a receipt."""
        if source not in self.contradictions:
            self.contradictions.append(source)

    def add_evaluation(self, kind: str, evaluation: Evaluation) -> None:
        """Add what `manage.py evaluate KIND` runs."""
        self.evaluations[kind] = evaluation

    def add_row_reader(self, table: str, reader: RowReader) -> None:
        """Add what makes receipts of an imported table's rows, by the name that maps use."""
        self.row_readers[table] = reader


registry = Registry()
