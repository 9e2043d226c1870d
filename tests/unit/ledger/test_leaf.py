"""The leaf record's bytes, which are fixed for ever."""

from __future__ import annotations

import hashlib
import hmac
from base64 import urlsafe_b64decode
from datetime import UTC, datetime, timedelta, timezone

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.domain import leaf

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

SALT = bytes(range(32))
AT = datetime(2026, 10, 5, 9, 0, 30, tzinfo=UTC)
words = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)


def test_the_bytes_of_version_1_are_these() -> None:
    record = leaf.leaf_record(
        log="ledger.example/t0",
        kind="skip",
        length=17,
        received_at=AT,
        commit=leaf.commitment(SALT, b'{"kind":"skip"}  '),
        stub=leaf.stub_commitment(SALT, b'{"kind":"skip"}'),
    )

    assert record == (
        b'{"commit":"DQsB8EtZ-kbZxecBzpajC2-q8fTPPe7lK8xvubmQc-U","kind":"skip",'
        b'"len":"17","log":"ledger.example/t0","recv":"2026-10-05T09:00:30.000000Z",'
        b'"stub":"aKPnYfd7Mxs8Qm2IKhGzP-u5sPPK4JnOvIPODqqO9XA","v":"1"}'
    )


@patient
@given(log=words, kind=words, length=st.integers(0, 2**40), at=st.datetimes(timezones=st.just(UTC)))
def test_a_record_is_jcs(log: str, kind: str, length: int, at: datetime) -> None:
    record = leaf.leaf_record(
        log=log, kind=kind, length=length, received_at=at, commit="c", stub=""
    )

    members = {
        "v": "1",
        "log": log,
        "kind": kind,
        "len": str(length),
        "recv": leaf.rfc3339(at),
        "commit": "c",
        "stub": "",
    }
    assert record == rfc8785.dumps(members)


def test_a_commitment_is_the_keyed_hash_of_the_raw_bytes() -> None:
    commit = leaf.commitment(SALT, b"raw")

    assert len(commit) == 43
    assert urlsafe_b64decode(commit + "=") == hmac.new(SALT, b"raw", hashlib.sha256).digest()


def test_a_stub_has_a_salt_of_its_own() -> None:
    salt = hmac.new(SALT, b"stub", hashlib.sha256).digest()

    assert leaf.stub_salt(SALT) == salt
    assert leaf.stub_commitment(SALT, b"raw") == leaf.commitment(salt, b"raw")
    assert leaf.stub_commitment(SALT, b"raw") != leaf.commitment(SALT, b"raw")


def test_a_body_without_canonical_text_has_an_empty_stub() -> None:
    assert leaf.stub_commitment(SALT, b"") == ""


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (AT, "2026-10-05T09:00:30.000000Z"),
        (AT + timedelta(microseconds=1), "2026-10-05T09:00:30.000001Z"),
        (AT.astimezone(timezone(timedelta(hours=-7))), "2026-10-05T09:00:30.000000Z"),
        (datetime(1, 1, 1, tzinfo=UTC), "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_a_time_is_written_in_utc_with_microseconds(at: datetime, text: str) -> None:
    assert leaf.rfc3339(at) == text


def test_a_time_without_a_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="without a zone"):
        leaf.rfc3339(AT.replace(tzinfo=None))
