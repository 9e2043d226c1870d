"""Lines of files with history: every format, and whatever may be wrong with a file."""

from __future__ import annotations

import gzip
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.domain import import_dumps
from ledger.domain.import_maps import BadMap, Map, read_map, with_format
from ledger.integrations.import_files import LONGEST, Line, Source, Unreadable, find_format
from ledger.integrations.import_repeats import Repeats

RECEIPT = '[receipt]\nkind = "done"\njob.id = "{no}"\n'


def read(folder: Path, data: bytes, top: str = "", receipt: str = RECEIPT) -> list[Line]:
    path = folder / "history"
    path.write_bytes(data)
    return read_file(path, read_map(f"{top}\n{receipt}", "mine"))


def make_sqlite(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


def read_file(path: Path, chosen: Map) -> list[Line]:
    with closing(Source(path)) as source:
        return list(source.lines(with_format(chosen, find_format(chosen, source.head))))


def told(lines: list[Line]) -> list[tuple[int, object]]:
    return [(line.number, line.fault.code if line.fault else dict(line.record)) for line in lines]


def test_csv_is_read_with_its_header_and_the_lines_that_records_begin_on(tmp_path: Path) -> None:
    data = b'no,note\r\n1,"a\r\nb"\r\n\r\n2,\r\n'

    assert told(read(tmp_path, data)) == [
        (2, {"no": "1", "note": "a\nb"}),
        (5, {"no": "2", "note": ""}),
    ]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"no\n1,2\n", "columns"),
        (b"no\n\xff\n", "utf8"),
        (b"no\n" + b"x" * (LONGEST + 10) + b"\n", "csv"),
    ],
)
def test_a_record_that_cannot_be_read_has_a_fault_and_the_next_is_read(
    tmp_path: Path, data: bytes, code: str
) -> None:
    lines = told(read(tmp_path, data + b"3\n"))

    assert (2, code) in lines
    assert lines[-1][1] == {"no": "3"}


def test_columns_may_be_named_by_the_map_and_another_delimiter_used(tmp_path: Path) -> None:
    found = read(tmp_path, b"1;a\n", 'delimiter = ";"\ncolumns = ["no", "x"]')

    assert told(found) == [(1, {"no": "1", "x": "a"})]


def test_a_file_without_the_maps_columns_is_refused_with_those_it_has(tmp_path: Path) -> None:
    with pytest.raises(BadMap) as raised:
        read(tmp_path, b"a,b\n1,2\n")

    assert str(raised.value) == "history has no column no; it has a, b"


def test_ndjson_is_read_line_by_line(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"no": 1}\n\n[1]\n{"no": \n{"no": "\xff"}\n{"no": 2, "no": 3}\n{"no": "4"}'

    lines = told(read(tmp_path, data, 'format = "ndjson"'))

    assert [code for _, code in lines[1:5]] == ["type", "json", "utf8", "duplicate"]
    assert [number for number, _ in lines] == [1, 3, 4, 5, 6, 7]
    assert lines[-1][1] == {"no": "4"}


def test_a_line_that_is_too_long_is_set_aside_and_the_next_is_read(tmp_path: Path) -> None:
    data = b'{"no": "' + b"x" * (3 * LONGEST) + b'"}\n{"no": "2"}\n'

    assert told(read(tmp_path, data, 'format = "ndjson"')) == [(1, "long"), (2, {"no": "2"})]


def test_the_last_line_of_a_log_without_an_end_is_left_for_the_next_time(tmp_path: Path) -> None:
    rule = '[[rule]]\npattern = "."\nreceipt.kind = "done"\n'

    whole = read(tmp_path, b"a\nb\n", 'format = "text"', rule)
    torn = read(tmp_path, b"a\nb", 'format = "text"', rule)

    assert [line.raw for line in whole] == [b"a", b"b"]
    assert [line.raw for line in torn] == [b"a"]


def test_a_packed_file_has_the_same_lines_and_digest_as_before(tmp_path: Path) -> None:
    plain, packed = tmp_path / "a.csv", tmp_path / "a.csv.gz"
    plain.write_bytes(b"no\n1\n")
    packed.write_bytes(gzip.compress(b"no\n1\n"))
    chosen = read_map(RECEIPT, "mine")
    digests = set()

    for path in (plain, packed):
        with closing(Source(path)) as source:
            found = with_format(chosen, find_format(chosen, source.head))
            assert [line.raw for line in source.lines(found)] == [b'["1"]']
            digests.add((source.sha256, source.length))

    assert len(digests) == 1


def test_a_pipe_is_read_from_its_first_byte(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"no\n1\n",))
    writer.start()

    found = read_file(pipe, read_map(RECEIPT, "mine"))
    writer.join()

    assert told(found) == [(2, {"no": "1"})]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"SQLite format 3\x00...", "file is not a database"),
        (gzip.compress(b"no\n" + bytes(range(32, 127)) * 9_000, mtime=0)[:90], "ended before"),
        (b"\x1f\x8bnot really", "Unknown compression method"),
    ],
    ids=["sqlite", "cut off", "no gzip"],
)
def test_a_file_that_cannot_be_read_is_told_why(tmp_path: Path, data: bytes, why: str) -> None:
    with pytest.raises(Unreadable) as raised:
        read(tmp_path, data)

    assert why in str(raised.value)


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    for path, why in ((tmp_path / "none", "No such file"), (tmp_path, "Is a directory")):
        with pytest.raises(Unreadable, match=why):
            Source(path)


