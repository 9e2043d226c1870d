"""Reads a query; whatever it cannot read becomes a fault."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence

from kit.search.lexer import Char, Token, find_plain, is_plain, iter_tokens, split, text_of
from kit.search.terms import (
    MAX_ITEMS,
    MAX_LENGTH,
    RELATIVE_TIMES,
    FieldSpec,
    Query,
    QueryFault,
    Term,
)
from kit.search.values import find_expected

_COMPARISON = re.compile(r"(>=|<=|>|<|=)")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


class _Fault(Exception):
    """A token was not understood."""

    def __init__(
        self,
        code: str,
        message: str,
        at: tuple[int, int] | None = None,
        allowed: Iterable[str] = (),
    ) -> None:
        super().__init__(message)
        self.code, self.message, self.at, self.allowed = code, message, at, tuple(allowed)


def parse(text: str, known: Mapping[str, FieldSpec]) -> Query:
    """Read a query; what is not in `known` or has a bad value becomes a fault, never nothing."""
    if len(text) > MAX_LENGTH:
        message = f"A query has at most {MAX_LENGTH:,} characters; this one has {len(text):,}."
        return Query((), (), (QueryFault(MAX_LENGTH, 0, "too-long", message),), text)
    terms: list[Term] = []
    words: list[str] = []
    faults: list[QueryFault] = []
    for token in iter_tokens(text):
        if len(terms) + len(words) >= MAX_ITEMS:
            faults.append(_too_many(text, token))
            break
        try:
            item = _item(token, known)
        except _Fault as fault:
            faults.append(_as_fault(fault, token))
        else:
            terms.append(item) if isinstance(item, Term) else words.append(item)
    return Query(tuple(terms), tuple(words), tuple(faults), text)


def _too_many(text: str, first: Token) -> QueryFault:
    """Say once of all that is too much that it was not read."""
    left = text[first.position :]
    message = f"A query has at most {MAX_ITEMS} terms and words."
    return QueryFault(first.position, len(left), "too-many", message, source=left)


def _as_fault(fault: _Fault, token: Token) -> QueryFault:
    position, length = fault.at or (token.position, len(token.source))
    return QueryFault(position, length, fault.code, fault.message, fault.allowed, token.source)


def _item(token: Token, known: Mapping[str, FieldSpec]) -> Term | str:
    if token.open_quote is not None:
        at = (token.open_quote, 1)
        raise _Fault("open-quote", 'This quote is never closed; add a " where it ends.', at)
    if bad := next((char for char in token.chars if _UNSTORABLE.match(char.text)), None):
        raise _Fault("character", "No stored text has this character.", (bad.position, 1))
    chars = token.chars
    negated = is_plain(chars[:1], "-")
    chars = chars[1:] if negated else chars
    colon = find_plain(chars, ":")
    if colon is not None and not chars[0].quoted:
        return _term(chars[:colon], chars[colon + 1 :], negated, token, known)
    if negated:
        message = f'A minus stands before a term, as in -name:value; quote "{token.source}" itself.'
        raise _Fault("lone-minus", message)
    if not text_of(chars):
        raise _Fault("empty-word", "There is nothing between these quotes.")
    return text_of(chars)


def _term(
    name_chars: Sequence[Char],
    value_chars: Sequence[Char],
    negated: bool,
    token: Token,
    known: Mapping[str, FieldSpec],
) -> Term:
    spec, path = _spec(text_of(name_chars), token, known)
    label = spec.name if path is None else f"{spec.name}.{path}"
    comparison, value_chars = _comparison(spec, value_chars)
    pieces = split(value_chars)
    if not value_chars or not all(pieces):
        message = f'{label}: needs a value, and one after each comma; write "" for an empty one.'
        raise _Fault("no-value", message, allowed=spec.allowed)
    if len(pieces) > MAX_ITEMS:
        raise _Fault("too-many", f"{label}: takes at most {MAX_ITEMS} values.")
    if comparison != "=" and len(pieces) > 1:
        raise _Fault("many-compared", f"{label}:{comparison} takes one value, without a comma.")
    for piece in pieces:
        _check(spec, label, piece, comparison)
    values = tuple(text_of(piece) for piece in pieces)
    return Term(spec.name, values, negated, comparison, token.position, path)


def _spec(name: str, token: Token, known: Mapping[str, FieldSpec]) -> tuple[FieldSpec, str | None]:
    if name in known and known[name].type != "path":
        return known[name], None
    head, dot, path = name.partition(".")
    spec = known.get(f"{head}.") or known.get(head)
    start = token.position + token.source.startswith("-")
    if spec is None or spec.type != "path":
        names = sorted(_written(one) for one in known.values())
        close = difflib.get_close_matches(name.lower(), names, n=3, cutoff=0.6)
        message = f'There is no qualifier "{name}". To look for an id with a colon, quote it.'
        ordered = (*close, *(one for one in names if one not in close))
        raise _Fault("unknown-name", message, (start, len(name)), ordered)
    if not dot or not path:
        message = f"{head} needs the name of a field, as in {_written(spec)}:value."
        raise _Fault("no-path", message, (start, len(name)), (_written(spec),))
    return spec, path


def _written(spec: FieldSpec) -> str:
    return f"{spec.name}.NAME" if spec.type == "path" else spec.name


def _comparison(spec: FieldSpec, chars: Sequence[Char]) -> tuple[str, Sequence[Char]]:
    if spec.type not in ("number", "ordinal"):
        return "=", chars
    plain = "".join(char.text for char in chars[:2] if not char.quoted)
    match = _COMPARISON.match(plain)
    return (match[1], chars[len(match[1]) :]) if match else ("=", chars)


def _check(spec: FieldSpec, label: str, piece: Sequence[Char], comparison: str) -> None:
    value = text_of(piece)
    expected = find_expected(spec, value, comparison)
    if expected is None:
        return
    at = (piece[0].position, piece[-1].position + 1 - piece[0].position)
    allowed = spec.allowed or (RELATIVE_TIMES if spec.type == "time" else ())
    raise _Fault("bad-value", f'{label}: takes {expected}, not "{value}".', at, allowed)
