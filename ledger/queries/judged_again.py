"""What a receipt was judged under earlier rules, where an act in the log tells it."""

from __future__ import annotations

import json
import uuid
from typing import Any

from kit import bulk, ids
from ledger.domain import plain, words
from ledger.domain.act_accounts import JUDGED_AGAIN
from ledger.domain.statement import Statement
from ledger.judged_again import SUBJECT
from ledger.models import ReceiptBody
from ledger.queries.as_of import AsOf

Document = dict[str, Any]
NEWEST = 10
"""Acts that are looked through; each is one release whose rules changed."""
_ACTS = (
    "SELECT e.leaf_index, e.receipt FROM entry_subject s JOIN entry e "
    "ON e.project_id = s.project_id AND e.leaf_index = s.leaf_index "
    "WHERE s.project_id = %s AND s.type = %s AND s.subject = %s "
    "AND s.leaf_index > %s AND s.leaf_index <= %s AND e.kind = 'act' AND e.token IS NULL "
    "ORDER BY s.leaf_index DESC LIMIT %s"
)


def find_was(project_id: int, one: Statement, as_of: AsOf) -> Document | None:
    """Find the newest act that judged a receipt otherwise, and what it had been before."""
    given = [project_id, *SUBJECT, one.leaf, as_of.leaf, NEWEST]
    for leaf, receipt in bulk.select_rows(_ACTS, given):
        act = bulk.as_uuid(receipt)
        found = _was(act, one)
        if found is not None:
            return {**found, "act": {"leaf_index": str(leaf), "ref": ids.ref_of(act)}}
    return None


def refs_of(act: uuid.UUID) -> list[str]:
    """Give the receipts that an act names as judged otherwise, the first thousand at most."""
    body = _body(act)
    refs = plain.list_of(plain.object_of(body.get("data")).get("refs"))
    return [ref for ref in refs if isinstance(ref, str)]


def _was(act: uuid.UUID, one: Statement) -> Document | None:
    body = _body(act, one.ref.encode("ascii"))
    told = plain.object_of(body.get("act"))
    code = plain.object_of(plain.object_of(body.get("data")).get("was")).get(one.ref)
    if told.get("verb") != JUDGED_AGAIN or not isinstance(code, str):
        return None
    rules = plain.object_of(told.get("rules_before"))
    badge = words.badge_of(code, one.kind, one.state)
    return {"code": code, "word": badge.word, "rules_version": plain.name_of(rules.get(SUBJECT[1]))}


def _body(act: uuid.UUID, holding: bytes = b"") -> Document:
    """Read the body of an act of ours; empty when it was erased or does not hold the bytes."""
    raw = ReceiptBody.objects.filter(pk=act).values_list("raw", flat=True).first()
    if raw is None or holding not in bytes(raw):
        return {}
    return dict(json.loads(bytes(raw)))