DUMP = b"""--
-- PostgreSQL database dump
--
COPY public.other (no, x) FROM stdin;
9\tz
\\.

COPY public."jobs" (no, note) FROM stdin;
1\ta\\tb\\nc\\\\d
2\t\\N
3\t\\x41\\102
\\.
COPY public.later (no, x) FROM stdin;
8\tz
\\.
"""


def test_a_dump_is_read_for_the_table_that_the_map_names(tmp_path: Path) -> None:
    assert told(read(tmp_path, DUMP, 'table = "jobs"')) == [
        (9, {"no": "1", "note": "a\tb\nc\\d"}),
        (10, {"no": "2", "note": None}),
        (11, {"no": "3", "note": "AB"}),
    ]
    assert read(tmp_path, DUMP, 'table = "none"') == []


def test_a_table_of_a_sqlite_file_is_read_and_known_as_its_export_is(tmp_path: Path) -> None:
    path = make_sqlite(
        tmp_path / "results.db",
        'CREATE TABLE "a table" (no INTEGER PRIMARY KEY, at TEXT, result BLOB)',
        """INSERT INTO "a table" VALUES (7, '2026-10-05', x'80049501'), (8, NULL, NULL)""",
    )
    before = path.read_bytes()

    found = read_file(path, read_map(f'table = "a table"\n{RECEIPT}', "mine"))
    exported = read(tmp_path, b"no,at,result\n7,2026-10-05,\n8,,\n")

    assert told(found) == [
        (1, {"no": "7", "at": "2026-10-05", "result": None}),
        (2, {"no": "8", "at": None, "result": None}),
    ]
    assert [line.raw for line in found] == [line.raw for line in exported]
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("top", "why"),
    [
        ("", "has no table that the map names; it has jobs"),
        ('table = "none"', "has no table none; it has jobs"),
        ('table = "jobs"', "has no column no; it has x"),
    ],
)
def test_a_sqlite_file_without_the_maps_table_or_columns_is_refused(
    tmp_path: Path, top: str, why: str
) -> None:
    path = make_sqlite(tmp_path / "x.db", "CREATE TABLE jobs (x)", "INSERT INTO jobs VALUES (1)")

    with pytest.raises(BadMap, match=why):
        read_file(path, read_map(f"{top}\n{RECEIPT}", "mine"))


@pytest.mark.parametrize(
    ("head", "found"),
    [
        (b"--\n-- PostgreSQL database dump", "dump"),
        (b'  {"a": 1}', "ndjson"),
        (b"\xef\xbb\xbf{}", "ndjson"),
        (b"SQLite format 3\x00\x10", "sqlite"),
        (b"a,b\n", "csv"),
        (b"", "csv"),
    ],
)
def test_a_format_is_found_by_how_a_file_begins(head: bytes, found: str) -> None:
    assert find_format(read_map(RECEIPT, "mine"), head) == found


@given(st.lists(st.sampled_from("abc"), max_size=30), st.integers(1, 7))
@settings(max_examples=30)
def test_equal_lines_are_counted_the_same_in_batches_of_any_size(
    lines: list[str], size: int
) -> None:
    digests = [line.encode() * 8 for line in lines]
    with closing(Repeats()) as repeats:
        found = [
            ordinal
            for start in range(0, len(digests), size)
            for ordinal in repeats.take(digests[start : start + size])
        ]

    assert found == [lines[:at].count(line) for at, line in enumerate(lines)]


@given(st.lists(st.one_of(st.none(), st.text(st.characters(codec="utf-8"), max_size=8))))
def test_any_field_of_a_dump_comes_back(fields: list[str | None]) -> None:
    escapes = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\b": "\\b", "\f": "\\f",
               "\v": "\\v"}  # fmt: skip
    written = [
        "\\N" if one is None else "".join(escapes.get(char, char) for char in one) for one in fields
    ]

    assert import_dumps.fields_of("\t".join(written)) == (fields or [""])


@given(st.binary(max_size=200))
@settings(max_examples=60)
def test_no_bytes_at_all_break_a_reader(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("any")
    for form in ("csv", "ndjson", "dump", "auto"):
        try:
            lines = read(folder, data, f'format = "{form}"', '[receipt]\nkind = "done"\n')
        except (BadMap, Unreadable):
            continue
        assert all(line.number > 0 for line in lines)
