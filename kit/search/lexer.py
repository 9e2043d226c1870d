"""Parts a query at its spaces and takes the quotes off, remembering where each character stood."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Char:
    """A character of the query with its place and whether quotes held it."""

    text: str
    position: int
    quoted: bool


@dataclass(frozen=True)
class Token:
    """What stands between two spaces, quotes taken off."""

    chars: tuple[Char, ...]
    position: int
    source: str
    open_quote: int | None = None


def iter_tokens(text: str) -> Iterator[Token]:
    """Part a text at the spaces outside quotes."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _token(text, at)
        yield token
        at = token.position + len(token.source)


def _token(text: str, start: int) -> Token:
    chars: list[Char] = []
    at, quote = start, None
    while at < len(text) and (quote is not None or not text[at].isspace()):
        if text[at] == '"':
            if quote is not None and at == quote + 1:
                # Empty quotes leave a mark, or `task:""` would look like `task:`.
                chars.append(Char("", quote, True))
            quote = at if quote is None else None
        else:
            if quote is not None and text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
                at += 1
            chars.append(Char(text[at], at, quote is not None))
        at += 1
    return Token(tuple(chars), start, text[start:at], quote)


def text_of(chars: Iterable[Char]) -> str:
    """Give the characters as a text."""
    return "".join(char.text for char in chars)


def is_plain(chars: Sequence[Char], text: str) -> bool:
    """Whether the first character is this one, outside quotes."""
    return bool(chars) and chars[0].text == text and not chars[0].quoted


def find_plain(chars: Sequence[Char], text: str) -> int | None:
    """Find where a character first stands outside quotes."""
    return next((at for at in range(len(chars)) if is_plain(chars[at : at + 1], text)), None)


def split(chars: Sequence[Char]) -> list[list[Char]]:
    """Part characters at the commas outside quotes."""
    pieces: list[list[Char]] = [[]]
    for char in chars:
        if char.text == "," and not char.quoted:
            pieces.append([])
        else:
            pieces[-1].append(char)
    return pieces
