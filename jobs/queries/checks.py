"""What each invariant was held against, and what could not be: a zero is worth no more."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from jobs.domain.invariants import INVARIANTS, Invariant
from jobs.queries.contradictions import census
from kit import bulk

Document = dict[str, Any]
SHOWN = 20
_WATCHED = (
    "SELECT invariant, source, task, since_leaf, checked, unchecked FROM contradiction_watch "
    "WHERE project_id = %s ORDER BY unchecked DESC, source, task"
)
_WAITING = (
    "SELECT invariant, count(*), min(since) FROM contradiction "
    "WHERE project_id = %s AND gone_leaf IS NULL AND since > %s GROUP BY invariant"
)


@dataclass(slots=True)
class _Sum:
    checked: int = 0
    unchecked: int = 0
    left_out: list[Document] = field(default_factory=list)

    def add(self, source: str, task: str, checked: int, unchecked: int) -> None:
        self.checked += checked
        self.unchecked += unchecked
        if unchecked and len(self.left_out) < SHOWN:
            self.left_out.append(
                {"source": source or None, "task": task or None, "unchecked": unchecked}
            )


def checks(project_id: int, now: datetime) -> list[Document]:
    """Say of each invariant whether it holds, as far as it could be checked."""
    sums: dict[str, _Sum] = defaultdict(_Sum)
    for invariant, source, task, _, checked, unchecked in bulk.select_rows(_WATCHED, [project_id]):
        sums[invariant].add(source, task, int(checked), int(unchecked))
    open_ones = census(project_id, now)
    rows = bulk.select_rows(_WAITING, [project_id, now])
    waiting = {code: (int(many), bulk.as_time(since)) for code, many, since in rows}
    return [
        _check(one, sums[one.code],
               open_ones[one.code].count if one.code in open_ones else 0,
               waiting.get(one.code, (0, None)))
        for one in INVARIANTS
    ]  # fmt: skip


def _check(one: Invariant, found: _Sum, broken: int, waiting: Sequence[Any]) -> Document:
    state = "broken" if broken else ("holds" if found.checked else "not_checked")
    return {
        "invariant": one.code,
        "title": one.title,
        "state": state,
        "open": broken,
        "waiting": {"count": waiting[0], "until": waiting[1]},
        "checked": found.checked,
        "not_checked": found.unchecked,
        "checks": one.checks,
        "leaves_out": one.leaves_out or None,
        "because": one.nothing if state == "not_checked" else None,
        "left_out": found.left_out,
    }
