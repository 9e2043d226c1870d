"""Rows as a stream of CSV or NDJSON, on synchronous and asynchronous servers."""

from __future__ import annotations

import csv
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.http import StreamingHttpResponse

from kit.http.bodies import json_bytes, rfc3339

_FORMULA = re.compile(r"^[=+\-@\t\r\n]")
_ROWS_A_CHUNK = 200


class RowStream(StreamingHttpResponse):
    """A stream of byte chunks made from rows, read in threads when the server is asynchronous.

    Django would read a synchronous iterator whole before it sends the first byte, and warn.
    """

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self.is_async:
            async for part in cast(AsyncIterator[bytes], self.streaming_content):
                yield part
            return
        chunks = iter(self)
        while (chunk := await sync_to_async(_next)(chunks)) is not None:
            yield chunk


def _next(chunks: Iterator[bytes]) -> bytes | None:
    return next(chunks, None)


Rows = Iterable[Any] | AsyncIterator[Any]


def ndjson_stream(rows: Rows, filename: str | None = None) -> RowStream:
    """Stream rows as NDJSON, one JSON object a line."""
    return _stream(rows, _ndjson_lines, "application/x-ndjson", filename)


def csv_stream(
    rows: Iterable[Mapping[str, object]] | AsyncIterator[Mapping[str, object]],
    columns: Sequence[str],
    filename: str | None = None,
) -> RowStream:
    """Stream rows as CSV (RFC 4180) with a header line.

    A text that a spreadsheet would run as a formula gets a leading apostrophe.
    """
    writer = csv.writer(_Echo(), lineterminator="\r\n")

    def lines(some: Iterable[Mapping[str, object]]) -> bytes:
        made = (writer.writerow([csv_cell(row.get(name)) for name in columns]) for row in some)
        return "".join(made).encode("utf-8", "backslashreplace")

    head = {name: name for name in columns}
    return _stream(rows, lines, "text/csv; charset=utf-8; header=present", filename, [head])


def csv_cell(value: object) -> str:
    """Write a value as the text of a CSV cell that no spreadsheet runs as a formula."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return rfc3339(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    text = value if isinstance(value, str) else json_bytes(value).decode()
    return f"'{text}" if _FORMULA.match(text) else text


class _Echo:
    """A file that gives back each line; csv has no other way to write to a stream."""

    def write(self, text: str) -> str:
        return text


def _ndjson_lines(rows: Iterable[object]) -> bytes:
    return b"".join(json_bytes(row) + b"\n" for row in rows)


def _stream(
    rows: Rows,
    encode: Callable[[Iterable[Any]], bytes],
    content_type: str,
    filename: str | None,
    head: Sequence[object] = (),
) -> RowStream:
    if isinstance(rows, AsyncIterator):
        chunks: Iterator[bytes] | AsyncIterator[bytes] = _chunks_async(rows, encode, head)
    else:
        chunks = _chunks(rows, encode, head)
    response = RowStream(chunks, content_type=content_type)
    if filename:
        response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def _chunks(
    rows: Iterable[Any], encode: Callable[[Iterable[Any]], bytes], head: Sequence[object]
) -> Iterator[bytes]:
    source = chain(head, rows)
    while batch := list(islice(source, _ROWS_A_CHUNK)):
        yield encode(batch)


async def _chunks_async(
    rows: AsyncIterator[Any], encode: Callable[[Iterable[Any]], bytes], head: Sequence[object]
) -> AsyncIterator[bytes]:
    batch = list(head)
    async for row in rows:
        batch.append(row)
        if len(batch) >= _ROWS_A_CHUNK:
            yield encode(batch)
            batch = []
    if batch:
        yield encode(batch)
