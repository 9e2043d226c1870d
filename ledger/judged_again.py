"""The act that says which receipts a change of rules judged otherwise.

It names the rules as its business object, so that the acts of a project are found without a
search, and each receipt with the code that it had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from kit import bulk, clock, ids
from ledger import ingest
from ledger.domain.act_accounts import JUDGED_AGAIN
from ledger.domain.leaf import rfc3339
from ledger.shadow import live_name, shadow_name

REFS_KEPT = 1_000
SUBJECT = ("rules", "receipts")

Change = tuple[str, str, str]


def find_changes() -> dict[int, list[Change]]:
    """Give for each project the refs that are judged otherwise, with code before and after.

    Reads the live entries and the rebuilt ones beside them, so only before they are swapped.
    """
    rows = bulk.select_rows(
        "SELECT old.project_id, old.receipt, old.verdict, new.verdict "  # noqa: S608
        f"FROM {live_name('entry')} AS old JOIN {shadow_name('entry')} AS new "
        "ON new.project_id = old.project_id AND new.leaf_index = old.leaf_index "
        "WHERE new.verdict <> old.verdict ORDER BY old.project_id, old.leaf_index",
        [],
    )
    changes: dict[int, list[Change]] = {}
    for project_id, receipt, before, after in rows:
        ref = ids.ref_of(bulk.as_uuid(receipt))
        changes.setdefault(project_id, []).append((ref, before, after))
    return changes


def record(
    project_id: int,
    changed: Sequence[Change],
    rules_before: Mapping[str, str],
    rules: Mapping[str, str],
) -> None:
    """Write into the log that receipts were judged again, from which verdicts to which."""
    counts = Counter((before, after) for _, before, after in changed)
    kept = changed[:REFS_KEPT]
    kind, name = SUBJECT
    now = clock.now()
    ingest.record(
        project_id,
        {
            "schema": "counterfoil.receipt/1",
            "kind": "act",
            "occurred_at": rfc3339(now),
            "source": {"system": "counterfoil"},
            "actor": {"type": "service", "id": "counterfoil", "label": "Counterfoil"},
            "subjects": [{"type": kind, "id": name}],
            "act": {
                "verb": JUDGED_AGAIN,
                "target": "verdicts",
                "rules": dict(rules),
                "rules_before": dict(rules_before),
                "counts": [
                    {"from": before, "to": after, "count": count}
                    for (before, after), count in sorted(counts.items())
                ],
            },
            "data": {
                "refs": [ref for ref, _, _ in kept],
                "was": {ref: before for ref, before, _ in kept},
            },
        },
        now,
    )
