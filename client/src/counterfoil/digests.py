"""Keyed digests: what is sent of a value that should not leave.

A digest without a key of a short value (an amount, a name) can be found by trying; so without a key
only the size is given. The key is shared by the producers of a project and never sent: equal values
have equal digests, which is all that comparing needs.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Any

from counterfoil import encode, exact


def digest_of(value: Any, key: bytes) -> str:
    """Give `hmac-sha256:HEX;len=N`, or `len=N` when there is no key; N counts canonical bytes.

    Raises BadReceipt for a value whose digest would be another's too (see exact).
    """
    text = encode.canonical(exact.plain(value, "What is to be digested"))
    if not key:
        return f"len={len(text)}"
    return f"hmac-sha256:{hmac.new(key, text, hashlib.sha256).hexdigest()};len={len(text)}"


def error_of(error: BaseException) -> dict[str, Any]:
    """Give of an exception its type and the size of its text, never the text."""
    kind = type(error)
    return {"type": f"{kind.__module__}.{kind.__qualname__}", "len": len(str(error))}
