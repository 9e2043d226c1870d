from __future__ import annotations

import datetime as dt
import decimal
import enum
import json
import os
import subprocess
import sys
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import counterfoil
from counterfoil import values

KEY = b"the project's own"
CARD = "4111111111111111"


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    BIG = 3


class Nasty:
    """An object whose every answer is an error, or takes for ever."""

    def __repr__(self) -> str:
        raise AssertionError("asked for its repr")

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        raise AssertionError("compared")

    __hash__ = None  # type: ignore[assignment]


class Shouting(dict[str, Any]):
    """A mapping that must not be asked by its own methods."""

    def items(self) -> Any:
        raise AssertionError("asked for its items")

    __iter__ = items


AT = dt.datetime(2026, 11, 30, 10, 0, tzinfo=dt.timezone.utc)
ID = uuid.UUID(int=7)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"b": 1, "a": 2}, {"a": 2, "b": 1}),
        ((1, 2), [1, 2]),
        ({1: "x"}, {"1": "x"}),
        ({None: 1, True: 2}, {"null": 1, "true": 2}),
        (ID, str(ID)),
        (decimal.Decimal("1.50"), "1.50"),
        (AT, AT.astimezone(dt.timezone(dt.timedelta(hours=2)))),
        ({"a", "b"}, frozenset(["b", "a"])),
        (Size.BIG, 3),
        (OrderedDict(a=1), {"a": 1}),
        (Shouting(a=1), {"a": 1}),
        (b"x", bytearray(b"x")),
    ],
)
def test_equal_values_have_equal_digests(one: Any, other: Any) -> None:
    assert values.described(one, KEY) == values.described(other, KEY)
    assert "digest" in values.described(one, KEY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, "1"),
        (True, 1),
        (None, "None"),
        (1.5, 1.25),
        ([1, 2], [2, 1]),
        ({"a"}, ["a"]),
        (b"x", "x"),
        ("Größe", "Grosse"),
        ("\ud800", "?"),
        (2**80, 2**80 + 1),
    ],
)
def test_other_values_have_other_digests(one: Any, other: Any) -> None:
    assert values.described(one, KEY)["digest"] != values.described(other, KEY)["digest"]


@pytest.mark.slow
def test_a_digest_is_the_same_in_every_process() -> None:
    code = (
        "from counterfoil import values; import json;"
        "print(json.dumps(values.described({'b': {3, 'x'}, 'a': (1, None)}, b'k')))"
    )
    found = set()
    for seed in ("1", "2"):
        source = str(Path(counterfoil.__file__).parents[1])
        env = {**os.environ, "PYTHONPATH": source, "PYTHONHASHSEED": seed}
        found.add(subprocess.check_output([sys.executable, "-c", code], env=env, text=True))

    assert found == {json.dumps(values.described({"a": [1, None], "b": {"x", 3}}, b"k")) + "\n"}


@given(st.text() | st.integers())
def test_the_short_way_for_common_values_gives_the_same_as_the_long_one(value: Any) -> None:
    short = values._scalar_text(value)

    assert short in (b"", values.Canonical().text_of(value))
    assert short or isinstance(value, int)


def test_without_a_key_the_size_is_all() -> None:
    assert values.described("abc", b"") == {"size": 5}


def test_another_key_gives_another_digest() -> None:
    assert values.described("abc", b"1")["digest"] != values.described("abc", b"2")["digest"]


@pytest.mark.parametrize(
    "value",
    ["x" * 100_000, list(range(5_000)), b"x" * 100_000, [[[["x" * 40_000]]], "y" * 40_000]],
)
def test_what_is_too_large_is_said_to_be_more(value: Any) -> None:
    assert values.described(value, KEY) == {"size": values.MAX_BYTES, "more": True}


def test_a_value_in_itself_and_a_deep_one_end() -> None:
    looped: list[Any] = []
    looped.append(looped)
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]

    assert values.described(looped, KEY)["more"]
    assert values.described(deep, KEY)["more"]


def test_an_object_is_named_by_its_type_and_runs_no_code() -> None:
    name = f"{Nasty.__module__}.Nasty"

    assert values.described(Nasty(), KEY) == {"type": name}
    assert set(values.described([Nasty(), 1], KEY)) == {"size"}
    assert values.described(Colour.RED, KEY) == {"type": f"{Colour.__module__}.Colour"}


def test_the_time_for_the_largest_value_is_bounded() -> None:
    huge = {str(n): list(range(1000)) for n in range(2000)}

    begun = time.process_time()
    values.described(huge, KEY)

    assert time.process_time() - begun < 0.1


