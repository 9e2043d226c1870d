"""What became of each object of a list, read by the hundred, without reading bodies."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ledger.domain import reconcile, words
from ledger.domain.expected import Expected
from ledger.domain.reconcile import Standing, Window
from ledger.queries import lists, object_work, watched
from ledger.queries.as_of import AsOf
from ledger.queries.object_work import MOST_OF_ONE, Told

Document = dict[str, Any]
CHUNK = 200


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
            told = object_work.told_of(self.project_id, self.kind, part, self.as_of)
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
        named = [one for one in told if one.is_named]
        inside = [one for one in told if self._is_inside(one.statement.happened_at)]
        self._sources.update((one.statement.system, one.statement.instance) for one in told)
        receipts = sum(one.is_named for one in inside)
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
            "receipts": min(receipts, MOST_OF_ONE),
            "outside": len(named) - receipts,
            "done_again": list(account.again),
            "listed": 1 + self.expected.again.get(name, 0),
            "complete": len(named) <= MOST_OF_ONE,
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
    one = told.statement
    return {
        "code": told.verdict,
        "word": words.badge_of(told.verdict, one.kind, one.state).word,
        "sentence": reconcile.why(one, told.verdict),
        "reason": one.reason,
    }
