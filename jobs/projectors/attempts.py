"""Attempts as the key lab replays them: one row for each, with all fields that a key may pick."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jobs.domain import attempts
from jobs.domain.attempts import Note, Sweep
from jobs.domain.fields import SEPARATOR, Shape
from kit import bulk
from ledger import tallied
from ledger.domain.names import column
from ledger.domain.tallies import Tallied
from ledger.registry import Write
from ledger.statements import Item

_COLUMNS = (
    "project_id", "leaf_index", "run", "alias", "outcome", "rank", "at", "shape", "picked",
    "state", "state_at", "sign_at", "limit_us", "gone_at", "gone_from",
)  # fmt: skip
_SHAPES = (
    "project_id", "shape", "digest", "source", "task", "queue", "recipe", "version", "names",
    "own", "window_s", "blocking",
)  # fmt: skip
_STORED = ", ".join(name for name in _COLUMNS[1:] if name != "gone_from")
_CHANGES = ", ".join(f"{name} = %s" for name in _COLUMNS[2:])
_UPDATE = f"UPDATE attempt SET {_CHANGES} WHERE project_id = %s AND leaf_index = %s"  # noqa: S608


@dataclass(slots=True)
class Kept:
    """An attempt as it is stored: its leaf, what is told of it, and when its row was deleted."""

    leaf: int
    note: Note
    shape: int
    gone_at: int | None = None
    is_fresh: bool = False


@dataclass(slots=True)
class _Run:
    """One batch being worked through."""

    project_id: int
    shapes: dict[str, int]
    kept: dict[str, Kept]
    new_shapes: list[tuple[Any, ...]] = field(default_factory=list)
    touched: dict[int, Kept] = field(default_factory=dict)
    tallied: dict[str, list[tuple[int, Sweep]]] = field(default_factory=dict)

    def take(self, leaf: int, note: Note | None, sweep: Sweep | None) -> None:
        """Take the next receipt."""
        if sweep is not None:
            for run in sweep.runs:
                self._sweep(run, sweep)
        if note is not None:
            self._note(leaf, note)

    def _note(self, leaf: int, note: Note) -> None:
        found = self._find(note)
        if found is None:
            found = Kept(leaf, note, self._intern(note.shape, leaf), is_fresh=True)
            self._take_earlier(found)
        else:
            found.note = attempts.merge(found.note, note)
            found.shape = self._intern(found.note.shape, leaf)
        self._know(found)
        self.touched[found.leaf] = found

    def _take_earlier(self, found: Kept) -> None:
        """Take what tallies told of a run before it had a receipt of its own."""
        for leaf, sweep in self.tallied.get(found.note.run, ()):
            if leaf < found.leaf:
                found.note = attempts.moved(found.note, sweep.state, sweep.at)

    def _find(self, note: Note) -> Kept | None:
        """Find the attempt of the same run; what came as the fail of a start belongs to it."""
        if not note.run:
            return None
        found = self.kept.get(note.run)
        if found is None and note.alias and note.alias in self.kept:
            found = self.kept[note.alias]
            found.note = attempts.renamed(found.note, note.run, note.alias)
        return found

    def _know(self, found: Kept) -> None:
        for name in (found.note.run, found.note.alias):
            if name:
                self.kept[name] = found

    def _sweep(self, run: str, sweep: Sweep) -> None:
        found = self.kept.get(run)
        if found is None:
            return
        if sweep.is_deleted:
            found.gone_at = sweep.at if found.gone_at is None else min(found.gone_at, sweep.at)
        else:
            found.note = attempts.moved(found.note, sweep.state, sweep.at)
        self.touched[found.leaf] = found

    def _intern(self, shape: Shape, leaf: int) -> int:
        """Give the number of a shape; a new one gets that of the leaf that brings it."""
        digest = shape.digest
        if digest not in self.shapes:
            self.shapes[digest] = _find_shape(self.project_id, digest, leaf)
            if self.shapes[digest] == leaf:
                self.new_shapes.append(self._shape_row(shape, digest, leaf))
        return self.shapes[digest]

    def _shape_row(self, shape: Shape, digest: str, leaf: int) -> tuple[Any, ...]:
        return (
            self.project_id, leaf, digest, shape.source, shape.task, shape.queue, shape.recipe,
            shape.version, json.dumps(shape.names), shape.own, shape.window_s, shape.blocking,
        )  # fmt: skip

    def write(self) -> None:
        """Write what the batch came to."""
        bulk.insert_rows("attempt_shape", _SHAPES, self.new_shapes)
        rows = {leaf: self._row(one) for leaf, one in self.touched.items()}
        fresh = [row for leaf, row in rows.items() if self.touched[leaf].is_fresh]
        known = [row for leaf, row in sorted(rows.items()) if not self.touched[leaf].is_fresh]
        bulk.insert_rows("attempt", _COLUMNS, fresh)
        bulk.update_rows(_UPDATE, [(*row[2:], *row[:2]) for row in known])

    def _row(self, one: Kept) -> tuple[Any, ...]:
        note = one.note
        return (
            self.project_id, one.leaf, note.run, note.alias, note.outcome, note.rank, note.at,
            one.shape, note.packed, note.state, note.state_at, note.sign_at,
            note.limit_us, one.gone_at, attempts.gone_from(note, one.gone_at),
        )  # fmt: skip


class AttemptsProjector:
    """Keeps one row for each attempt, whichever of its receipts comes first."""

    name = "attempts"
    rules_version = 2
    tables: tuple[str, ...] = ("attempt_shape", "attempt")

    def plan(self, project_id: int, items: Sequence[Item]) -> Write:
        """Work out what the batch tells of attempts."""
        told = [(item.leaf, attempts.find_note(item.statement), _sweep_of(item)) for item in items]
        notes = [note for _, note, _ in told if note is not None]
        runs = {run for _, _, sweep in told if sweep is not None for run in sweep.runs}
        names = {name for one in notes for name in (one.run, one.alias) if name}
        shapes = _shapes_of(project_id, {one.shape.digest for one in notes})
        run = _Run(project_id, shapes, _load(project_id, runs | names, names))
        run.tallied = _tallied(project_id, items, run.kept)
        for leaf, note, sweep in told:
            run.take(leaf, note, sweep)
        return run.write


def _sweep_of(item: Item) -> Sweep | None:
    if item.outcomes:
        return attempts.find_tallied(item.statement, item.outcomes)
    return attempts.find_sweep(item.statement)


def _tallied(
    project_id: int, items: Sequence[Item], kept: Mapping[str, Kept]
) -> dict[str, list[tuple[int, Sweep]]]:
    """Give what tallies told of the jobs of a batch that are no attempts yet, by run."""
    names = (one.job.text() for item in items if (one := item.statement).job is not None)
    runs = {column(name): attempts.run_of_job(name) for name in set(names)}
    fresh = {name for name, run in runs.items() if run not in kept}
    found = tallied.find(project_id, fresh, items[-1].leaf)
    return {
        runs[name]: [_done_by(runs[name], one) for one in told if one.is_done]
        for name, told in found.items()
    }


def _done_by(run: str, told: Tallied) -> tuple[int, Sweep]:
    at = attempts.micros(told.tally.happened_at)
    return told.tally.leaf, Sweep((run,), attempts.COMPLETED, False, at)


def _shapes_of(project_id: int, digests: Iterable[str]) -> dict[str, int]:
    rows = bulk.select_in(
        "SELECT digest, shape FROM attempt_shape WHERE project_id = %s AND digest IN ({values})",
        [project_id],
        sorted(digests),
    )
    return dict(rows)


def _find_shape(project_id: int, digest: str, leaf: int) -> int:
    """Give the number of a shape that two receipts make together: the stored one, or the leaf."""
    return _shapes_of(project_id, [digest]).get(digest, leaf)


def _load(project_id: int, runs: Iterable[str], aliases: Iterable[str]) -> dict[str, Kept]:
    """Load the attempts of some runs, by each of their names."""
    rows = []
    for name, wanted in (("run", sorted(runs)), ("alias", sorted(aliases))):
        statement = (
            f"SELECT {_STORED} FROM attempt "  # noqa: S608
            f"WHERE project_id = %s AND {name} IN ({{values}}) AND NOT ({name} = '')"
        )
        rows += bulk.select_in(statement, [project_id], wanted)
    shapes = load_shapes(project_id, {row[6] for row in rows})
    found: dict[str, Kept] = {}
    for row in rows:
        kept = _kept(row, shapes)
        found.update((name, kept) for name in (kept.note.run, kept.note.alias) if name)
    return found


def load_shapes(project_id: int, numbers: Iterable[int]) -> dict[int, Shape]:
    """Load some shapes by their numbers."""
    rows = bulk.select_in(
        f"SELECT {', '.join(_SHAPES[1:])} FROM attempt_shape "  # noqa: S608
        "WHERE project_id = %s AND shape IN ({values})",
        [project_id],
        sorted(numbers),
    )
    return {number: shape_of(rest) for number, _, *rest in rows}


def shape_of(row: Sequence[Any]) -> Shape:
    """Make a shape of a row in the order of its columns from `source` on."""
    source, task, queue, recipe, version, names, own, window_s, blocking = row
    listed = tuple(json.loads(names))
    return Shape(source, task, queue, recipe, version, listed, own, window_s, blocking)


def _kept(row: Sequence[Any], shapes: dict[int, Shape]) -> Kept:
    (leaf, run, alias, outcome, rank, at, shape, picked, state, state_at, sign_at, limit_us,
     gone_at) = row  # fmt: skip
    values = tuple(picked.split(SEPARATOR)) if shapes[shape].names else ()
    note = Note(
        run, alias, outcome, rank, at, shapes[shape], values, state, state_at, sign_at, limit_us
    )
    return Kept(leaf, note, shape, gone_at)
