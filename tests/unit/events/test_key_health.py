"""What is wrong with the keys of a bus, by its profile."""

from __future__ import annotations

import pytest

from events.domain import key_health
from events.domain.finding_rules import RULES
from events.domain.told.names import BusName
from events.domain.told.surroundings import KeysTold, KeyTold


def key(
    role: str, value_class: str = "integer", ttl_s: int | None = -1, kind: str = "string"
) -> KeyTold:
    return KeyTold(f"pad:{role}", role, kind, value_class, ttl_s, None)


def faults(*keys: KeyTold, policy: str = "noeviction", profile: str = "generation") -> list[str]:
    told = KeysTold(BusName("i1", "activity"), 0, list(keys), policy, [])
    return [one.code for one in key_health.faults_of(told, profile)]


def test_sound_keys_have_no_fault() -> None:
    assert faults(key("seq"), key("epoch"), key("gen")) == []


@pytest.mark.parametrize("role", key_health.LASTING)
def test_a_key_that_must_last_must_not_expire(role: str) -> None:
    assert faults(key(role, ttl_s=0)) == faults(key(role, ttl_s=60)) == ["KEY_TTL"]
    assert faults(key(role, ttl_s=None)) == []


def test_each_finding_names_a_rule_that_is_described() -> None:
    told = KeysTold(BusName("i1", "activity"), 0, [key("seq", ttl_s=60)], "allkeys-lru", [])

    found = key_health.findings_of(told, key_health.faults_of(told, "generation"))

    assert [one.rule for one in found] == ["key_expires", "policy_takes_any_key"]
    assert {kind.rule for kind in key_health.CODES.values()} <= RULES.keys()


def test_a_dedupe_token_may_expire() -> None:
    assert faults(key("token", "text", 60)) == []


@pytest.mark.parametrize("role", key_health.LASTING)
def test_a_key_that_is_no_string_is_of_the_wrong_type(role: str) -> None:
    assert faults(key(role, "wrong_type", kind="list")) == ["KEY_WRONG_TYPE"]


@pytest.mark.parametrize("value_class", ["text", "uuid", "empty", "not_positive", "too_large"])
def test_a_counter_holds_a_number(value_class: str) -> None:
    assert faults(key("seq", value_class)) == ["KEY_BAD_VALUE"]


@pytest.mark.parametrize(
    ("profile", "value_class", "is_bad"),
    [
        ("generation", "uuid", True), ("generation+hb", "text", True), ("opaque", "uuid", False),
        ("watch", "uuid", False), ("opaque", "text", False), ("opaque", "empty", True),
    ],
)  # fmt: skip
def test_an_epoch_is_a_number_where_epochs_have_an_order(
    profile: str, value_class: str, is_bad: bool
) -> None:
    assert faults(key("epoch", value_class), profile=profile) == ["KEY_BAD_VALUE"] * is_bad


def test_a_key_that_is_absent_is_no_fault_but_the_source_of_epoch_numbers_in_use() -> None:
    absent = key("gen", "absent", None, "none")

    assert faults(key("seq", "absent", None, "none"), absent) == []
    assert faults(absent, key("epoch", "absent", None, "none")) == []
    assert faults(absent, key("epoch")) == ["KEY_MISSING"]


@pytest.mark.parametrize(
    ("policy", "is_bad"),
    [("allkeys-lru", True), ("allkeys-random", True), ("volatile-lru", False), ("", False)],
)
def test_only_a_policy_over_all_keys_takes_one_that_does_not_expire(
    policy: str, is_bad: bool
) -> None:
    assert faults(policy=policy) == ["KEY_EVICTABLE"] * is_bad
