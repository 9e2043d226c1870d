"""One stored message as a person looks at it: raw with its prefix, as JSON, and in hex.

What is shown is the body after masking, as it is stored; the prefix is written again from the epoch
and id that were read from it. Source: reference/events-and-loops.md section 5.3.
"""

from __future__ import annotations

from typing import Any

from events.domain.records import PREFIXED
from events.domain.rows import BASE64, Row
from ledger.domain import canonical, plain

RAW_MOST, HEX_MOST, JSON_MOST = 4_096, 1_024, 16_384
LINE = 16
CUT = "cut"
Document = dict[str, Any]


def look_of(row: Row) -> Document | None:
    """Give the body of a message in its three forms; None where none was kept."""
    kept = row.kept
    if kept is None:
        return None
    prefix = f"{row.epoch}|{row.id}|" if row.form == PREFIXED else ""
    text = kept.decode("utf-8", "backslashreplace")
    return {
        "prefix": prefix,
        "raw": plain.printable(text[:RAW_MOST]),
        "json": _json(kept),
        "hex": hex_lines((prefix.encode() + kept)[:HEX_MOST]),
        "bytes": len(prefix.encode()) + len(kept),
        "base64": row.encoding == BASE64,
        "cut": row.note == CUT or len(text) > RAW_MOST,
    }


def type_of(look: Document | None) -> str | None:
    """Give the event type that a body names, if it does."""
    value = None if look is None else look["json"]
    found = value.get("type") if isinstance(value, dict) else None
    return found[:80] if isinstance(found, str) else None


def hex_lines(data: bytes) -> list[Document]:
    """Write bytes sixteen to a line, with their offset and what of them is printable ASCII."""
    return [
        {
            "offset": f"{start:04x}",
            "bytes": data[start : start + LINE].hex(" "),
            "ascii": "".join(
                chr(one) if 0x20 <= one < 0x7F else "." for one in data[start : start + LINE]
            ),
        }
        for start in range(0, len(data), LINE)
    ]


def _json(kept: bytes) -> object:
    """Read a body as JSON with large numbers as text; None for what is none, or too long."""
    if len(kept) > JSON_MOST:
        return None
    try:
        value, _ = canonical.parse_any(kept)
    except canonical.NotCanonical:
        return None
    return plain.plain(value)
