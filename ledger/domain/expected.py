"""The list of expected objects as a person brings it: CSV, or one id a line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

LONGEST_ID = 255
LONGEST_FIELD = 1024 * 1024
_DELIMITERS = ",;\t"
_FORMULA = ("'=", "'+", "'-", "'@")


class BadExpected(ValueError):
    """The list cannot be read; the message says where and what to do."""


@dataclass(slots=True)
class Expected:
    """The ids in their order, each once; `again` counts those that stood there more than once."""

    ids: list[str] = field(default_factory=list)
    again: dict[str, int] = field(default_factory=dict)
    blank: int = 0

    @property
    def listed_again(self) -> int:
        """Return how many lines name an object that an earlier line named."""
        return sum(self.again.values())


def read_expected(lines: Iterable[str], kind: str, column: str = "", *, most: int) -> Expected:
    """Read the ids of a list; raises BadExpected for one that cannot be read, or has too many.

    The column is the one that is named, else `id`, the type, or the type with `_id`. A list of
    one column needs no header. White space around an id goes, and the apostrophe with which a
    spreadsheet is kept from taking it for a formula.
    """
    found, seen = Expected(), set[str]()
    for number, text in _ids(lines, kind, column):
        if len(text) > LONGEST_ID:
            raise BadExpected(f"Line {number} has an id of {len(text)} characters; an id has at "
                              f"most {LONGEST_ID}.")  # fmt: skip
        _take(found, seen, text)
        if len(found.ids) > most:
            raise BadExpected(f"The list has more than {most:,} objects; reconcile it in parts.")
    return found


def take_ids(names: Iterable[str]) -> Expected:
    """Take ids that are known to be ids."""
    found, seen = Expected(), set[str]()
    for name in names:
        _take(found, seen, name)
    return found


def _take(found: Expected, seen: set[str], text: str) -> None:
    if not text:
        found.blank += 1
    elif text in seen:
        found.again[text] = found.again.get(text, 0) + 1
    else:
        seen.add(text)
        found.ids.append(text)


def _ids(lines: Iterable[str], kind: str, column: str) -> Iterator[tuple[int, str]]:
    csv.field_size_limit(LONGEST_FIELD)
    given = iter(lines)
    head = next(given, "").removeprefix("\ufeff")
    delimiter = max(_DELIMITERS, key=head.count)
    reader = csv.reader(_from(head, given), delimiter=delimiter)
    place = -1
    try:
        for fields in reader:
            if place < 0:
                place, is_head = _column(fields, kind, column)
                if is_head:
                    continue
            if not any(fields):
                yield reader.line_num, ""
            elif place < len(fields):
                yield reader.line_num, _id(fields[place])
            else:
                raise BadExpected(f"Line {reader.line_num} has {len(fields)} fields; the id is in "
                                  f"field {place + 1}.")  # fmt: skip
    except csv.Error as error:
        raise BadExpected(f"Line {reader.line_num} is no CSV: {error}.") from None


def _from(head: str, rest: Iterator[str]) -> Iterator[str]:
    if head:
        yield head
    yield from rest


def _column(fields: list[str], kind: str, column: str) -> tuple[int, bool]:
    """Find the column of the ids in the first line, and tell whether that line is a header."""
    names = [field.strip() for field in fields]
    if column:
        if column not in names:
            raise BadExpected(f"There is no column {column}; there are {', '.join(names[:30])}.")
        return names.index(column), True
    usual = {"id", kind, f"{kind}_id", "subject", "subject_id"}
    places = [at for at, name in enumerate(names) if name.lower() in usual]
    if len(places) == 1:
        return places[0], True
    if len(names) == 1:
        return 0, False
    told = "several could be it" if places else "none is called id"
    raise BadExpected(f"Which column has the ids? There are {', '.join(names[:30])}, and {told}; "
                      "name it.")  # fmt: skip


def _id(text: str) -> str:
    text = text.strip()
    return text[1:] if text.startswith(_FORMULA) else text
