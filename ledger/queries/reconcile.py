"""What became of each object of a list, read by the hundred, without reading bodies."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kit import bulk, ids
from ledger import statements
from ledger.domain import pointers, reconcile, words
from ledger.domain.clauses import CLAUSES
from ledger.domain.expected import Expected
from ledger.domain.names import column
from ledger.domain.reconcile import Standing, Window
from ledger.domain.statement import JobName, Pointer, Statement
from ledger.queries import lists, watched
from ledger.queries.as_of import AsOf

Document = dict[str, Any]
CHUNK = 200
RECEIPTS_AT_ONCE = 20_000
MOST_OF_ONE = 5_000
"""Receipts of one object that are folded; of more, what became of it is not told."""

_COLUMNS = (
    "leaf_index", "receipt", "kind", "state", "received_at", "occurred_at", "id_key", "system",
    "instance", "job_number", "task", "key_digest", "reason", "level", "verdict",
    "verdict_when_due", "pointer_text", "pointer_state", "due_at",
)  # fmt: skip
_ROWS = (
    f"SELECT s.subject, {', '.join(f'e.{name}' for name in _COLUMNS)} "  # noqa: S608
    "FROM entry_subject s JOIN entry e ON e.project_id = s.project_id "
    "AND e.leaf_index = s.leaf_index WHERE s.project_id = %s AND s.type = %s "
    "AND s.leaf_index <= %s AND s.subject IN ({marks}) LIMIT %s"
)
_LEAF, _KIND, _SYSTEM = (1 + _COLUMNS.index(name) for name in ("leaf_index", "kind", "system"))


@dataclass(frozen=True, slots=True)
class Told:
    """One receipt of an object: what folding needs, and the verdict as lists show it."""

    statement: Statement
    verdict: str


@dataclass(slots=True)
class Reconciliation:
    """A list held against the record; the totals are known once the items have been gone through.

    `kind` is the objects' type. `takes_unnumbered` judges also where senders do not number what
    they send.
    """

    project_id: int
    kind: str
    expected: Expected
    as_of: AsOf
    window: Window
    takes_unnumbered: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    skips: Counter[str] = field(default_factory=Counter)
    _sources: set[tuple[str, str]] = field(default_factory=set)

    def items(self) -> Iterator[Document]:
        """Give the document of each object, in the order of the list."""
        names = self.expected.ids
        for start in range(0, len(names), CHUNK):
            part = names[start : start + CHUNK]
            told = _told(self.project_id, self.kind, part, self.as_of)
            for name in part:
                yield self._item(name, told.get(name, []))

    def totals(self) -> Document:
        """Give the standing of the whole list, what it rests on, and the counts."""
        spans = watched.spans_of(self.project_id, self.as_of, self._sources)
        feed = lists.feed_of(self.project_id, self.as_of)
        standing = reconcile.stand(
            self.window,
            spans,
            feed,
            self.counts,
            lag=self.as_of.lag,
            takes_unnumbered=self.takes_unnumbered,
        )
        return {
            "type": self.kind,
            "expected": len(self.expected.ids),
            "listed_again": self.expected.listed_again,
            "blank_lines": self.expected.blank,
            "verdict": _standing(standing),
            "counts": {name: self.counts[name] for name in (*reconcile.STATES, *_BESIDE)},
            "skipped_by": [
                {"code": code, "word": words.badge(code).word, "count": count}
                for code, count in sorted(self.skips.items(), key=lambda one: (-one[1], one[0]))
            ],
            "window": {"from": self.window.first, "to": self.window.last},
            "watched_since": spans[0].first if spans else None,
            "watched": watched.source_documents(self.project_id, self.as_of),
            "feed": feed,
            "as_of": {"leaf_index": str(self.as_of.leaf), "time": self.as_of.at},
            "cannot_know": list(CANNOT_KNOW),
        }

    def _item(self, name: str, told: Sequence[Told]) -> Document:
        inside = [one for one in told if self._is_inside(one.statement.happened_at)]
        self._sources.update((one.statement.system, one.statement.instance) for one in told)
        is_whole = len(told) <= MOST_OF_ONE
        account = reconcile.account_for([one.statement for one in inside])
        by = next((one for one in inside if one.statement.ref == account.by_ref), None)
        self.counts[account.became] += 1
        self.counts["done_again"] += bool(account.again)
        self.counts["outside"] += account.became == "nothing_recorded" and bool(told)
        if account.became == "skipped" and by is not None:
            self.skips[by.verdict] += 1
        return {
            "type": self.kind,
            "id": name,
            "became": account.became,
            "rule": account.rule,
            "by": account.by_ref,
            "at": None if by is None else by.statement.happened_at,
            "verdict": None if by is None else _verdict(by),
            "receipts": min(len(inside), MOST_OF_ONE),
            "outside": len(told) - len(inside),
            "done_again": list(account.again),
            "listed": 1 + self.expected.again.get(name, 0),
            "complete": is_whole,
        }

    def _is_inside(self, at: datetime) -> bool:
        is_before = self.window.first is not None and at < self.window.first
        return not is_before and at < self.window.last


_BESIDE = ("done_again", "outside")
CANNOT_KNOW = (
    "Whether anything was done that no receipt tells of.",
    "Outcomes that a recording policy tallies name no business objects.",
    "Another spelling of an id is another object.",
)
"""What no reconciliation tells, whatever it finds."""


def _standing(standing: Standing) -> Document:
    return {
        "code": standing.code,
        "sentence": standing.sentence,
        "rule": standing.rule,
        "rule_words": reconcile.RULE_WORDS[standing.rule],
        "exit": standing.exit_code,
    }


def _verdict(told: Told) -> Document:
    one, code = told.statement, told.verdict
    badge = words.badge_of(code, one.kind, one.state)
    reason = words.reason_words(one.reason) if one.reason else None
    said = CLAUSES.get(code) or f"{badge.word[:1].upper()}{badge.word[1:]}"
    is_own = one.reason is not None and one.reason not in words.REASON_WORDS
    return {
        "code": code,
        "word": badge.word,
        "sentence": f"{said}, for the reason {reason}." if is_own else f"{said}.",
        "reason": one.reason,
    }


def _told(
    project_id: int, kind: str, names: Sequence[str], as_of: AsOf
) -> Mapping[str, list[Told]]:
    """Load what was told of some objects; one with very many receipts is read by itself."""
    by_column = {column(name): name for name in names}
    most = RECEIPTS_AT_ONCE if len(names) > 1 else MOST_OF_ONE + 1
    marks = ", ".join(["%s"] * len(by_column))
    parameters = [project_id, kind, as_of.leaf, *by_column, most]
    rows = bulk.select_rows(_ROWS.format(marks=marks), parameters)
    if len(rows) == most and len(names) > 1:
        half = len(names) // 2
        parts = (names[:half], names[half:])
        return {
            name: told
            for part in parts
            for name, told in _told(project_id, kind, part, as_of).items()
        }
    whole = _whole(project_id, rows)
    found: dict[str, list[Told]] = defaultdict(list)
    for subject, *values in rows:
        row = dict(zip(_COLUMNS, values, strict=True))
        statement = whole.get(row["leaf_index"]) or _statement(row)
        found[by_column[subject]].append(Told(statement, _code(row, as_of.at)))
    return found


def _whole(project_id: int, rows: Sequence[Sequence[Any]]) -> dict[int, Statement]:
    leaves = [row[_LEAF] for row in rows if _is_read_whole(row[_KIND], row[_SYSTEM])]
    return statements.load_leaves(project_id, leaves) if leaves else {}


def _is_read_whole(kind: str, system: str) -> bool:
    """Tell whether what a receipt says of an object is in members that no column keeps."""
    return kind == "observe" or (kind == "deliver" and system != "celery")


def _statement(row: Mapping[str, Any]) -> Statement:
    """Make of a row what folding asks of a statement."""
    system, instance, number = row["system"], row["instance"], row["job_number"]
    occurred = row["occurred_at"]
    return Statement(
        leaf=row["leaf_index"],
        ref=ids.ref_of(bulk.as_uuid(row["receipt"])),
        state=row["state"],
        kind=row["kind"],
        received_at=bulk.as_time(row["received_at"]),
        occurred_at=None if occurred is None else bulk.as_time(occurred),
        id_key=row["id_key"],
        system=system,
        instance=instance,
        job=JobName(system, instance, number) if number else None,
        task=row["task"],
        key_digest=row["key_digest"] or None,
        reason=row["reason"] or None,
        level=row["level"],
        pointer=Pointer(receipt=row["pointer_text"]) if row["pointer_text"] else None,
    )


def _code(row: Mapping[str, Any], at: datetime) -> str:
    """Give the verdict as it reads at a clock: a pointer that is overdue has another."""
    if row["pointer_state"] != "waiting":
        return str(row["verdict"])
    due = row["due_at"]
    shown = pointers.shown_state("waiting", due and bulk.as_time(due), at)
    return str(row["verdict_when_due" if shown == "dangling" else "verdict"])
