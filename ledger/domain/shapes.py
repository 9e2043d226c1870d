"""The known fields of a receipt and what each must look like (contract section 2), as a table."""

from __future__ import annotations

import re
from typing import Any

from ledger.domain.checks import (
    Check,
    Problem,
    any_object,
    each,
    matching,
    members_of,
    moment,
    name_or_number,
    object_or_number,
    receipt_id,
    seconds,
    text,
    text_of_length,
    wrong_type,
)

MAX_SUBJECTS = 16

_SUBJECT_TYPE = re.compile(r"[a-z0-9_]{1,32}")
_TRACE_ID = re.compile(r"[0-9A-Fa-f]{32}")
_SPAN_ID = re.compile(r"[0-9A-Fa-f]{16}")


def _original(value: Any, path: str, found: list[Problem]) -> None:
    wanted = 'send {"receipt": id}, {"job": id}, or null for none'
    _original_members(value, path, found)
    if type(value) is dict and value.get("receipt") is None and value.get("job") is None:
        found.append(Problem(path, "format", f"names nothing; {wanted}"))


def _evidence(value: Any, path: str, found: list[Problem]) -> None:
    # In a decision the member is where to look it up; in all other kinds it is the level's word.
    if type(value) is not dict and type(value) is not str:
        found.append(wrong_type(path, value, 'an object such as {"url": …}'))


_source = members_of({"system": text, "instance": text, "via": text})
_actor = members_of(
    {
        "type": text,
        "id": name_or_number,
        "label": text,
        "on_behalf_of": any_object,
        "authority": text,
    }
)
_original_members = members_of({"receipt": receipt_id, "job": name_or_number, "source": _source})
_head = members_of(
    {
        "channel": text,
        "node": text,
        "epoch": name_or_number,
        "head": name_or_number,
        "floor": name_or_number,
    }
)
_pairs = each(each(name_or_number))

_EVERY_KIND: dict[str, Check] = {
    "schema": text,
    "occurred_at": moment,
    "job": members_of(
        {
            "id": name_or_number,
            "task": text,
            "queue": text,
            "attempt": name_or_number,
            "delivery": name_or_number,
            "state": text,
        }
    ),
    "subjects": each(
        members_of(
            {
                "type": matching(_SUBJECT_TYPE, "1 to 32 characters a-z, 0-9 and _"),
                "id": text_of_length(1, 255),
            }
        ),
        most=MAX_SUBJECTS,
        needs=("type", "id"),
    ),
    "invoke": members_of(
        {
            "scope": name_or_number,
            "id": name_or_number,
            "generation": name_or_number,
            "element": each(name_or_number),
            "index": name_or_number,
        }
    ),
    "timer": members_of(
        {"scope": name_or_number, "ordinal": name_or_number, "send_id": name_or_number}
    ),
    "key": members_of(
        {"recipe": text, "version": name_or_number, "fields": any_object, "ignored": any_object}
    ),
    "reason": text,
    "original": _original,
    "original_state": text,
    "rule": members_of(
        {
            "name": text,
            "version": name_or_number,
            "text": text,
            "decision": text,
            "repo": text,
            "path": text,
            "line": name_or_number,
            "symbol": text,
            "commit": text,
        }
    ),
    "condition": members_of({"inputs": any_object}),
    "switch": members_of({"name": text, "set_at": moment, "actor": _actor}),
    "actor": _actor,
    "trace": members_of(
        {
            "trace_id": matching(_TRACE_ID, "32 hexadecimal digits"),
            "span_id": matching(_SPAN_ID, "16 hexadecimal digits"),
        }
    ),
    "source": _source,
    "evidence": text,
    # The facts of one try; in the `feed` line of a spool, how many of its lines were delivered.
    "sent": object_or_number,
}

_OF_KIND: dict[str, dict[str, Check]] = {
    "heartbeat": {
        "loop": text,
        "incarnation": name_or_number,
        "n": name_or_number,
        "run_id": name_or_number,
        "beat": text,
        "sent_at": moment,
        "period_s": seconds,
        "grace_s": seconds,
        "channels": each(
            members_of(
                {
                    "channel": text,
                    "epoch": name_or_number,
                    "from": name_or_number,
                    "to": name_or_number,
                    "floor_seen": name_or_number,
                    "outcome": text,
                    "backfill": _pairs,
                }
            )
        ),
    },
    "observe": {
        "what": text,
        "sampled_at": moment,
        "heads": each(_head),
        "bus": text,
        "replica": text,
        "spool": text,
        "ranges": _pairs,
        "version": name_or_number,
        "each": each(text),
        "tally": each(text),
        "never": each(text),
    },
    "tally": {
        "window": members_of({"from": moment, "to": moment}),
        "policy": name_or_number,
        "counts": each(any_object),
    },
    "act": {"act": members_of({"verb": text, "target": text, "commit": text})},
    "decide": {
        "decision": text,
        "move": text,
        "text_hash": text,
        "commit": text,
        "evidence": _evidence,
    },
}
_CHECKS = {kind: members_of({**_EVERY_KIND, **own}) for kind, own in _OF_KIND.items()}
_CHECK_OF_OTHERS = members_of(_EVERY_KIND)


def check_of(kind: str) -> Check:
    """Return the check of a body of this kind."""
    return _CHECKS.get(kind, _CHECK_OF_OTHERS)
