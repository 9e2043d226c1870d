"""JSON as sent, and its canonical text: members sorted, no white space, number tokens kept."""

from __future__ import annotations

import json
from collections.abc import Collection
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

MAX_DEPTH = 200
MAX_INTEGER_DIGITS = 4000
BESIDE = ("sent",)
BESIDE_STUB = ("sent", "data")

_MARK = "\ue000"
_MARK_ESCAPED = "\\ue000"


class Number(str):
    """A JSON number, kept as the token that was sent.

    The characters held are the token between two marks, which is how the C encoder writes it as
    a string that `canonical_text` can tell from the producer's. `str()` gives the token.
    """

    __slots__ = ()

    def __new__(cls, token: str) -> Number:
        """Make a number of a token that JSON allows; the token is not checked."""
        return str.__new__(cls, f"{_MARK}{token}{_MARK}")

    @property
    def token(self) -> str:
        """The number as it was sent."""
        return self[1:-1]

    def as_int(self) -> int | None:
        """Return the value of an integer token of at most 4,000 digits; None for all others."""
        token = self[1:-1]
        digits = token.removeprefix("-")
        if len(digits) > MAX_INTEGER_DIGITS or not digits.isdigit():
            return None
        return int(token)

    def as_float(self) -> float:
        """Return the nearest float, infinite when there is none."""
        return float(self[1:-1])

    def __str__(self) -> str:
        return self[1:-1]

    def __repr__(self) -> str:
        return f"Number({self[1:-1]!r})"

    def __format__(self, spec: str) -> str:
        return format(self[1:-1], spec)

    def __getnewargs__(self) -> tuple[str]:
        return (self[1:-1],)


class NotCanonical(ValueError):
    """This body has no canonical text of its own."""

    def __init__(self, code: str, detail: str, pointer: str = "") -> None:
        super().__init__(detail)
        self.code = code
        self.detail = detail
        self.pointer = pointer


def parse(raw: bytes) -> Any:
    """Return the value of strict JSON, each number as a `Number`.

    Raises NotCanonical with the code `empty`, `utf8`, `json`, `duplicate` (a member named twice,
    at any depth) or `depth` (more than 200 levels). Integers of any length, NUL and lone
    surrogates written as escapes are fine.
    """
    value, pointers = parse_any(raw)
    if pointers:
        raise NotCanonical("duplicate", "a member is named twice in one object", pointers[0])
    return value


