"""Where a browser may be sent after logging in: to our own pages alone."""

from __future__ import annotations

from urllib.parse import urlsplit

_LONGEST = 2000


def safe_path(text: str, fallback: str = "/") -> str:
    """Return a path of this server, or `fallback` for whatever could lead elsewhere.

    Browsers read `\\` as `/`, drop tabs and line ends inside an address and take `//host` for a
    host, so a text with any of these is refused and not repaired.
    """
    if not text.startswith("/") or text.startswith("//") or len(text) > _LONGEST:
        return fallback
    if "\\" in text or any(character <= " " or character == "\x7f" for character in text):
        return fallback
    parts = urlsplit(text)
    return fallback if parts.scheme or parts.netloc else text
