"""Receipts as plain mappings: the small forms that the API and the command accept."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Union

from counterfoil import encode, exact, ids
from counterfoil.errors import BadReceipt

SCHEMA = "counterfoil.receipt/1"
RECIPE = "once"
DURABLE_KINDS = ("skip", "act")

KeyForm = Union[str, Mapping[str, Any]]


class Unset:
    """Marks an argument that was not given, where None is a statement."""

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()


def is_durable(receipt: Mapping[str, Any]) -> bool:
    """Say whether the receipt must be on disk before the call returns: skip, act, keyed done."""
    kind = receipt.get("kind")
    return kind in DURABLE_KINDS or (kind == "done" and bool(receipt.get("key")))


def key_of(key: KeyForm) -> dict[str, Any]:
    """Give the key as the contract has it.

    A text is one field named `key`; a mapping with `fields` is taken as it is; any other mapping is
    the fields. Raises BadReceipt for a value that another one would look like in JSON: calls with
    such keys would be taken for each other (see exact).
    """
    if isinstance(key, str):
        key = {"fields": {"key": key}}
    elif not isinstance(key, Mapping):
        raise BadReceipt("A key is a text or a mapping of its fields, as in {'payout': 'PO-1'}")
    elif not isinstance(key.get("fields"), Mapping):
        key = {"fields": key}
    fields = exact.fields_of(key["fields"], "key.fields")
    rest = {name: value for name, value in key.items() if name != "fields"}
    return {"recipe": RECIPE, "version": "1", **exact.plain(rest, "key"), "fields": fields}


def guard_name(key: KeyForm) -> str:
    """Give one text for equal keys, for a guard to hold: the text itself, or a digest of it."""
    if isinstance(key, str):
        return key
    full = key_of(key)
    compared = [full["recipe"], full["version"], full["fields"]]
    return f"{full['recipe']}:{hashlib.sha256(encode.canonical(compared)).hexdigest()}"


def job_of(job: Any) -> dict[str, Any]:
    """Give the job as the contract has it: its number alone becomes its id, as text."""
    if isinstance(job, Mapping):
        return {k: str(v) if k == "id" and v is not None else v for k, v in job.items()}
    return {"id": str(job)}


def original_of(original: Any) -> dict[str, Any] | None:
    """Give the pointer of a skip: a text is a receipt's id, None says that there is none."""
    if original is None:
        return None
    if isinstance(original, str):
        return {"receipt": original}
    if isinstance(original, Mapping):
        return {k: str(v) if k == "job" else v for k, v in original.items()}
    raise BadReceipt('An original is {"receipt": id}, {"job": id}, a receipt\'s id or None')


def original_from_holder(
    holder: str | bytes | None, *, is_finished: bool, is_in_job: bool = False
) -> dict[str, Any] | None:
    """Give the pointer that a holder's name allows, without asking anybody.

    A token of `once` is the id of the holder's start; when it has finished, its done receipt is
    named by UUIDv5(token, "done"). A name that is no UUID is a job's, as home-made guards hold it;
    so is every name inside a job (`is_in_job`), since job systems name theirs by UUIDs too.
    """
    if holder is None:
        return None
    name = holder.decode("utf-8", "replace") if isinstance(holder, bytes) else str(holder)
    if is_in_job or not ids.is_uuid(name):
        return {"job": name}
    return {"receipt": ids.done_of(name) if is_finished else name}


def actor_of(by: Any) -> dict[str, Any]:
    """Give the actor as the contract has it: a text is a person's id."""
    if isinstance(by, Mapping):
        return dict(by)
    return {"type": "person", "id": str(by)}


def subject_of(text: str) -> dict[str, str]:
    """Read a subject as TYPE:ID, for example payout:PO-88213."""
    kind, colon, name = text.partition(":")
    if not colon or not re.fullmatch(r"[a-z0-9_]{1,32}", kind) or not 1 <= len(name) <= 255:
        raise BadReceipt(f"Not a subject: {text!r}; write TYPE:ID, as in payout:PO-88213")
    return {"type": kind, "id": name}


_CHANNEL = re.compile(
    r"(?P<channel>.+):(?P<from>[^:=]*?)\.\.(?P<to>[^:=]*?)(=(?P<outcome>clean|gap|skipped|error))?"
)


def channel_of(text: str) -> dict[str, str]:
    """Read what a sweep saw: CHANNEL:FROM..TO, with =gap, =skipped or =error when not clean.

    `lobby:90..100` has read 91 to 100. Ids stay text, so that no digit of them is lost.
    """
    found = _CHANNEL.fullmatch(text)
    if found is None or not (found["from"] and found["to"]):
        raise BadReceipt(f"Not a channel: {text!r}; write CHANNEL:FROM..TO, as in lobby:90..100")
    return {
        "channel": found["channel"],
        "from": found["from"],
        "to": found["to"],
        "outcome": found["outcome"] or "clean",
    }


def made(kind: str, fields: Mapping[str, Any], source: Mapping[str, str] | None) -> dict[str, Any]:
    """Give a receipt of the fields that are given, with its id and its time."""
    receipt: dict[str, Any] = {"schema": SCHEMA, "id": "", "kind": kind, "occurred_at": ""}
    for name, value in fields.items():
        if value is not UNSET and (value is not None or name == "original"):
            receipt[name] = value  # noqa: PERF403
    receipt["id"] = str(receipt["id"]) or ids.v7()
    receipt["occurred_at"] = receipt["occurred_at"] or encode.now_text()
    if source and "source" not in receipt:
        receipt["source"] = source
    _take_short_forms(receipt)
    return receipt


def _take_short_forms(receipt: dict[str, Any]) -> None:
    if "key" in receipt:
        receipt["key"] = key_of(receipt["key"])
    if "job" in receipt:
        receipt["job"] = job_of(receipt["job"])
    for name in ("task", "queue"):
        if name in receipt:
            receipt.setdefault("job", {})[name] = receipt.pop(name)
    if "original" in receipt:
        receipt["original"] = original_of(receipt["original"])
    if "subjects" in receipt:
        receipt["subjects"] = [
            subject_of(s) if isinstance(s, str) else s for s in receipt["subjects"]
        ]
