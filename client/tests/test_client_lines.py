from __future__ import annotations

import datetime as dt
import decimal
import json
import uuid
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from counterfoil import digests, encode, names, reader

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=25)
@given(st.dictionaries(st.text(), JSON_VALUES, max_size=5))
def test_every_receipt_is_one_line_of_json_that_reads_back(receipt):
    line = encode.line_of(receipt)

    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert set(json.loads(line)) == set(receipt)


class Strange:
    def __str__(self) -> str:
        return "a secret"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (float("nan"), "nan"),
        (float("-inf"), "-inf"),
        (decimal.Decimal("1.10"), "1.10"),
        (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (Path("a/b"), "a/b"),
        ("lone \ud800 surrogate", "lone \ud800 surrogate"),
        (2**70, 2**70),
        (1 << 40000, hex(1 << 40000)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_json_has_no_word_for_becomes_text(value, text):
    assert json.loads(encode.line_of({"data": value}))["data"] == text


def test_an_unknown_object_is_sent_by_the_name_of_its_type_alone():
    line = encode.line_of({"data": Strange()})

    assert b"secret" not in line and b"Strange" in line


def test_a_value_that_holds_itself_is_cut_and_does_not_raise():
    holding: dict[str, object] = {}
    holding["self"] = holding

    assert encode.line_of(holding).endswith(b"\n")


def test_a_time_without_a_zone_is_taken_as_utc_and_one_with_a_zone_is_turned_into_it():
    east = dt.timezone(dt.timedelta(hours=2))

    at = dt.datetime(2026, 1, 2, 3, tzinfo=east)

    assert encode.utc_text(at) == "2026-01-02T01:00:00.000000Z"
    assert encode.utc_text(at.replace(tzinfo=None)) == "2026-01-02T03:00:00.000000Z"


def test_equal_values_have_equal_digests_and_another_key_gives_another():
    one, two = digests.digest_of({"a": 1, "b": 2}, b"k"), digests.digest_of({"b": 2, "a": 1}, b"k")

    assert one == two != digests.digest_of({"a": 1, "b": 2}, b"other")


def test_without_a_key_only_the_size_is_given():
    assert digests.digest_of("4111 1111 1111 1111", b"") == "len=21"


ENDINGS = st.sampled_from(["open", "ready"])
NAME_PARTS = st.text(alphabet="abz09-_+. \u00e9", min_size=1, max_size=20)


@settings(max_examples=25)
@given(NAME_PARTS, st.integers(0, 10**9), st.integers(0, 10**19), ENDINGS)
def test_a_name_that_is_read_is_written_back_the_same(name, pid, start, ending):
    filename = f"{name}.{pid}.{start}.{ending}"

    found = names.parse(filename)

    if found is None:
        assert filename.startswith(".")
    else:
        assert found.filename == filename
        assert (found.pid, found.start, found.ending) == (pid, str(start), ending)


@pytest.mark.parametrize(
    ("filename", "spool", "level", "first"),
    [
        ("app.7.99.open", "app.7.99", None, None),
        ("a.b.7.99.ready", "a.b.7.99", None, None),
        ("app-d-0123456789+1.7.99.open", "app-d-0123456789.7.99", "d", 1),
        ("app-w-0123456789+501.7.99.ready", "app-w-0123456789.7.99", "w", 501),
        ("app-w-0123456789+0501.7.99.ready", "app-w-0123456789.7.99", None, None),
    ],
)
def test_the_name_says_spool_level_and_first_number(filename, spool, level, first):
    found = names.parse(filename)

    if filename == "app-w-0123456789+0501.7.99.ready":
        assert found is None
    else:
        assert found is not None
        assert (found.stem, found.level, found.first) == (spool, level, first)


@pytest.mark.parametrize(
    "filename", [".forward.lock", "app.open", "app.x.99.open", "app.7.99", ".a.7.99.open"]
)
def test_other_files_are_left_alone(filename):
    assert names.parse(filename) is None


@settings(max_examples=25)
@given(st.text(max_size=120), st.text(min_size=1, max_size=120))
def test_a_spools_name_always_fits_an_address(host, name):
    spool = names.spool_id(host, f"{name}.7.99")

    assert 1 <= len(spool) <= 100
    assert all(c.isascii() and (c.isalnum() or c in "_:-") for c in spool)


def test_two_spools_that_differ_only_in_replaced_characters_keep_two_names():
    assert names.spool_id("h", "a.b.7.99") != names.spool_id("h", "a-b.7.99")


LINES = st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b" ")), max_size=30)


@settings(max_examples=25, deadline=None)
@given(LINES, st.integers(1, 7), st.integers(8, 60), st.booleans(), st.binary(max_size=20))
def test_reading_in_pieces_gives_every_line_once_and_a_torn_one_only_at_the_end(
    tmp_path_factory, lines, at_once, size, is_final, torn
):
    torn = torn.replace(b"\n", b"")
    path = tmp_path_factory.mktemp("lines") / "a.1.1.open"
    path.write_bytes(b"".join(line + b"\n" for line in lines) + torn)

    seen: list[bytes] = []
    offset = 0
    while got := reader.read_lines(path, offset, is_final=is_final, lines=at_once, size=size):
        assert len(got) <= at_once
        assert sum(len(g.text) + 1 for g in got) <= size or len(got) == 1
        seen += [g.text for g in got]
        offset = got[-1].end

    wanted = [line for line in [*lines, *([torn] if is_final else [])] if line.strip()]
    assert seen == [line[: size + 1] for line in wanted]


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503, None, "201", True, 302 - 200])
def test_these_are_no_answers_to_a_line(status):
    assert not reader.is_answer(status)


@pytest.mark.parametrize("status", [200, 201, 202, 409, 413])
def test_these_are_answers_to_a_line(status):
    assert reader.is_answer(status)
