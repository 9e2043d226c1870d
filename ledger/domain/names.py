"""Text of producers as it can stand in an indexed column of either database.

PostgreSQL refuses U+0000 and lone surrogates in text and index rows above some 2,700 bytes, so a
name may not go into a column as it came: one receipt with such a name would stop the projector.
The receipt keeps the name as sent; the column holds the same text for nearly all names, and for
the others a readable beginning with a digest that keeps two names apart.
"""

from __future__ import annotations

import hashlib
import re

LONGEST = 255
_KEPT = 200
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def column(text: str) -> str:
    """Give the text of a column for a name: itself, or its beginning and a digest."""
    if len(text) <= LONGEST and text.isprintable():
        return text
    cleaned = _UNSTORABLE.sub("\ufffd", text)
    if cleaned == text and len(text) <= LONGEST:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{cleaned[:_KEPT]}~{digest[:16]}"
