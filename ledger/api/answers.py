"""What `POST /api/v1/receipts` answers, case by case (contract, section 3)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from kit import ids
from ledger.domain.draft import OVERSIZE, QUARANTINED
from ledger.store import Outcome

PROBLEM = "application/problem+json"
JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, a JSON body and the headers beside it."""

    status: int
    body: Mapping[str, Any]
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


def problem(status: int, code: str, title: str, detail: str, **members: Any) -> Answer:
    """Make an RFC 9457 problem; `retry_after` among the members becomes the header too."""
    headers = {}
    if "retry_after" in members:
        headers["Retry-After"] = str(members["retry_after"])
    body = {
        "type": f"urn:counterfoil:problem:{code}",
        "title": title,
        "status": status,
        "code": code,
        "detail": detail,
        **members,
    }
    return Answer(status, body, PROBLEM, headers)


def of(outcome: Outcome, leaves: Mapping[uuid.UUID, int], line: int | None = None) -> Answer:
    """Answer one outcome; `line` is its number in a batch, counted from 1."""
    if outcome.draft.state == OVERSIZE:
        return _oversize(outcome)
    if outcome.draft.state == QUARANTINED:
        return _quarantined(outcome, line)
    if outcome.is_conflict:
        return _conflict(outcome)
    return _accepted(outcome, leaves) if outcome.is_new else _replayed(outcome, leaves)


def location(ref: str) -> str:
    """Give the address of a receipt in the API, by its short name."""
    return f"/api/v1/receipts/{ref}"


def _accepted(outcome: Outcome, leaves: Mapping[uuid.UUID, int]) -> Answer:
    body = _body(outcome, "accepted", leaves)
    if outcome.draft.id_source == "minted":
        body["minted_id"] = True
    return Answer(201, body, headers={"Location": location(body["ref"])})


def _replayed(outcome: Outcome, leaves: Mapping[uuid.UUID, int]) -> Answer:
    body = _body(outcome, "replayed", leaves)
    if outcome.bytes_differ:
        body["bytes_differ"] = True
    headers = {"Location": location(body["ref"]), "Receipt-Replayed": "true"}
    return Answer(200, body, headers=headers)


def _conflict(outcome: Outcome) -> Answer:
    first, ref = ids.ref_of(outcome.first), ids.ref_of(outcome.receipt)
    receipts = [
        {"ref": first, "fingerprint": outcome.first_fingerprint.hex()},
        {"ref": ref, "fingerprint": outcome.draft.fingerprint.hex()},
    ]
    answer = problem(
        409,
        "conflict",
        "The id stands for another content",
        "Another receipt came under this id first. This one is kept as well, as a conflict; "
        "send a changed statement under an id of its own.",
        stored=True,
        id=outcome.draft.id_text,
        ref=ref,
        first_ref=first,
        receipts=receipts,
    )
    return Answer(409, answer.body, PROBLEM, {"Location": location(ref)})


def _quarantined(outcome: Outcome, line: int | None) -> Answer:
    prefix = "" if line is None else f"/{line}"
    reasons = [asdict(fault) for fault in outcome.draft.faults]
    for reason in reasons:
        reason["pointer"] = prefix + reason["pointer"]
    ref = ids.ref_of(outcome.receipt)
    body = {"ref": ref, "state": QUARANTINED, "reasons": reasons}
    replayed = {} if outcome.is_new else {"Receipt-Replayed": "true"}
    return Answer(202, body, headers={"Location": location(ref), **replayed})


def _oversize(outcome: Outcome) -> Answer:
    (fault,) = outcome.draft.faults
    ref = ids.ref_of(outcome.receipt)
    answer = problem(
        413,
        "oversize",
        "The body is over the limit",
        fault.detail,
        stored="digest",
        ref=ref,
        length=outcome.draft.length,
        truncated=outcome.draft.is_cut,
    )
    replayed = {} if outcome.is_new else {"Receipt-Replayed": "true"}
    return Answer(413, answer.body, PROBLEM, {"Location": location(ref), **replayed})


def _body(outcome: Outcome, state: str, leaves: Mapping[uuid.UUID, int]) -> dict[str, Any]:
    leaf = leaves.get(outcome.receipt)
    return {
        "ref": ids.ref_of(outcome.receipt),
        "id": outcome.draft.id_text,
        "state": state,
        "leaf_index": None if leaf is None else str(leaf),
    }
