"""Pad's messages as each of its versions reads them: exact to the receiver, not to the sender.

Source: reference/pad.md sections 1.1 (event), 2 (grammar) and 5 (watch bus).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from events.domain import go_json, profiles
from events.domain.decoded import Answer, Decoded, Frame, Reject, Skip
from events.domain.go_json import Body, Fields, parse_int64

EVENT = Fields({
    "id": int, "type": str, "workspace_id": str, "document_id": str, "item_id": str,
    "collection_id": str, "collection": str, "new_slug": str, "items_changed": bool,
    "title": str, "doc_type": str, "actor": str, "actor_name": str, "source": str,
    "user_id": str, "timestamp": int, "seq": int, "op": str, "count": int,
})  # fmt: skip
NOTIFICATION = Fields({
    "ID": int, "WorkspaceID": str, "ItemID": str, "CollectionID": str, "ItemRef": str,
    "Kind": str, "Actor": str, "ActorName": str, "Summary": str, "AssignedUserID": str,
    "TargetUserID": str, "TargetSessionID": str, "StatusFieldKey": str, "ToStatus": str,
    "Timestamp": int,
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Struct:
    """What a body is read into: its members, and which of them say what it is, whose and when."""

    fields: Fields
    type: str
    workspace: str
    at: str


_EVENT = Struct(EVENT, "type", "workspace_id", "timestamp")
_NOTIFICATION = Struct(NOTIFICATION, "Kind", "WorkspaceID", "Timestamp")
LONGEST_FRAME = 64
_SHORT = 32
_FRAME = re.compile(rb"hb\|[0-9]+(?:\|[A-Za-z0-9._:-]*)*")

Decode = Callable[[str, bytes], Answer]


def is_frame(raw: bytes) -> bool:
    """Tell whether a message is a liveness frame, by its shape and at most 64 bytes."""
    return len(raw) <= LONGEST_FRAME and _FRAME.fullmatch(raw) is not None


def decode_bare(scope: str, raw: bytes) -> Answer:
    """Read a message as the version without epochs does: JSON alone, whatever its id."""
    return _routed(scope, _bare(raw))


def decode_opaque(scope: str, raw: bytes) -> Answer:
    """Read a message as the version with opaque epochs does: any text is one, any int64 an id."""
    parts = _parts(raw)
    return _routed(scope, _bare(raw) if parts is None else _opaque(parts, _EVENT))


def decode_generation(scope: str, raw: bytes) -> Answer:
    """Read a message as the version with generation numbers does: both numbers above zero."""
    parts = _parts(raw)
    found = _bare(raw) if parts is None else _generation(parts)
    if isinstance(found, Reject):
        return found
    if found.id <= 0:
        return Reject("id_not_positive")
    return found if found.scope == scope else Reject("workspace_mismatch")


def decode_heartbeat(scope: str, raw: bytes) -> Answer:
    """Read a message as the version with liveness frames does: they are looked for first."""
    if raw[:3] == b"hb|" and is_frame(raw):
        return Frame(raw.decode("ascii"))
    return decode_generation(scope, raw)


def decode_watch(scope: str, raw: bytes) -> Answer:
    """Read a notification of the watch bus: always three parts, and any id."""
    parts = raw.split(b"|", 2)
    if len(parts) != 3:
        return Reject("not_prefixed")
    found = _opaque(parts, _NOTIFICATION)
    # One channel carries all workspaces of an installation; it alone is the scope.
    return found if isinstance(found, Reject) else found._replace(scope=scope)


def decode_watch_heartbeat(scope: str, raw: bytes) -> Answer:
    """Read a message of the watch bus of the version with liveness frames."""
    if raw[:3] == b"hb|" and is_frame(raw):
        return Frame(raw.decode("ascii"))
    return decode_watch(scope, raw)


DECODERS: Mapping[str, Decode] = {
    profiles.BARE: decode_bare,
    profiles.OPAQUE: decode_opaque,
    profiles.GENERATION: decode_generation,
    profiles.HEARTBEAT: decode_heartbeat,
    profiles.WATCH: decode_watch,
    profiles.WATCH_HEARTBEAT: decode_watch_heartbeat,
}


def _parts(raw: bytes) -> list[bytes] | None:
    """Split a message at its first two separators; None where it is bare."""
    if raw[:1] == b"{":
        return None
    parts = raw.split(b"|", 2)
    return parts if len(parts) == 3 else None


def _routed(scope: str, found: Decoded | Reject) -> Answer:
    """Ignore what is routed by its body to no subscription: the channel's is the only one."""
    if isinstance(found, Reject) or found.scope == scope:
        return found
    return Skip("workspace_mismatch" if found.scope else "empty_workspace", found)


def _bare(raw: bytes) -> Decoded | Reject:
    text = go_json.text_of(raw)
    body = go_json.unmarshal(text, EVENT)
    if body is None:
        return Reject("json")
    return _message(None, body.members.get("id", 0), raw, text, body, _EVENT)


def _opaque(parts: list[bytes], struct: Struct) -> Decoded | Reject:
    if not parts[0]:
        return Reject("empty_epoch")
    # Escapes keep two tokens apart that are not UTF-8; Go compares their bytes.
    return _prefixed(parts[0].decode("utf-8", "backslashreplace"), parts, struct)


def _generation(parts: list[bytes]) -> Decoded | Reject:
    # A bus has few generation numbers, and one of them comes with every message.
    epoch = _remembered(parts[0]) if len(parts[0]) <= _SHORT else _epoch_number(parts[0])
    return epoch if isinstance(epoch, Reject) else _prefixed(epoch, parts, _EVENT)


def _epoch_number(raw: bytes) -> str | Reject:
    number = parse_int64(raw)
    if number is None:
        return Reject("epoch_not_integer")
    return str(number) if number > 0 else Reject("epoch_not_positive")


_remembered = lru_cache(256)(_epoch_number)


def _prefixed(epoch: str, parts: list[bytes], struct: Struct) -> Decoded | Reject:
    number = parse_int64(parts[1])
    if number is None:
        return Reject("id_not_integer")
    text = go_json.text_of(parts[2])
    body = go_json.unmarshal(text, struct.fields)
    if body is None:
        return Reject("json")
    return _message(epoch, number, parts[2], text, body, struct)


def _message(
    epoch: str | None, number: int, raw: bytes, text: str, body: Body, struct: Struct
) -> Decoded:
    get = body.members.get
    value = body.members if body.is_plain else None
    kind, scope = get(struct.type, ""), get(struct.workspace, "")
    return Decoded(epoch, number, scope, raw, text, kind, get(struct.at), value)
