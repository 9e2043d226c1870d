"""The projects' secret keys, made when first needed and kept in memory."""

from __future__ import annotations

import secrets

from kit.db import write_transaction
from ledger.domain import draft
from ledger.models import ProjectKey

_known: dict[int, bytes] = {}


def project_key(project_id: int) -> bytes:
    """Give the key of a project; two makers at once agree on the first one stored."""
    key = _known.get(project_id)
    if key is None:
        key = _known[project_id] = _load(project_id) or _make(project_id)
    return key


def forget() -> None:
    """Drop what is remembered; for tests that empty the database."""
    _known.clear()


def keyed(project_id: int, kind: str, text: str) -> bytes:
    """Key a text as `ledger.domain.draft.keyed` does, with the project's own key."""
    return draft.keyed(project_key(project_id), kind, text)


def _load(project_id: int) -> bytes | None:
    key = ProjectKey.objects.filter(project_id=project_id).values_list("key", flat=True).first()
    return None if key is None else bytes(key)


def _make(project_id: int) -> bytes:
    with write_transaction():
        ProjectKey.objects.bulk_create(
            [ProjectKey(project_id=project_id, key=secrets.token_bytes(32))],
            ignore_conflicts=True,
        )
    key = _load(project_id)
    if key is None:
        raise LookupError(f"There is no project {project_id}.")
    return key
