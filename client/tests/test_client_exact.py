from __future__ import annotations

import datetime as dt
import decimal
import json
import types
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from spooled import receipts as spooled

import counterfoil
from counterfoil import digests, receipts
from counterfoil.errors import BadReceipt


class User:
    def __init__(self, pk: int) -> None:
        self.pk = pk


def nested(levels: int, end: Any) -> Any:
    return end if not levels else [nested(levels - 1, end)]


LOOP: dict[str, Any] = {}
LOOP["self"] = LOOP

REFUSED = [
    pytest.param({"user": User(1)}, "key.fields.user is an object of type ", id="an object"),
    pytest.param({"users": [{"of": User(1)}]}, "key.fields.users[0].of is an obj", id="inside"),
    pytest.param({"rate": float("nan")}, "key.fields.rate is a number", id="not a number"),
    pytest.param({"rate": float("-inf")}, "key.fields.rate is a number", id="infinite"),
    pytest.param({"rate": decimal.Decimal("NaN")}, "key.fields.rate is an obj", id="no decimal"),
    pytest.param({"n": 1 << 5000}, "key.fields.n is a number", id="too long a number"),
    pytest.param(
        {1: "a"}, "key.fields has a member named by an object of type builtins.int", id="1"
    ),
    pytest.param({"a": {None: 1}}, "key.fields.a has a member named by", id="a name inside"),
    pytest.param({"a": b"raw"}, "key.fields.a is an object of type builtins.bytes", id="bytes"),
    pytest.param({"a": {1, 2}}, "key.fields.a is an object of type builtins.set", id="a set"),
    pytest.param({"a": dt.timedelta(1)}, "type datetime.timedelta", id="a length of time"),
    pytest.param({"a": nested(70, 1)}, "is nested deeper than 32", id="too deep"),
    pytest.param(LOOP, "is nested deeper than 32", id="without an end"),
    pytest.param({"a": "len=7"}, "set the key", id="a digest without a digest key"),
    pytest.param({"fields": {"a": 1}, "version": User(1)}, "key.version is an obj", id="version"),
    pytest.param(88213, "A key is a text or a mapping", id="a bare number"),
]


@pytest.mark.parametrize(("key", "said"), REFUSED)
def test_a_key_that_another_would_look_like_is_refused_before_the_guard_is_asked(
    client: counterfoil.Client, spool: Path, key: Any, said: str
) -> None:
    claim = counterfoil.once(key, lambda *_: pytest.fail("asked"), client=client)

    with pytest.raises(BadReceipt) as told:
        claim.run(lambda: pytest.fail("ran"))
    for write in (client.skip, lambda key: client.receipt("done", key=key)):
        with pytest.raises(BadReceipt):
            write(key=key)

    assert said in str(told.value)
    assert not spool.exists()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1}, {"a": "1"}),
        ({"a": True}, {"a": 1}),
        ({"a": None}, {"a": "null"}),
        ({"a": 1.5}, {"a": "1.5"}),
        ({"a": decimal.Decimal("1.10")}, {"a": decimal.Decimal("1.1")}),
        ({"a": uuid.UUID(int=1)}, {"a": uuid.UUID(int=2)}),
        ({"a": nested(30, 1)}, {"a": nested(30, 2)}),
        (types.MappingProxyType({"a": 1}), types.MappingProxyType({"a": 2})),
        ({"a": types.MappingProxyType({"b": 1})}, {"a": types.MappingProxyType({"b": 2})}),
    ],
)
def test_two_keys_that_are_taken_have_two_guard_names_and_two_sets_of_fields(
    client: counterfoil.Client, spool: Path, one: Any, other: Any
) -> None:
    for key in (one, other):
        client.receipt("done", key=key)

    first, second = (json.dumps(receipt["key"]["fields"]) for receipt in spooled(spool))
    assert first != second
    assert receipts.guard_name(one) != receipts.guard_name(other)


@pytest.mark.parametrize("digest_key", [b"", b"k"])
def test_no_digest_is_given_of_a_value_that_another_would_share_it_with(
    make_client: Callable[..., counterfoil.Client], digest_key: bytes
) -> None:
    with pytest.raises(BadReceipt, match="such as its id"):
        make_client(digest_key=digest_key).digest({"user": User(1)})
    assert digests.digest_of({"user": 1}, b"k") != digests.digest_of({"user": 2}, b"k")


def test_a_size_may_stand_in_the_part_of_a_key_that_is_not_compared(
    client: counterfoil.Client,
) -> None:
    key = {"fields": {"payout": "PO-1"}, "ignored": client.ignored(note="seven")}

    assert receipts.key_of(key)["ignored"] == {"note": "len=7"}
