"""What is on record under an id, as soon as it is stored and before it has a leaf."""

from __future__ import annotations

from collections.abc import Sequence

from kit import bulk
from ledger import keys
from ledger.domain import receipt_ids
from ledger.domain.draft import Draft

NEW, SAME, OTHER = "new", "same", "other"
_FIRST = (
    "SELECT id_key, fingerprint FROM receipt_key WHERE project_id = %s AND id_key IN ({values})"
)
_RAW = (
    "SELECT receipt_body.raw FROM receipt_key "
    "JOIN receipt_body ON receipt_body.id = receipt_key.receipt "
    "WHERE receipt_key.project_id = %s AND receipt_key.id_key = %s"
)


def find_raw(project_id: int, name: str) -> bytes | None:
    """Give the first bytes that came under an id; None where none did, or they were erased."""
    key = keys.keyed(project_id, "id", receipt_ids.read_id(name).key)
    rows = bulk.select_rows(_RAW, [project_id, key])
    return bytes(rows[0][0]) if rows else None


def is_there(project_id: int, name: str) -> bool:
    """Say whether anything came under an id."""
    key = keys.keyed(project_id, "id", receipt_ids.read_id(name).key)
    return bool(bulk.select_in(_FIRST, [project_id], [key]))


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