Plain = st.none() | st.booleans() | st.floats() | st.text() | st.integers() | st.binary()
Value = st.recursive(
    Plain | st.datetimes() | st.uuids(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
)


@given(Value)
def test_any_value_is_described_and_none_is_in_what_is_said(value: Any) -> None:
    found = values.described(value, KEY)

    assert set(found) <= {"size", "digest", "more", "type"}
    assert found == values.described(value, KEY)
    assert json.dumps(found)


def test_a_call_is_described_argument_by_argument(client: counterfoil.Client) -> None:
    found = client.arguments("mail.send", [CARD, 2], {"card": CARD})

    assert [set(one) for one in found["args"]] == [{"size"}, {"size"}]
    assert found["kwargs"] == {"card": {"size": 18}}
    assert CARD not in json.dumps(found)


def test_what_the_policy_names_is_given_in_clear_and_nothing_else(
    make_client: Callable[..., counterfoil.Client], tmp_path: Path
) -> None:
    path = tmp_path / "policy.json"
    clear = ["kwargs.payout_id", "args.1", "kwargs.order.id", "args.9", "kwargs.big"]
    path.write_text(
        json.dumps(
            {
                "clear": {"payouts.*": clear},
                "subjects": {
                    "payouts.send": {"payout": "kwargs.payout_id", "order": "kwargs.order.id"}
                },
            }
        )
    )
    client = make_client(policy=path, digest_key=KEY)
    kwargs = {"payout_id": "PO-1", "order": {"id": 7, "card": CARD}, "big": "x" * 5_000}

    found = client.arguments("payouts.send", (CARD, 5), kwargs)

    assert found["clear"] == {"kwargs.payout_id": "PO-1", "args.1": 5, "kwargs.order.id": 7}
    assert CARD not in json.dumps(found)
    assert client.subjects("payouts.send", (), kwargs) == [
        {"type": "payout", "id": "PO-1"},
        {"type": "order", "id": "7"},
    ]
    assert client.subjects("payouts.book", (), kwargs) == []
    assert "clear" not in client.arguments("mail.send", (CARD, 5), kwargs)


def test_a_field_is_found_by_its_name_however_it_was_passed() -> None:
    names = ("self", "payout_id")

    assert values.field_of(["x", "PO-1"], {}, "kwargs.payout_id", names) == "PO-1"
    assert values.field_of([], {"payout_id": "PO-2"}, "payout_id", names) == "PO-2"
    assert values.field_of(["x"], {}, "payout_id", names) is None
    assert values.field_of([{"id": [5]}], {}, "args.0.id.0", ()) == 5


@pytest.mark.parametrize(
    ("value", "ids"),
    [
        ("PO-1", ["PO-1"]),
        (7, ["7"]),
        (ID, [str(ID)]),
        (["a", "b", "a"], ["a", "b"]),
        ("", []),
        ("x" * 256, []),
        (None, []),
        (True, []),
        ({"id": 1}, []),
        (10**300, []),
        (list(map(str, range(20))), list(map(str, range(16)))),
    ],
)
def test_subjects_are_texts_of_their_field(value: Any, ids: list[str]) -> None:
    found = values.subjects_of([value], {}, fields=[("payout", "args.0")], names=())

    assert [one["id"] for one in found] == ids


def test_strange_calls_are_described_too() -> None:
    found = values.arguments_of(
        list(range(70)), {n: n for n in range(70)}, clear=(), names=(), key=KEY
    )

    assert (len(found["args"]), len(found["kwargs"]), found["more"]) == (64, 64, 12)
    assert values.arguments_of(None, "x", clear=["args.0"], names=(), key=KEY) == {}


def test_of_an_exception_type_size_and_digest_leave(
    make_client: Callable[..., counterfoil.Client],
) -> None:
    client = make_client(digest_key=KEY)

    found = client.error(ValueError(f"card {CARD} refused"))

    assert set(found) == {"type", "size", "digest"}
    assert found["type"] == "builtins.ValueError"
    assert found == client.error(ValueError(f"card {CARD} refused"))
    assert CARD not in json.dumps(found)


def test_an_exception_whose_text_raises_is_named_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise AssertionError("asked for its text")

    assert set(values.error_of(Mute(), KEY)) == {"type", "size", "digest"}
    assert set(values.error_of(Mute(Nasty()), KEY)) == {"type"}
