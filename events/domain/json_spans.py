"""JSON as places in its text: strict, of any depth that Go reads, and without changing a byte.

`json.loads` is quicker, but it stops at deep nesting and at long numbers, keeps one of two equal
members, and forgets how a number was written. What it cannot tell is read here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_DEPTH = 10_000
"""As deep as Go's encoding/json reads; one more level is an error there."""
KEPT_DEPTH = 32
"""Members of what lies deeper are read and not kept; nobody names them by a path."""
MOST_DIGITS = 1_000
MOST_BRACKETS = 200
"""With more of them, a text may be nested too deeply for the common reader; whether that one gets
through depends on who calls it, and what is read must not."""
OBJECT, ARRAY, STRING, NUMBER, WORD = "object", "array", "string", "number", "word"

_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:"
    r'(?P<string>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?)"
    r"|(?P<word>true|false|null)"
    r"|(?P<mark>[{}\[\],:]))"
)
_SPACE = " \t\n\r"
_CLOSING = {"{": "}", "[": "]"}


class NotJson(ValueError):
    """This text is not one JSON value and nothing else."""


@dataclass(slots=True)
class Span:
    """A value from `start` to `end` in the text; members in their order, equal names included.

    `is_cut` holds of the whole where something in it lies too deep to be kept, `named_at` is where
    the name of a member stands.
    """

    kind: str
    start: int
    end: int = 0
    members: list[tuple[str, Span]] = field(default_factory=list)
    items: list[Span] = field(default_factory=list)
    is_cut: bool = False
    named_at: tuple[int, int] = (0, 0)


def may_be_deep(text: str) -> bool:
    """Tell whether a text has so many brackets that it has to be read here."""
    return text.count("[") + text.count("{") > MOST_BRACKETS


def string_of(text: str, span: Span) -> str:
    """Return what a string says."""
    return str(json.loads(text[span.start : span.end]))


def token_of(text: str, span: Span) -> str:
    """Return a value as it was written."""
    return text[span.start : span.end]


def value_of(text: str, span: Span) -> Any:
    """Return what a value is worth, as far as its members are kept; the last of equal ones wins."""
    if span.kind == OBJECT:
        return {name: value_of(text, one) for name, one in span.members}
    if span.kind == ARRAY:
        return [value_of(text, one) for one in span.items]
    token = token_of(text, span)
    # Python refuses to read an integer of more than 4,300 digits.
    is_long = span.kind == NUMBER and len(token) > MOST_DIGITS
    return float(token) if is_long else json.loads(token)


def read(text: str) -> Span:
    """Read a text as JSON; raises NotJson for all else, trailing text included."""
    return _Reader(text).read()


class _Reader:
    """Reads token by token, with the open objects and arrays on a list instead of the stack."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.open: list[Span] = []
        self.is_fresh = self.is_cut = False

    def read(self) -> Span:
        root = self._begin(*self._token())
        while self.open:
            self._go_on()
        if self.text[self.place :].strip(_SPACE):
            raise NotJson("there is text after the value")
        root.is_cut = self.is_cut
        return root

    def _token(self) -> tuple[str, int, int]:
        found = _TOKEN.match(self.text, self.place)
        if found is None or found.lastgroup is None:
            raise NotJson(f"no JSON at character {self.place}")
        self.place = found.end()
        return found.lastgroup, *found.span(found.lastgroup)

    def _begin(self, kind: str, start: int, end: int) -> Span:
        """Take the token that a value begins with; an object or array is open from then on."""
        if kind != "mark":
            self.is_fresh = False
            return Span(kind, start, end)
        mark = self.text[start]
        if mark not in _CLOSING or len(self.open) >= MAX_DEPTH:
            raise NotJson(f"no value at character {start}, or nested too deeply")
        span = Span(OBJECT if mark == "{" else ARRAY, start)
        self.open.append(span)
        self.is_fresh = True
        return span

    def _go_on(self) -> None:
        """Read a member, the comma before it, or the end of what is open."""
        kind, start, end = self._token()
        mark = self.text[start] if kind == "mark" else ""
        if mark == _CLOSING[self.text[self.open[-1].start]]:
            self.open.pop().end = end
            self.is_fresh = False
        elif self.is_fresh:
            self._member(kind, start, end)
        elif mark == ",":
            self._member(*self._token())
        else:
            raise NotJson(f"no comma at character {start}")

    def _member(self, kind: str, start: int, end: int) -> None:
        parent, is_kept = self.open[-1], len(self.open) <= KEPT_DEPTH
        self.is_cut = self.is_cut or not is_kept
        if parent.kind == ARRAY:
            child = self._begin(kind, start, end)
            if is_kept:
                parent.items.append(child)
            return
        name = self._name(kind, start, end)
        child = self._begin(*self._token())
        child.named_at = (start, end)
        if is_kept:
            parent.members.append((name, child))

    def _name(self, kind: str, start: int, end: int) -> str:
        mark, at, _ = self._token()
        if kind != STRING or mark != "mark" or self.text[at] != ":":
            raise NotJson(f"no name at character {start}")
        return str(json.loads(self.text[start:end]))


def iter_children(span: Span) -> Iterator[tuple[str | int, Span]]:
    """Yield what lies directly in an object or array, by name or index."""
    yield from span.members
    yield from enumerate(span.items)
