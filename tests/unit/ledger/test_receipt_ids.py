"""Ids are opaque; only spellings of one UUID or ULID are matched as one (ledger.md section 4)."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.domain import receipt_ids
from ledger.domain.canonical import Number

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

V5 = "8ee956d2-4597-5fcf-8c6b-5f5f5c5bac16"
V4 = "8ee956d2-4597-4fcf-8c6b-5f5f5c5bac16"
ULID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


@pytest.mark.parametrize(
    ("text", "key", "scheme", "version"),
    [
        (V5, V5, "uuid", 5),
        (V4, V4, "uuid", 4),
        (V5.upper(), V5, "uuid", 5),
        ("urn:uuid:" + V5, V5, "uuid", 5),
        ("URN:UUID:" + V5.upper(), V5, "uuid", 5),
        ("017f22e2-79b0-7cc3-98c4-dc0c0c07398f",) * 2 + ("uuid", 7),
        ("8ee956d2-4597-8fcf-bc6b-5f5f5c5bac16",) * 2 + ("uuid", 8),
        ("00000000-0000-0000-0000-000000000000",) * 2 + ("uuid", None),
        (
            "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF",
            "f" * 8 + "-ffff" * 3 + "-" + "f" * 12,
            "uuid",
            None,
        ),
        ("8ee956d2-4597-5fcf-cc6b-5f5f5c5bac16",) * 2 + ("uuid-nonrfc", None),
        ("8ee956d2-4597-5fcf-0c6b-5f5f5c5bac16",) * 2 + ("uuid-nonrfc", None),
        (ULID, ULID, "ulid", None),
        (ULID.lower(), ULID, "ulid", None),
        ("8" + ULID[1:],) * 2 + ("opaque", None),
        ("0" + "U" * 25,) * 2 + ("opaque", None),
        ("{" + V5 + "}",) * 2 + ("opaque", None),
        (V5.replace("-", ""),) * 2 + ("opaque", None),
        ("6b-a7b8109dad11d180b400c04fd430c8",) * 2 + ("opaque", None),
        (V5 + "\n",) * 2 + ("opaque", None),
        ("\uff11ee956d2-4597-5fcf-8c6b-5f5f5c5bac16",) * 2 + ("opaque", None),
        ("Order-17",) * 2 + ("opaque", None),
        ("\x00\ud800",) * 2 + ("opaque", None),
    ],
)
def test_an_id_is_matched_by_its_key(text: str, key: str, scheme: str, version: int | None) -> None:
    found = receipt_ids.read_id(text)

    assert (found.text, found.key, found.scheme, found.version) == (text, key, scheme, version)


def test_two_uuids_that_differ_in_the_version_digit_are_masked_alike() -> None:
    one, other = receipt_ids.read_id(V5), receipt_ids.read_id(V4.upper())

    assert one.key != other.key
    assert one.masked == other.masked is not None


def test_two_uuids_that_differ_in_the_variant_bits_are_masked_alike() -> None:
    unstamped = receipt_ids.read_id(V5[:19] + "c" + V5[20:])

    assert unstamped.masked == receipt_ids.read_id(V5).masked


@pytest.mark.parametrize("place", [0, 13, 15, 21, 35])
def test_uuids_that_differ_elsewhere_are_masked_apart(place: int) -> None:
    digit = "0" if V5[place] != "0" else "1"

    other = receipt_ids.read_id(V5[:place] + digit + V5[place + 1 :])

    assert other.masked != receipt_ids.read_id(V5).masked


@pytest.mark.parametrize("text", [ULID, "Order-17", V5.replace("-", "")])
def test_what_is_no_hyphenated_uuid_has_no_mask(text: str) -> None:
    assert receipt_ids.read_id(text).masked is None


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("{" + V5 + "}", "looks like a UUID in braces"),
        (V5.replace("-", ""), "looks like a UUID without hyphens"),
        (f" {V5}", "looks like a UUID in white space"),
        ("00000000-0000-0000-0000-000000000000", "the Nil UUID"),
        ("Order-17", None),
        (V5, None),
    ],
)
def test_an_id_says_what_it_looks_like(text: str, hint: str | None) -> None:
    assert receipt_ids.read_id(text).hint == hint


@pytest.mark.parametrize("value", ["a", "a" * 255, "😀" * 255, "\x00", "\ud800", " "])
def test_any_text_of_1_to_255_characters_is_an_id(value: str) -> None:
    assert receipt_ids.id_fault(value) is None


@pytest.mark.parametrize("value", ["", "a" * 256, None, True, Number("7"), [], {}, 7])
def test_anything_else_is_no_id_and_says_why(value: object) -> None:
    fault = receipt_ids.id_fault(value)

    assert fault is not None
    assert "255" in fault or "quotes" in fault


@patient
@given(st.text(min_size=1, max_size=255))
def test_a_key_is_its_own_key(text: str) -> None:
    key = receipt_ids.read_id(text).key

    assert receipt_ids.read_id(key).key == key
