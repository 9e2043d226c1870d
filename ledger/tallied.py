"""Jobs that have no receipt of their own, looked up in the tallies that list them.

A row holds 8 bytes of the job's keyed hash, so two jobs may share one: each tally that a hash
leads to is read, and only what it lists of the very job counts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

from kit import bulk
from ledger import keys, statements
from ledger.domain import tallies
from ledger.domain.tallies import Tallied
from ledger.statements import Item

_CANDIDATES = "SELECT job, leaf_index FROM tally_job WHERE project_id = %s AND job IN ({values})"


def job_hash(project_id: int, name: str) -> int:
    """Give 8 bytes of the keyed hash of a job, written as `celery/shop/3f0c`, as a number."""
    digest = keys.keyed(project_id, "tallied", name)
    return int.from_bytes(digest[:8], "big", signed=True)


def hashes_of(project_id: int, item: Item) -> set[int]:
    """Give the hashes of all jobs that a tally lists."""
    return {job_hash(project_id, name) for name in item.listed}


def candidates(project_id: int, names: Collection[str]) -> dict[str, list[int]]:
    """Give the tallies that may list a job, by its name, in the order of the leaves."""
    by_hash: dict[int, list[str]] = defaultdict(list)
    for name in names:
        by_hash[job_hash(project_id, name)].append(name)
    found: dict[str, list[int]] = defaultdict(list)
    for number, leaf in bulk.select_in(_CANDIDATES, [project_id], by_hash):
        for name in by_hash[number]:
            found[name].append(leaf)
    return {name: sorted(leaves) for name, leaves in found.items()}


def find(project_id: int, names: Collection[str], end: int) -> dict[str, list[Tallied]]:
    """Give what the tallies below `end` list of some jobs, by name, in the order of the leaves."""
    possible = {
        name: [leaf for leaf in leaves if leaf < end]
        for name, leaves in candidates(project_id, names).items()
    }
    items = statements.load_items(project_id, {leaf for each in possible.values() for leaf in each})
    found: dict[str, list[Tallied]] = {}
    for name, leaves in possible.items():
        read = (tallies.find(items[leaf].statement, items[leaf].rows, name) for leaf in leaves)
        if told := [one for one in read if one is not None]:
            found[name] = told
    return found
