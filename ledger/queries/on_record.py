"""Which drafts say nothing new: their id is on record, with the same content or another."""

from __future__ import annotations

from collections.abc import Sequence

from kit import bulk
from ledger.domain.draft import Draft

NEW, SAME, OTHER = "new", "same", "other"
_FIRST = (
    "SELECT id_key, fingerprint FROM receipt_key WHERE project_id = %s AND id_key IN ({values})"
)


def standing_of(project_id: int, drafts: Sequence[Draft]) -> list[str]:
    """Say of each draft of a project whether its id is new, on record, or on record otherwise."""
    rows = bulk.select_in(_FIRST, [project_id], {draft.id_key for draft in drafts})
    known = {bytes(id_key): bytes(fingerprint) for id_key, fingerprint in rows}
    return [standing(draft, known.get(draft.id_key)) for draft in drafts]


def standing(draft: Draft, fingerprint: bytes | None) -> str:
    """Hold a draft against the first content of its id, None where there is none."""
    if fingerprint is None:
        return NEW
    return SAME if fingerprint == draft.fingerprint else OTHER
