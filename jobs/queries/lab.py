"""The key lab's answer: stored attempts gone through again under one recipe or two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any

from jobs.domain.attempts import moment
from jobs.domain.fields import Shape
from jobs.domain.lab import AT, OUTCOME, Replay
from jobs.domain.recipes import Recipe
from jobs.projectors.attempts import shape_of
from jobs.queries import flips
from kit import bulk
from kit.db import indexed_by, read_snapshot
from kit.http import ProblemError, bad_query
from kit.search import Query
from ledger.queries.as_of import AsOf
from ledger.queries.where import where

MOST = 1_000_000
CHUNK = 2_000
Document = dict[str, Any]
_COLUMNS = "leaf_index, at, shape, picked, outcome, state, state_at, gone_at"
_ALL = "project_id = %s AND NOT (outcome = '')"
_ORDER = " ORDER BY at, outcome, leaf_index"
_FLOOR = (
    "SELECT at FROM attempt WHERE project_id = %s AND NOT (outcome = '') "
    "ORDER BY at DESC, outcome DESC, leaf_index DESC LIMIT 1 OFFSET %s"
)
_SHAPES = (
    "SELECT shape, source, task, queue, recipe, version, names, own, window_s, blocking "
    "FROM attempt_shape WHERE project_id = %s ORDER BY shape"
)


def simulate(
    project_id: int, recipes: Sequence[Recipe], query: Query, cut: AsOf, limit: int
) -> list[Document]:
    """Try each recipe on the newest `MOST` attempts that the query selects, in one pass."""
    if query.faults:
        raise bad_query(query)
    with read_snapshot():
        shapes = load_shapes(project_id)
        replays = [Replay(one, shapes, limit) for one in recipes]
        counts: Counter[str] = Counter()
        first = last = floor = _floor(project_id)
        for rows in _chunks(project_id, query, cut, floor):
            first, last = rows[0][AT] if not counts else first, rows[-1][AT]
            counts.update(map(itemgetter(OUTCOME), rows))
            for replay in replays:
                replay.take(rows)
        results = [one.finish(first, last, counts) for one in replays]
        documents = [
            flips.document(project_id, recipe, result, limit)
            for recipe, result in zip(recipes, results, strict=True)
        ]
    is_whole = floor is None
    window = _window(first if counts else None, last, is_whole=is_whole)
    return [{**one, "window": window} for one in documents]


def load_shapes(project_id: int) -> dict[int, Shape]:
    """Load all shapes of a project's attempts."""
    return {number: shape_of(rest) for number, *rest in bulk.select_rows(_SHAPES, [project_id])}


def recorded(shapes: dict[int, Shape]) -> list[Document]:
    """Give the matching rules that attempts were recorded with: name, version and fields."""
    found: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    for shape in shapes.values():
        if shape.own:
            name = (shape.recipe, shape.version, shape.names[: shape.own])
            found.setdefault(name, set()).add(shape.task)
    return [
        {"recipe": recipe, "version": version, "fields": list(names), "tasks": sorted(tasks)[:20]}
        for (recipe, version, names), tasks in sorted(found.items())
    ]


def field_names(shapes: dict[int, Shape]) -> list[str]:
    """Give the names of all fields that a recipe may pick here."""
    counted = Counter(name for shape in shapes.values() for name in shape.names)
    found = ["task", "queue"] if shapes else []
    return [*found, *sorted(set(counted) - {"task", "queue"})]


def _floor(project_id: int) -> int | None:
    """Give the time from which attempts are tried, None where all of them are."""
    rows = bulk.select_rows(_FLOOR, [project_id, MOST])
    return None if not rows else int(rows[0][0])


def _chunks(project_id: int, query: Query, cut: AsOf, floor: int | None) -> Iterator[list[Any]]:
    """Give the attempts in the order in which they happened (`jobs.domain.recipes.Row`)."""
    conditions, parameters = [_ALL], [project_id]
    # Left to itself SQLite sorts them all, which took half as long again (measured).
    index = indexed_by("attempt_in_order")
    if floor is not None:
        conditions.append("at > %s")
        parameters.append(floor)
    if query.terms or query.words:
        chosen, given = _chosen(project_id, query, cut)
        conditions.append(f"leaf_index IN (SELECT leaf_index FROM ({chosen}) AS chosen)")  # noqa: S608
        parameters += given
        index = ""
    statement = f"SELECT {_COLUMNS} FROM attempt{index} WHERE {' AND '.join(conditions)}{_ORDER}"  # noqa: S608
    return bulk.iter_chunks(statement, parameters, CHUNK)


def _chosen(project_id: int, query: Query, cut: AsOf) -> tuple[str, list[Any]]:
    """Select the leaves that the query is about."""
    found = where(project_id, query, cut)
    if found.paths:
        detail = "The key lab selects by what lists are indexed by; leave out key. and data. terms."
        raise ProblemError(400, "recipe", "This cannot be tried", detail)
    return found.newest("e.leaf_index", MOST)


def _window(first: int | None, last: int | None, *, is_whole: bool) -> Document:
    """Say of which attempts the answer is, and whether older ones were left out."""
    return {
        "from": _time(first),
        "to": None if first is None else _time(last),
        "complete": is_whole,
        "most": MOST,
    }


def _time(at: int | None) -> datetime | None:
    return None if at is None else moment(at)
