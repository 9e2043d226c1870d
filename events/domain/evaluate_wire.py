"""Recorded messages decoded without a database (contract section 8, `wire`).

The answers are those of the decoders that the tail uses. Ids are texts, and so are epochs, also
those of profiles whose epochs are numbers: `"epoch": "7"`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from events.domain import profiles, wire
from events.domain.decoded import Answer, Decoded, Frame, Reject, Skip


def evaluate(document: object) -> list[dict[str, Any]]:
    """Answer each message of `[{"profile", "channel", "in"}]` in order.

    `channel` is the workspace that the message came for; the watch bus needs none. Raises
    ValueError, which says where.
    """
    if not isinstance(document, list):
        raise ValueError('send a list of {"profile", "channel", "in"}')
    return [_answer(f"[{place}]", one) for place, one in enumerate(document)]


def _answer(where: str, given: object) -> dict[str, Any]:
    if not isinstance(given, Mapping):
        raise ValueError(f"{where}: send an object with profile, channel and in")
    profile, message = _profile(where, given), _text(where, given, "in")
    has_channel = profile not in profiles.WATCH_PROFILES or "channel" in given
    channel = _text(where, given, "channel") if has_channel else ""
    return _shown(wire.decode(profile, channel, _bytes(message)))


def _profile(where: str, given: Mapping[str, Any]) -> str:
    profile = profiles.find_profile(given.get("profile"))
    if profile is None or profile == profiles.GENERIC:
        names = ", ".join(("v0", "v1", "v2", "v3", *profiles.PAD_PROFILES))
        raise ValueError(f"{where}.profile: send one of {names}")
    return profile


def _text(where: str, given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise ValueError(f"{where}.{name}: send a text")
    return value


def _bytes(text: str) -> bytes:
    """Give the bytes of a message; a lone surrogate U+DC80 to U+DCFF stands for a byte."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _shown(answer: Answer) -> dict[str, Any]:
    match answer:
        case Decoded():
            return {"ok": True, "epoch": answer.epoch, "id": str(answer.id)}
        case Reject():
            return {"reject": answer.code}
        case Skip():
            return {"skip": answer.code}
        case Frame():
            return {"heartbeat": True}
