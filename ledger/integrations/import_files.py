"""Lines of a file with history: bounded, numbered, and read by the format that the map names.

Nothing here holds more than one line. A file that was packed by gzip is read as what is in it, so
a rotated log has the same lines before and after it was packed.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from ledger.domain import canonical, import_dumps
from ledger.domain.import_maps import BadMap, Map
from ledger.domain.import_values import LineFault
from ledger.integrations import import_sqlite

LONGEST = 1024 * 1024
"""The bytes of one line; more is set aside, as the receipt it would make could not be stored."""

_GZIP = b"\x1f\x8b"
_LOOKED_AT = 64 * 1024
_TOO_LONG = "x" * (LONGEST + 1)


class Unreadable(Exception):
    """The file cannot be read; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line or record: its number in the file, the bytes that it is known by, what it says.

    `fault` is set in place of the record where it cannot be read.
    """

    number: int
    raw: bytes
    record: Mapping[str, Any] = field(default_factory=dict)
    fault: LineFault | None = None


class Source:
    """A file being read: gives its lines, and afterwards its digest and its length."""

    def __init__(self, path: Path) -> None:
        """Open the file; raises Unreadable."""
        self.path = path
        self._digest = hashlib.sha256()
        self.length = 0
        self.is_torn = False
        try:
            self._outer, self._file, self.head = _open(path)
        except (OSError, EOFError) as error:
            raise Unreadable(f"{path.name}: {_why(error)}") from error

    @property
    def sha256(self) -> str:
        """Return the digest of all that was read."""
        return self._digest.hexdigest()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        self._outer.close()

    def lines(self, chosen: Map) -> Iterator[Line]:
        """Give the lines; raises Unreadable when the file breaks off, BadMap when it cannot fit."""
        reader = _READERS[chosen.format]
        try:
            yield from reader(self, chosen)
        except (OSError, EOFError, sqlite3.Error) as error:
            raise Unreadable(f"{self.path.name}: {_why(error)}") from error

    def note(self, raw: bytes) -> None:
        """Count bytes that were read into the digest and the length of the whole."""
        self._digest.update(raw)
        self.length += len(raw)

    def raw_lines(self) -> Iterator[tuple[int, bytes | None]]:
        """Give number and bytes of each line without its end; None for one that is too long."""
        number = 0
        while raw := self._read_line():
            number += 1
            is_long = len(raw) > LONGEST
            while is_long and not raw.endswith(b"\n"):
                rest = self._read_line()
                if not rest:
                    break
                raw = rest
            self.is_torn = not raw.endswith(b"\n")
            yield number, None if is_long else raw.rstrip(b"\r\n")

    def _read_line(self) -> bytes:
        raw: bytes = self._file.readline(LONGEST + 1)
        self.note(raw)
        return raw


def _open(path: Path) -> tuple[IO[bytes], Any, bytes]:
    """Open a file, packed or not, and look at how it begins; once, since it may be a pipe."""
    file = path.open("rb")
    try:
        is_packed = file.peek(len(_GZIP)).startswith(_GZIP)
        opened = gzip.GzipFile(fileobj=file) if is_packed else file
        return file, opened, opened.peek(_LOOKED_AT)[:_LOOKED_AT]
    except BaseException:
        file.close()
        raise


def find_format(chosen: Map, head: bytes) -> str:
    """Tell the format of a file whose map leaves it open, by how it begins."""
    if chosen.format != "auto":
        return chosen.format
    if head.startswith(import_sqlite.MAGIC):
        return "sqlite"
    begun = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if import_dumps.is_dump(begun):
        return "dump"
    return "ndjson" if begun.startswith(b"{") else "csv"


def _too_long(number: int) -> Line:
    fault = LineFault("long", f"is over {LONGEST:,} bytes")
    return Line(number, b"", fault=fault)


def _read_text(source: Source, chosen: Map) -> Iterator[Line]:
    held: Line | None = None
    for number, raw in source.raw_lines():
        if held is not None:
            yield held
        record = {"line": (raw or b"").decode("utf-8", "backslashreplace")}
        held = _too_long(number) if raw is None else Line(number, raw, record)
    # A worker may be in the middle of its last line, which would be another one when it is done.
    if held is not None and not source.is_torn:
        yield held


def _read_ndjson(source: Source, chosen: Map) -> Iterator[Line]:
    for number, raw in source.raw_lines():
        if raw is None:
            yield _too_long(number)
        elif raw.strip():
            yield _parsed(number, raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw)


def _parsed(number: int, raw: bytes) -> Line:
    try:
        value = canonical.parse(raw)
    except canonical.NotCanonical as error:
        return Line(number, raw, fault=LineFault(error.code, str(error)))
    if not isinstance(value, dict):
        return Line(number, raw, fault=LineFault("type", "is no JSON object"))
    return Line(number, raw, value)


def _read_csv(source: Source, chosen: Map) -> Iterator[Line]:
    records = _records(source, chosen.delimiter)
    columns = list(chosen.columns)
    if not columns:
        number, first = next(records, (0, []))
        if isinstance(first, LineFault):
            raise BadMap(f"the first line of {source.path.name} {first}")
        columns = [name.strip() for name in first]
    _check_columns(source, chosen, columns)
    for number, fields in records:
        if isinstance(fields, LineFault):
            yield Line(number, b"", fault=fields)
        elif fields:
            yield _row(number, columns, fields)


def _check_columns(source: Source, chosen: Map, columns: list[str]) -> None:
    missing = [name for name in chosen.named_columns() if name not in columns]
    if missing and columns:
        shown = ", ".join(columns[:30])
        raise BadMap(f"{source.path.name} has no column {', '.join(missing)}; it has {shown}")


def _row(number: int, columns: list[str], fields: list[str | None]) -> Line:
    # An empty field is NULL or an empty text, which not every export tells apart.
    raw = json.dumps([field or "" for field in fields], ensure_ascii=True).encode("ascii")
    if len(fields) != len(columns):
        detail = f"has {len(fields)} fields, and there are {len(columns)} columns"
        return Line(number, raw, fault=LineFault("columns", detail))
    if any("\udc80" <= char <= "\udcff" for one in fields if one for char in one):
        return Line(number, raw, fault=LineFault("utf8", "is not UTF-8"))
    return Line(number, raw, dict(zip(columns, fields, strict=True)))


def _records(source: Source, delimiter: str) -> Iterator[tuple[int, list[Any] | LineFault]]:
    """Give the records of a CSV file, each with the number of the line that it begins on."""
    csv.field_size_limit(LONGEST)
    reader = csv.reader(_texts(source), delimiter=delimiter)
    begun = 1
    while True:
        try:
            fields: list[Any] | LineFault = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            fields = LineFault("csv", f"is no CSV: {error}")
        yield begun, fields
        begun = reader.line_num + 1


def _texts(source: Source) -> Iterator[str]:
    for number, raw in source.raw_lines():
        # A record with a line that is too long must not come out as a shorter one.
        line = _TOO_LONG if raw is None else raw.decode("utf-8", "surrogateescape")
        yield (line.removeprefix("\ufeff") if number == 1 else line) + "\n"


def _read_dump(source: Source, chosen: Map) -> Iterator[Line]:
    """Give the rows of the one table of a plain `pg_dump` that has the columns of the map."""
    columns: list[str] = []
    for number, raw in source.raw_lines():
        text = "" if raw is None else raw.decode("utf-8", "surrogateescape")
        if not columns:
            found = import_dumps.columns_of(text)
            fits = found and set(chosen.named_columns()) <= set(found)
            columns = found if fits and import_dumps.is_table(text, chosen.table) else []
        elif text == import_dumps.END:
            return
        elif raw is None:
            yield _too_long(number)
        else:
            yield _row(number, columns, import_dumps.fields_of(text))


def _read_sqlite(source: Source, chosen: Map) -> Iterator[Line]:
    """Give the rows of the table that the map names; what is known of the file is their digest."""
    number = 0
    try:
        for columns, fields in import_sqlite.iter_rows(source.path, chosen.table):
            if number == 0:
                _check_columns(source, chosen, columns)
            number += 1
            line = _row(number, columns, fields)
            source.note(line.raw + b"\n")
            yield line
    except import_sqlite.NoTable as error:
        raise BadMap(f"{source.path.name} {error}") from None


_READERS = {
    "text": _read_text,
    "ndjson": _read_ndjson,
    "csv": _read_csv,
    "dump": _read_dump,
    "sqlite": _read_sqlite,
}


def _why(error: BaseException) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
