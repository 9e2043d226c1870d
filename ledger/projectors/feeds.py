"""Spools, their gaps, their producers, and the tokens that number nothing, from the log alone.

A spool gets one row for each receipt that changes it, in force until the next, so that a page as of
an earlier leaf reads what was known then. Most batches have nothing of feeds; they cost one look
at the tokens that are known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from kit import bulk
from ledger import keys
from ledger.domain import arrivals, feed_disputes, feed_lines, feeds
from ledger.domain.arrivals import Arrived
from ledger.domain.feed_lines import Line, Waiver, producer_of
from ledger.domain.feeds import Hole, Spool
from ledger.domain.statement import Statement
from ledger.projectors.feed_rows import COLUMNS, row_of, select, span_of, spool_of
from ledger.projectors.feed_sums import Sum, plan_producers, plan_tokens
from ledger.registry import Write
from ledger.statements import Item

AT_ONCE = 100
Told = Arrived | Line | Waiver
Row = tuple[object, ...]
_GAP = (
    "project_id", "spool", "first_number", "leaf_index", "last_number", "since", "until_leaf",
    "until_at", "closed_by", "reason", "actor",
)  # fmt: skip
_HOLES = (
    "SELECT spool, first_number, last_number, since, leaf_index FROM feed_gap "
    "WHERE project_id = %s AND until_leaf IS NULL AND spool IN ({values})"
)


class FeedsProjector:
    """Folds what the log tells of feeds."""

    name = "feeds"
    rules_version = 3
    tables: tuple[str, ...] = ("feed_spool", "feed_gap", "feed_producer", "feed_token")

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Work out what the batch tells of spools and tokens."""
        told = [(item, one) for item in items if (one := _read(project_id, item.statement))]
        writes = [plan_tokens(project_id, items, _senders(told))]
        if told:
            known = _known(project_id, {one.spool for _, one in told})
            run = _Run(project_id, known, _declared(one for _, one in told))
            for item, one in told:
                run.take(item, one)
            writes += [run.write, plan_producers(project_id, run.sums)]

        def write() -> None:
            for one in writes:
                one()

        return write


def _read(project_id: int, statement: Statement) -> Told | None:
    """Read what a receipt tells of feeds; most tell nothing."""
    if statement.kind == "observe":
        if feed_lines.is_line(statement):
            return feed_lines.read_line(statement)
        if statement.what == arrivals.WHAT and arrivals.is_own(
            statement, keys.project_key(project_id)
        ):
            return arrivals.read(statement)
    elif statement.kind == "act" and feed_lines.is_waiver(statement):
        return feed_lines.read_waiver(statement)
    return None


def _senders(told: Iterable[tuple[Item, Told]]) -> dict[int, int]:
    """Give the first leaf that tells of numbers of each token."""
    found: dict[int, int] = {}
    for item, one in told:
        if isinstance(one, Arrived) and one.token is not None:
            found.setdefault(one.token, item.leaf)
    return found


@dataclass(slots=True)
class _Known:
    """A spool, the leaf that left it so, and the leaf from which on each hole is a row."""

    spool: Spool
    leaf: int
    gaps: dict[Hole, int]