def parse_any(raw: bytes) -> tuple[Any, tuple[str, ...]]:
    """Return the value of JSON and the pointers of members named twice, whose last value counts.

    Raises NotCanonical as `parse` does, but for duplicates.
    """
    text = _decode(raw)
    pointers: tuple[str, ...] = ()
    try:
        value = _run(_STRICT, text)
    except _NamedTwice:
        value, pointers = _parse_doubled(text)
    if text.count("[") + text.count("{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise _too_deep()
    return value, pointers


def canonical_text(value: Any, without: Collection[str] = BESIDE) -> bytes:
    """Return the canonical text of a value that `parse` gave.

    Members are sorted by code point, strings escaped to ASCII, number tokens kept as sent;
    the top level's members in `without` are left out.
    """
    if type(value) is dict and any(name in value for name in without):
        value = {name: item for name, item in value.items() if name not in without}
    text = _ENCODER.encode(value)
    marks = text.count(_MARK_ESCAPED)
    if marks == 0:
        return text.encode("ascii")
    if marks != 2 * _count_numbers(value):
        # A producer's string or member name holds the mark as well.
        return write_slowly(value).encode("ascii")
    text = text.replace('"' + _MARK_ESCAPED, "").replace(_MARK_ESCAPED + '"', "")
    return text.encode("ascii")


def stub_text(value: Any) -> bytes:
    """Return the canonical text without `sent` and `data`: the stub of design.md section 5."""
    return canonical_text(value, BESIDE_STUB)


def write_slowly(value: Any) -> str:
    """Return the canonical text of a whole value, member by member, whatever its strings hold."""
    if type(value) is Number:
        return value.token
    if type(value) is dict:
        members = (f"{_ENCODER.encode(k)}:{write_slowly(v)}" for k, v in sorted(value.items()))
        return "{" + ",".join(members) + "}"
    if type(value) is list:
        return "[" + ",".join(map(write_slowly, value)) + "]"
    return _ENCODER.encode(value)


def plain(value: Any) -> Any:
    """Return the value with numbers as int or float, or as their token where neither holds it."""
    if type(value) is Number:
        return _plain_number(value)
    if type(value) is dict:
        return {name: plain(item) for name, item in value.items()}
    if type(value) is list:
        return [plain(item) for item in value]
    return value


def text_of(value: Any) -> str | None:
    """Return a text, or the digits of an integer sent in its place; None for all else."""
    if type(value) is str:
        return value
    if type(value) is Number and value[1:-1].removeprefix("-").isdigit():
        return value[1:-1]
    return None


def storable(text: str) -> str:
    """Return the text with NUL as its picture and lone surrogates replaced.

    PostgreSQL takes neither in a text column. For columns that are shown; whatever is compared
    or hashed keeps the text itself.
    """
    if "\x00" in text:
        text = text.replace("\x00", "\u2400")
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class _NamedTwice(Exception):
    """A member is named twice."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _NamedTwice
    return members


def _refuse_constant(word: str) -> NoReturn:
    raise NotCanonical("json", f"{word} is not a JSON number")


_STRICT = json.JSONDecoder(
    object_pairs_hook=_once,
    parse_float=Number,
    parse_int=Number,
    parse_constant=_refuse_constant,
)
_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), check_circular=False, allow_nan=False
)


def _decode(raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        detail = f"not UTF-8 at byte {error.start}; send JSON encoded as UTF-8"
        raise NotCanonical("utf8", detail) from None
    if not text or text.isspace():
        raise NotCanonical("empty", "the body is empty; send one JSON object")
    return text


def _run(decoder: json.JSONDecoder, text: str) -> Any:
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        detail = f"not JSON: {error.msg} at line {error.lineno} column {error.colno}"
        raise NotCanonical("json", detail) from None
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> NotCanonical:
    return NotCanonical("depth", f"nested more than {MAX_DEPTH} levels deep; flatten the body")


def _parse_doubled(text: str) -> tuple[Any, tuple[str, ...]]:
    doubled: list[tuple[dict[str, Any], list[str]]] = []

    def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        members = dict(pairs)
        if len(members) != len(pairs):
            names = [name for name, _ in pairs]
            doubled.append((members, [name for name in members if names.count(name) > 1]))
        return members

    decoder = json.JSONDecoder(
        object_pairs_hook=note,
        parse_float=Number,
        parse_int=Number,
        parse_constant=_refuse_constant,
    )
    value = _run(decoder, text)
    return value, tuple(_pointers(value, {id(members): names for members, names in doubled}))


def _pointers(value: Any, doubled: dict[int, list[str]]) -> list[str]:
    found: list[str] = []
    rest: list[tuple[str, Any]] = [("", value)]
    for pointer, item in rest:
        found += [f"{pointer}/{escape_pointer(name)}" for name in doubled.get(id(item), ())]
        if type(item) is dict:
            rest += [(f"{pointer}/{escape_pointer(k)}", v) for k, v in item.items()]
        elif type(item) is list:
            rest += [(f"{pointer}/{index}", v) for index, v in enumerate(item)]
    return found


def escape_pointer(name: str) -> str:
    """Return a member's name as a part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")


def _is_deeper(value: Any, limit: int) -> bool:
    level = [value]
    for _ in range(limit + 1):
        level = [
            child
            for item in level
            if type(item) is dict or type(item) is list
            for child in (item.values() if type(item) is dict else item)
        ]
        if not level:
            return False
    return True


def _count_numbers(value: Any) -> int:
    count = 0
    rest = [value]
    for item in rest:
        kind = type(item)
        if kind is Number:
            count += 1
        elif kind is dict:
            rest += item.values()
        elif kind is list:
            rest += item
    return count


def _plain_number(number: Number) -> int | float | str:
    token = number.token
    whole = number.as_int()
    if whole is not None:
        return whole
    nearest = number.as_float()
    try:
        same = Decimal(repr(nearest)) == Decimal(token)
    except InvalidOperation:
        same = False
    return nearest if same else token
