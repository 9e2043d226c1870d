"""The `q` grammar: one way to select rows on pages, in the API, in exports and saved views.

A query is words and terms between spaces, and all of them must hold::

    kind:skip,cancel -state:resolved task:"send mail" executions:>1 after:2h key.scope:exec_a1

A comma means or, a minus means not, quotes hold spaces and commas together (`\\"` and `\\\\`
inside them), and only the first colon of a term parts its name from its values. Nothing is ever
ignored: what cannot be understood is a fault with its position. Source: reference/jobs.md
section 5 lines 7 to 9, contract section 4.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

MAX_LENGTH = 4_000
"""Characters in a query; a longer one is a fault and none of it is read."""
MAX_ITEMS = 100
"""Terms and words in a query, and values in a term."""

FieldType = Literal["text", "word", "time", "number", "ordinal", "path", "pair"]
RELATIVE_TIMES = ("15m", "2h", "24h", "7d")

_RELATIVE = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_LONGEST_AGO = timedelta(days=36_525)
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})"
    r"(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_INTEGER = re.compile(r"-?[0-9]{1,18}")
_COMPARISON = re.compile(r"(>=|<=|>|<|=)")
_NEEDS_QUOTES = re.compile(r'[\s,"]|^[><=]|^$')
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True)
class FieldSpec:
    """A qualifier that may stand before a colon.

    `type` says what its values are: `text` anything (`allowed` are only suggestions), `word` one
    of `allowed`, `time` see `moment`, `number` an integer that may be compared, `ordinal` text
    that may be compared when it is an integer, `pair` TYPE:ID, `path` a prefix used as
    `NAME.PATH:value`. The mapping key of a path ends with a dot where the bare name is a
    qualifier as well.
    """

    name: str
    type: FieldType = "text"
    allowed: tuple[str, ...] = ()
    help: str = ""


@dataclass(frozen=True)
class Term:
    """One `name:values` of a query; two terms are equal wherever they stand."""

    name: str
    values: tuple[str, ...]
    negated: bool = False
    comparison: str = "="
    position: int = field(default=0, compare=False)
    path: str | None = None


@dataclass(frozen=True)
class QueryFault:
    """A piece of a query that was not understood.

    `position` and `length` count characters of the query; `source` is the whole term or word as
    it was typed; `allowed` are the words that would have been understood, best guess first.
    """

    position: int
    length: int
    code: str
    message: str
    allowed: tuple[str, ...] = ()
    source: str = ""


@dataclass(frozen=True)
class Query:
    """A parsed query: select nothing by it while it has faults."""

    terms: tuple[Term, ...] = ()
    words: tuple[str, ...] = ()
    faults: tuple[QueryFault, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class Suggestion:
    """A completion: put `text` in place of the characters from `start` to `end`.

    `origin` is `field`, `value`, or `recent` for a value seen in a recent slice only.
    """

    text: str
    start: int
    end: int
    origin: Literal["field", "value", "recent"]
    help: str = ""


@dataclass(frozen=True)
class _Char:
    """A character of the query with its place and whether quotes held it."""

    text: str
    position: int
    quoted: bool


@dataclass(frozen=True)
class _Token:
    """What stands between two spaces, quotes taken off."""

    chars: tuple[_Char, ...]
    position: int
    source: str
    open_quote: int | None = None


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
    for token in _tokens(text):
        try:
            item = _item(token, known)
            if len(terms) + len(words) >= MAX_ITEMS:
                raise _Fault("too-many", f"A query has at most {MAX_ITEMS} terms and words.")
        except _Fault as fault:
            faults.append(_as_fault(fault, token))
        else:
            terms.append(item) if isinstance(item, Term) else words.append(item)
    return Query(tuple(terms), tuple(words), tuple(faults), text)


def _as_fault(fault: _Fault, token: _Token) -> QueryFault:
    position, length = fault.at or (token.position, len(token.source))
    return QueryFault(position, length, fault.code, fault.message, fault.allowed, token.source)


def _tokens(text: str) -> Iterable[_Token]:
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        token = _token(text, at)
        yield token
        at = token.position + len(token.source)


def _token(text: str, start: int) -> _Token:
    chars: list[_Char] = []
    at, quote = start, None
    while at < len(text) and (quote is not None or not text[at].isspace()):
        if text[at] == '"':
            if quote is not None and at == quote + 1:
                # Empty quotes leave a mark, or `task:""` would look like `task:`.
                chars.append(_Char("", quote, True))
            quote = at if quote is None else None
        else:
            if quote is not None and text[at] == "\\" and text[at + 1 : at + 2] in ('"', "\\"):
                at += 1
            chars.append(_Char(text[at], at, quote is not None))
        at += 1
    return _Token(tuple(chars), start, text[start:at], quote)


def _item(token: _Token, known: Mapping[str, FieldSpec]) -> Term | str:
    if token.open_quote is not None:
        at = (token.open_quote, 1)
        raise _Fault("open-quote", 'This quote is never closed; add a " where it ends.', at)
    if bad := next((char for char in token.chars if _UNSTORABLE.match(char.text)), None):
        raise _Fault("character", "No stored text has this character.", (bad.position, 1))
    chars = token.chars
    negated = _is_plain(chars[:1], "-")
    chars = chars[1:] if negated else chars
    colon = _find(chars, ":")
    if colon is not None and not chars[0].quoted:
        return _term(chars[:colon], chars[colon + 1 :], negated, token, known)
    if negated:
        message = f'A minus stands before a term, as in -name:value; quote "{token.source}" itself.'
        raise _Fault("lone-minus", message)
    if not _text(chars):
        raise _Fault("empty-word", "There is nothing between these quotes.")
    return _text(chars)


def _term(
    name_chars: Sequence[_Char],
    value_chars: Sequence[_Char],
    negated: bool,
    token: _Token,
    known: Mapping[str, FieldSpec],
) -> Term:
    spec, path = _spec(_text(name_chars), token, known)
    label = spec.name if path is None else f"{spec.name}.{path}"
    comparison, value_chars = _comparison(spec, value_chars)
    pieces = _split(value_chars)
    if not value_chars or not all(pieces):
        message = f'{label}: needs a value, and one after each comma; write "" for an empty one.'
        raise _Fault("no-value", message, allowed=spec.allowed)
    if len(pieces) > MAX_ITEMS:
        raise _Fault("too-many", f"{label}: takes at most {MAX_ITEMS} values.")
    if comparison != "=" and len(pieces) > 1:
        raise _Fault("many-compared", f"{label}:{comparison} takes one value, without a comma.")
    for piece in pieces:
        _check(spec, label, piece, comparison)
    values = tuple(_text(piece) for piece in pieces)
    return Term(spec.name, values, negated, comparison, token.position, path)


def _spec(name: str, token: _Token, known: Mapping[str, FieldSpec]) -> tuple[FieldSpec, str | None]:
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


def _comparison(spec: FieldSpec, chars: Sequence[_Char]) -> tuple[str, Sequence[_Char]]:
    if spec.type not in ("number", "ordinal"):
        return "=", chars
    plain = "".join(char.text for char in chars[:2] if not char.quoted)
    match = _COMPARISON.match(plain)
    return (match[1], chars[len(match[1]) :]) if match else ("=", chars)


def _check(spec: FieldSpec, label: str, piece: Sequence[_Char], comparison: str) -> None:
    value = _text(piece)
    expected = _expected(spec, value, comparison)
    if expected is None:
        return
    at = (piece[0].position, piece[-1].position + 1 - piece[0].position)
    allowed = spec.allowed or (RELATIVE_TIMES if spec.type == "time" else ())
    raise _Fault("bad-value", f'{label}: takes {expected}, not "{value}".', at, allowed)


def _expected(spec: FieldSpec, value: str, comparison: str) -> str | None:
    """Say what `spec` takes instead of `value`, or None where it takes it."""
    if spec.type == "word" and spec.allowed and value not in spec.allowed:
        return "one of " + ", ".join(spec.allowed)
    if spec.type == "time" and not is_time(value):
        return "a time such as 2026-10-05T09:00:00Z, a date, or an age such as 15m, 2h or 7d"
    if spec.type == "pair" and not all(pair(value)):
        return "a type and an id, as in payout:PO-88213"
    compared = spec.type == "number" or (spec.type == "ordinal" and comparison != "=")
    if compared and not _INTEGER.fullmatch(value):
        return "a whole number of at most 18 digits"
    return None


def _text(chars: Iterable[_Char]) -> str:
    return "".join(char.text for char in chars)


def _is_plain(chars: Sequence[_Char], text: str) -> bool:
    return bool(chars) and chars[0].text == text and not chars[0].quoted


def _find(chars: Sequence[_Char], text: str) -> int | None:
    return next((at for at in range(len(chars)) if _is_plain(chars[at : at + 1], text)), None)


def _split(chars: Sequence[_Char]) -> list[list[_Char]]:
    pieces: list[list[_Char]] = [[]]
    for char in chars:
        if char.text == "," and not char.quoted:
            pieces.append([])
        else:
            pieces[-1].append(char)
    return pieces


def is_time(value: str) -> bool:
    """Whether `moment` can read the value."""
    try:
        moment(value, datetime(2026, 1, 1, tzinfo=UTC))
    except ValueError:
        return False
    return True


def moment(value: str, now: datetime) -> datetime:
    """Turn a value of a time field into an aware UTC time; raise ValueError where it is none.

    An age such as `2h` counts back from `now`. A date is its first moment in UTC, so that
    `after:2026-10-05 before:2026-10-06` is one whole day: after includes its bound, before
    excludes it. Digits past the microsecond are cut off.
    """
    if match := _RELATIVE.fullmatch(value):
        ago = timedelta(**{_UNITS[match[2]]: int(match[1])})
        if ago > _LONGEST_AGO:
            raise ValueError(f"{value} is more than a hundred years.")
        return now.astimezone(UTC) - ago
    if _DATE.fullmatch(value):
        return datetime.fromisoformat(value).replace(tzinfo=UTC)
    if match := _TIME.fullmatch(value):
        fraction = (match[3] or ".0")[:7]
        zone = "+00:00" if match[4] in "Zz" else match[4]
        return _utc(datetime.fromisoformat(f"{match[1]}T{match[2]}{fraction:0<7}{zone}"))
    raise ValueError(f"{value} is no time.")


def _utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:
        raise ValueError("This time lies outside the years 1 to 9999.") from error


def pair(value: str) -> tuple[str, str]:
    """Part a pair at its first colon: `payout:PO-1` is ("payout", "PO-1")."""
    kind, _, ident = value.partition(":")
    return kind, ident


def render(terms: Iterable[Term], words: Iterable[str] = ()) -> str:
    """Write terms and words in their canonical form; `parse` reads the same ones back."""
    return " ".join([*(_render_term(term) for term in terms), *(_word(word) for word in words)])


def _render_term(term: Term) -> str:
    name = term.name if term.path is None else f"{term.name}.{_quoted(term.path, ':')}"
    values = ",".join(_quoted(value) for value in term.values)
    sign = "" if term.comparison == "=" else term.comparison
    return f"{'-' if term.negated else ''}{name}:{sign}{values}"


def _word(word: str) -> str:
    is_odd = word.startswith("-") or ":" in word
    return _quoted(word, word[0]) if is_odd else _quoted(word)


def _quoted(value: str, also: str = "\x00") -> str:
    if not _NEEDS_QUOTES.search(value) and also not in value:
        return value
    escaped = value.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def without(query: Query, term: Term) -> str:
    """Write the query without a term, for the link that takes it away; faults stay in it."""
    kept = [one for one in query.terms if one != term]
    return _rewritten(query, kept)


def with_term(
    query: Query, name: str, value: str, *, path: str | None = None, negated: bool = False
) -> str:
    """Write the query narrowed to a value, for the link of a facet.

    A term that asked for other values of the same name is replaced, since no row would match
    both; negated terms and comparisons stay. With `negated` the value is excluded instead.
    """
    new = Term(name, (value,), negated, path=path)
    kept = [one for one in query.terms if one != new and (negated or not _asks_same(one, new))]
    return _rewritten(query, [*kept, new])


def _asks_same(one: Term, other: Term) -> bool:
    plain = not one.negated and one.comparison == "="
    return plain and (one.name, one.path) == (other.name, other.path)


def _rewritten(query: Query, terms: Sequence[Term]) -> str:
    faulty = dict.fromkeys(fault.source for fault in query.faults if fault.source)
    return " ".join(filter(None, (render(terms, query.words), *faulty)))


def suggest(
    text: str,
    position: int,
    known: Mapping[str, FieldSpec],
    recent: Mapping[str, Sequence[str]] | None = None,
    limit: int = 12,
) -> tuple[Suggestion, ...]:
    """Complete what stands before `position`: names first, then the values of a name.

    `recent` holds values by name as seen in a recent slice; they come last and are marked.
    """
    before = text[:position]
    token = next(
        (one for one in _tokens(before) if one.position + len(one.source) == position), None
    )
    chars = token.chars if token else ()
    chars = chars[1:] if _is_plain(chars[:1], "-") else chars
    colon = _find(chars, ":")
    if colon is None:
        found = _names(_text(chars), position, known)
    else:
        name, last = _text(chars[:colon]), _split(chars[colon + 1 :])[-1]
        found = _values(name, last, position, known, recent or {})
    return tuple(found)[:limit]


def _names(prefix: str, position: int, known: Mapping[str, FieldSpec]) -> Iterable[Suggestion]:
    start = position - len(prefix)
    for spec in sorted(known.values(), key=lambda one: (one.name, one.type)):
        text = f"{spec.name}." if spec.type == "path" else f"{spec.name}:"
        if text.startswith(prefix):
            yield Suggestion(text, start, position, "field", spec.help)


def _values(
    name: str,
    last: Sequence[_Char],
    position: int,
    known: Mapping[str, FieldSpec],
    recent: Mapping[str, Sequence[str]],
) -> Iterable[Suggestion]:
    spec = known.get(name)
    fixed = spec.allowed if spec else ()
    if spec and spec.type == "time":
        fixed = fixed or RELATIVE_TIMES
    start = last[0].position - last[0].quoted if last else position
    seen = [value for value in recent.get(name, ()) if value not in fixed]
    for origin, values in (("value", fixed), ("recent", seen)):
        for value in values:
            if value.startswith(_text(last)):
                kind: Literal["value", "recent"] = "value" if origin == "value" else "recent"
                yield Suggestion(_quoted(value), start, position, kind)
