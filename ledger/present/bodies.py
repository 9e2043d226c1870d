"""A body as text, indented where it is JSON."""

from __future__ import annotations

import json
from typing import Any

from ledger.domain import canonical
from ledger.present.addresses import Document

PRETTY_MOST = 200_000


def raw(data: bytes | None) -> Document:
    """Give a body as text, indented where it is JSON, with a mark when it is no text."""
    if data is None:
        return {"raw_text": "", "raw_pretty": "", "raw_is_text": True}
    try:
        text, is_text = data.decode("utf-8"), True
    except UnicodeDecodeError:
        text, is_text = data.decode("utf-8", "replace"), False
    return {"raw_text": text, "raw_pretty": _pretty(data), "raw_is_text": is_text}


def _pretty(data: bytes) -> str:
    """Indent JSON without changing a number's token; empty for what is no JSON."""
    if len(data) > PRETTY_MOST:
        return ""
    try:
        value, _ = canonical.parse_any(data)
    except canonical.NotCanonical:
        return ""
    return _indented(value, "")


def _indented(value: Any, margin: str) -> str:
    inner = margin + "  "
    if isinstance(value, dict) and value:
        members = (f"{inner}{_string(k)}: {_indented(v, inner)}" for k, v in value.items())
        return "{\n" + ",\n".join(members) + f"\n{margin}}}"
    if isinstance(value, list) and value:
        lines = (f"{inner}{_indented(each, inner)}" for each in value)
        return "[\n" + ",\n".join(lines) + f"\n{margin}]"
    if isinstance(value, canonical.Number):
        return value.token
    return _string(value)


def _string(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
