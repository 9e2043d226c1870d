"""What a recipe would have changed, as a document: exact counts, and flips with their reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from jobs.domain import attempts
from jobs.domain.because import RULES, UNJUDGED, because, shown
from jobs.domain.fields import SEPARATOR, Shape
from jobs.domain.lab import Flip, Result
from jobs.domain.meetings import Differs, differing
from jobs.domain.recipes import LETTER_WORDS, OWN, Recipe
from jobs.projectors.attempts import load_shapes
from kit import bulk, ids

Document = dict[str, Any]
Original = tuple[int, Differs]
_ENTRIES = (
    "SELECT leaf_index, receipt, target, job FROM entry "
    "WHERE project_id = %s AND leaf_index IN ({values})"
)
_ATTEMPTS = "SELECT leaf_index, run, shape, picked FROM attempt WHERE project_id = %s AND "


def document(project_id: int, recipe: Recipe, result: Result, limit: int) -> Document:
    """Give the answer for one recipe."""
    sampled = result.flips(limit)
    refs, targets = _refs(project_id, sampled)
    originals = _originals(project_id, sampled, targets)
    refs |= _refs_of(project_id, [leaf for leaf, _ in originals.values() if leaf not in refs])
    return {
        "recipe": recipe_document(recipe),
        "attempts": result.attempts,
        "ran": result.ran,
        "skipped": result.skipped,
        "would_run": result.would_run,
        "would_skip": result.would_skip,
        "unjudged": _unjudged(result),
        "flips": [_flip(one, recipe, refs, originals.get(one.leaf)) for one in sampled],
        "flips_count": {"to_run": result.to_run, "to_skip": result.to_skip},
        "lost_reentries": result.lost,
        "differing": [{"field": name, "count": n} for name, n in result.differing.most_common()],
        "rules": [
            {"code": code, "count": n, "sentence": RULES[code]}
            for code, n in result.rules.most_common()
        ],
        "across_recipes": result.across_recipes,
        "assumed": result.assumed,
    }


def recipe_document(recipe: Recipe) -> Document:
    """Write a recipe as it may be sent again."""
    told: Document = {"fields": list(recipe.fields)}
    if recipe.window_s != OWN:
        told["window_s"] = recipe.window_s
    if recipe.states is not None:
        told["states"] = [word for letter, word in LETTER_WORDS.items() if letter in recipe.states]
    return {**told, "policy": recipe.policy, "across_tasks": recipe.across_tasks}


def _unjudged(result: Result) -> list[Document]:
    lacking = [
        {"code": "lacks", "field": name, "count": count, "because": _lacks(name)}
        for name, count in result.lacking.most_common()
    ]
    others = [
        {"code": code, "count": count, "because": UNJUDGED[code]}
        for code, count in result.unjudged.most_common()
        if code != "lacks"
    ]
    return [*lacking, *others]


def _lacks(name: str) -> str:
    return "it has no key" if name == "key" else f"it does not name the field {name}"


def _flip(one: Flip, recipe: Recipe, refs: dict[int, str], original: Original | None) -> Document:
    def name(leaf: int) -> str:
        ref = refs.get(leaf)
        return f"№{leaf:,}" + (f" ({ref})" if ref else "")

    return {
        "ref": refs.get(one.leaf),
        "leaf_index": str(one.leaf),
        "at": attempts.moment(one.at),
        "from": one.was,
        "to": one.now,
        "rule": one.rule,
        "because": because(one, recipe, name, original),
        "fields": _fields(one.shape, one.values),
        "holder": _place(one.holder, refs),
        "original": _place(original[0] if original else None, refs),
        "differs": _told(one.differs),
    }


def _place(leaf: int | None, refs: dict[int, str]) -> Document | None:
    return None if leaf is None else {"ref": refs.get(leaf), "leaf_index": str(leaf)}


def _told(differs: Differs) -> list[Document]:
    return [
        {"field": name, "here": shown(here), "there": shown(there)} for name, here, there in differs
    ]


def _fields(shape: Shape, values: str) -> Document:
    return dict(zip(shape.names, map(shown, values.split(SEPARATOR)), strict=False))


def _refs(project_id: int, sampled: Sequence[Flip]) -> tuple[dict[int, str], dict[int, int]]:
    """Give the refs of what is named, and the originals that the lists found for skips."""
    holders = {one.holder for one in sampled if one.holder is not None}
    leaves = {one.leaf for one in sampled} | holders
    rows = bulk.select_in(_ENTRIES, [project_id], sorted(leaves))
    refs = {leaf: ids.ref_of(bulk.as_uuid(receipt)) for leaf, receipt, _, _ in rows}
    skips = {one.leaf for one in sampled if one.rule != "held"}
    found = {leaf: target for leaf, _, target, _ in rows if target is not None and leaf in skips}
    return refs, found


def _refs_of(project_id: int, leaves: Iterable[int]) -> dict[int, str]:
    rows = bulk.select_in(_ENTRIES, [project_id], sorted(set(leaves)))
    return {leaf: ids.ref_of(bulk.as_uuid(receipt)) for leaf, receipt, _, _ in rows}


def _originals(
    project_id: int, sampled: Sequence[Flip], targets: dict[int, int]
) -> dict[int, Original]:
    """Give for each skip what it was skipped for, and what that has otherwise."""
    runs = _runs_of(project_id, targets.values())
    rows = bulk.select_in(
        f"{_ATTEMPTS}leaf_index IN ({{values}})", [project_id], sorted(set(targets.values()))
    )
    rows += bulk.select_in(
        f"{_ATTEMPTS}NOT (run = '') AND run IN ({{values}})", [project_id], sorted(runs.values())
    )
    shapes = load_shapes(project_id, {row[2] for row in rows})
    by_leaf = {leaf: (leaf, shapes[shape], picked) for leaf, _, shape, picked in rows}
    by_run = {run: by_leaf[leaf] for leaf, run, _, _ in rows if run}
    found: dict[int, Original] = {}
    for one in sampled:
        target = targets.get(one.leaf, -1)
        known = by_leaf.get(target) or by_run.get(runs.get(target, ""))
        if known is not None:
            found[one.leaf] = target, differing(one.shape, one.values, known[1], known[2])
    return found


def _runs_of(project_id: int, targets: Iterable[int]) -> dict[int, str]:
    """Give the runs of the jobs that originals are receipts of."""
    rows = bulk.select_in(_ENTRIES, [project_id], sorted(set(targets)))
    return {leaf: attempts.run_of_job(job) for leaf, _, _, job in rows if job}