@dataclass(slots=True)
class _Run:
    """One batch being worked through; rows that end in it are written as ended."""

    project_id: int
    known: dict[str, _Known]
    declared: dict[int, str]
    spools: dict[tuple[str, int], tuple[Spool, int | None]] = field(default_factory=dict)
    ended: list[Row] = field(default_factory=list)
    gaps: dict[tuple[str, int, int], Row] = field(default_factory=dict)
    closed: list[Row] = field(default_factory=list)
    sums: dict[str, Sum] = field(default_factory=dict)

    def take(self, item: Item, told: Told) -> None:
        before = self.known.get(told.spool)
        after = self._fold(None if before is None else before.spool, told)
        if after is None or (before is not None and after == before.spool):
            return
        self._sum(before, after)
        if before is not None:
            self._end(before, item.leaf)
        gaps = self._move_gaps(before, after, item, told)
        self.spools[after.name, item.leaf] = (after, None)
        self.known[after.name] = _Known(after, item.leaf, gaps)

    def _fold(self, before: Spool | None, told: Told) -> Spool | None:
        if not isinstance(told, Waiver):
            return feed_disputes.take(before, told, self.declared.get(told.token or 0, ""))
        if before is None:
            return None
        if told.is_same is not None:
            return feed_disputes.settle(before, is_same=told.is_same)
        return feeds.waive(before, told.at, told.first, told.last)

    def _end(self, before: _Known, leaf: int) -> None:
        place = (before.spool.name, before.leaf)
        if place in self.spools:
            self.spools[place] = (before.spool, leaf)
        else:
            self.ended.append((leaf, span_of(before.leaf, leaf), self.project_id, *place))

    def _move_gaps(
        self, before: _Known | None, after: Spool, item: Item, told: Told
    ) -> dict[Hole, int]:
        """Close the rows of holes that are no more, and open those of new ones."""
        left = dict(before.gaps) if before is not None else {}
        wanted = set(after.holes)
        how = _closing(item, told)
        for hole in [hole for hole in left if hole not in wanted]:
            self._close(after.name, hole, left.pop(hole), how)
        for hole in after.holes:
            if hole not in left:
                left[hole] = item.leaf
                self._open(after.name, hole, item.leaf, (None, None, "", "", ""))
        # The numbers above all that came were no hole until somebody waived them.
        tail = before.spool.tail if before is not None and isinstance(told, Waiver) else None
        if tail is not None and after.tail is None:
            self._open(after.name, tail, item.leaf, how)
        return left

    def _open(self, spool: str, hole: Hole, leaf: int, how: Row) -> None:
        row = (self.project_id, spool, hole.first, leaf, hole.last, hole.since, *how)
        self.gaps[spool, hole.first, leaf] = row

    def _close(self, spool: str, hole: Hole, leaf: int, how: Row) -> None:
        if (spool, hole.first, leaf) in self.gaps:
            self._open(spool, hole, leaf, how)
        else:
            self.closed.append((*how, self.project_id, spool, hole.first, leaf))

    def _sum(self, before: _Known | None, after: Spool) -> None:
        one = self.sums.setdefault(producer_of(after.name), Sum())
        if before is not None:
            one.add(before.spool, -1)
        one.add(after, 1)

    def write(self) -> None:
        """Write what the batch came to."""
        bulk.update_rows(
            "UPDATE feed_spool SET until_leaf = %s, span = %s "
            "WHERE project_id = %s AND spool = %s AND leaf_index = %s",
            self.ended,
        )
        bulk.update_rows(
            "UPDATE feed_gap SET until_leaf = %s, until_at = %s, closed_by = %s, reason = %s, "
            "actor = %s "
            "WHERE project_id = %s AND spool = %s AND first_number = %s AND leaf_index = %s",
            self.closed,
        )
        rows = [
            row_of(self.project_id, spool, leaf, until)
            for (_, leaf), (spool, until) in self.spools.items()
        ]
        bulk.insert_rows("feed_spool", COLUMNS, rows)
        bulk.insert_rows("feed_gap", _GAP, list(self.gaps.values()))


def _declared(told: Iterable[Told]) -> dict[int, str]:
    """Give the declared sources of the tokens that spoke: fixed when a token is made."""
    tokens = {one.token for one in told if not isinstance(one, Waiver) and one.token is not None}
    statement = (
        "SELECT id, source_system, source_instance FROM access_apitoken WHERE id IN ({values})"
    )
    rows = bulk.select_in(statement, [], sorted(tokens))
    return {token: f"{system}/{instance}" for token, system, instance in rows if system}


def _closing(item: Item, told: Told) -> Row:
    """Give how a row of a gap ends by a receipt."""
    if isinstance(told, Waiver):
        return item.leaf, told.at, feeds.WAIVED, told.reason, told.actor
    return item.leaf, item.statement.received_at, arrivals.WHAT, "", ""


def _known(project_id: int, names: Iterable[str]) -> dict[str, _Known]:
    """Load the newest row of each spool, and its holes."""
    wanted = sorted(names)
    holes: dict[str, dict[Hole, int]] = {}
    for spool, first, last, since, leaf in bulk.select_in(_HOLES, [project_id], wanted):
        holes.setdefault(spool, {})[Hole(first, last, bulk.as_time(since))] = leaf
    found = {}
    for start in range(0, len(wanted), AT_ONCE):
        for row in bulk.select_rows(*_newest(project_id, wanted[start : start + AT_ONCE])):
            gaps = holes.get(row[0], {})
            found[row[0]] = _Known(spool_of(row[:-1], gaps), row[-1], gaps)
    return found


def _newest(project_id: int, names: Sequence[str]) -> tuple[str, list[object]]:
    # One by one: by the name alone a spool's whole past would be read.
    part = (
        f"SELECT * FROM (SELECT {select()}, leaf_index FROM feed_spool "  # noqa: S608
        "WHERE project_id = %s AND spool = %s ORDER BY leaf_index DESC LIMIT 1) AS part"
    )
    parts = [f"{part}{at}" for at in range(len(names))]
    return " UNION ALL ".join(parts), [one for name in names for one in (project_id, name)]
