"""The rows of a table in a plain dump of PostgreSQL: `COPY … FROM stdin;` up to a lone `\\.`."""

from __future__ import annotations

import re

END = "\\."
_COPY = re.compile(r'COPY (?:"?[^".\s]+"?\.)?"?([^".\s]+)"? \(([^)]*)\) FROM stdin;')
_ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def is_dump(head: bytes) -> bool:
    """Tell whether a file begins as a dump does."""
    return head.startswith((b"--", b"COPY ")) and (b"COPY " in head or b"database dump" in head)


def columns_of(line: str) -> list[str]:
    """Return the columns that the head of a table's rows names; empty for another line."""
    match = _COPY.fullmatch(line)
    return [name.strip().strip('"') for name in match[2].split(",")] if match else []


def is_table(line: str, table: str) -> bool:
    """Tell whether the head of a table's rows is that of a table; without a name, of any."""
    match = _COPY.fullmatch(line)
    return match is not None and table in ("", match[1])


def fields_of(line: str) -> list[str | None]:
    """Return the fields of a row; None is NULL."""
    return [None if field == "\\N" else _ESCAPE.sub(_plain, field) for field in line.split("\t")]


def _plain(match: re.Match[str]) -> str:
    told = match[1]
    if told[0] == "x" and len(told) > 1:
        return chr(int(told[1:], 16))
    if told[0] in "01234567":
        return chr(int(told, 8) & 0xFF)
    return _LETTERS.get(told, told)
