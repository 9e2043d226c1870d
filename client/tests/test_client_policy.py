from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakeledger import FakeLedger

import counterfoil
from counterfoil import policy, recording
from counterfoil.policy import PolicyError

CELERY = {"system": "celery", "instance": "prod-1", "via": "signal"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "policy.json"


def policies(ledger: FakeLedger) -> list[dict[str, Any]]:
    return [r for r in ledger.of_kind("observe") if r["what"] == "policy"]


@pytest.mark.parametrize(
    ("task", "choice"),
    [
        ("payouts.send", "never"),  # a plain name before any pattern
        ("payouts.book", "each"),
        ("payouts.audit.x", "tally"),  # more literal characters
        ("health.ping", "never"),
        ("Health.ping", "tally"),  # capitals are told apart
        ("mail.send", "tally"),
        ("a1", "each"),  # alike: what keeps more
        ("", "tally"),
    ],
)
def test_the_most_specific_pattern_wins(task: str, choice: str) -> None:
    given = {
        "each": ["payouts.*", "a?"],
        "tally": ["*", "payouts.audit.*"],
        "never": ["health.*", "payouts.send", "?1"],
    }

    found = policy.made(given)

    assert found.choice(task) == choice
    assert found.choice(task) == choice


def test_without_a_file_everything_is_tallied_and_nothing_is_clear() -> None:
    found = policy.default()

    assert found.choice("any.task") == "tally"
    assert found.content == {
        "each": [],
        "tally": ["*"],
        "never": [],
        "clear": {},
        "subjects": {},
    }


def test_a_task_that_no_pattern_names_is_tallied_and_the_policy_says_so() -> None:
    found = policy.made({"each": ["payouts.*"]})

    assert found.tally == ("*",)
    assert policy.made({"never": ["*"]}).tally == ()


def test_fields_of_all_patterns_that_match_count_together() -> None:
    found = policy.made(
        {
            "clear": {"payouts.*": ["kwargs.payout_id", "args.0"], "*.send": ["args.0"]},
            "subjects": {"payouts.send": {"payout": "kwargs.payout_id"}, "*": {"order": "args.1"}},
        }
    )

    assert found.clear_fields("payouts.send") == ("kwargs.payout_id", "args.0")
    assert found.clear_fields("mail.send") == ("args.0",)
    assert found.clear_fields("mail.read") == ()
    assert found.subject_fields("payouts.send") == (
        ("payout", "kwargs.payout_id"),
        ("order", "args.1"),
    )


def test_the_version_is_the_digest_of_the_content_unless_it_is_given() -> None:
    one, same = policy.made({"each": ["a"]}), policy.made({"each": ["a"], "tally": ["*"]})

    assert one.version == same.version
    assert len(one.version) == 12
    assert one.version != policy.made({"each": ["b"]}).version
    assert policy.made({"version": 3}).version == "3"


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "must be an object"),
        ({"nevr": []}, "'nevr'"),
        ({"each": "payouts.*"}, '"each" must be a list'),
        ({"each": [""]}, "1 to 255"),
        ({"each": [1]}, "1 to 255"),
        ({"never": ["x" * 256]}, '"never"'),
        ({"clear": {"": []}}, "1 to 255"),
        ({"clear": []}, '"clear" must be an object'),
        ({"clear": {"a": "args.0"}}, "must be a list of fields"),
        ({"clear": {"a": ["args.x y"]}}, "is no field"),
        ({"clear": {"a": [1]}}, "is no field"),
        ({"subjects": {"a": ["args.0"]}}, "object of type and field"),
        ({"subjects": {"a": {"Payout": "args.0"}}}, "'Payout'"),
        ({"version": True}, '"version"'),
        ({"version": 1.5}, '"version"'),
    ],
)
def test_a_policy_that_cannot_be_used_says_why(given: Any, says: str) -> None:
    with pytest.raises(PolicyError, match="recording policy cannot be used") as caught:
        policy.made(given)

    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"{", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b" " * (policy.MAX_FILE_BYTES + 1), "larger than"),
    ],
)
def test_a_file_that_is_no_policy_says_why(path: Path, content: bytes, says: str) -> None:
    path.write_bytes(content)

    with pytest.raises(PolicyError, match=says):
        policy.read(path)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python reads TOML from 3.11 on")
def test_a_policy_may_be_written_as_toml(tmp_path: Path) -> None:
    path = tmp_path / "policy.toml"
    path.write_text('each = ["payouts.*"]\n[clear]\n"payouts.*" = ["args.0"]\n')

    found = policy.read(path)

    assert found.each == ("payouts.*",)
    assert found.clear_fields("payouts.send") == ("args.0",)
    assert found.version == policy.made(found.content).version


@pytest.mark.parametrize("content", [None, "{"])
def test_a_bad_file_is_one_warning_and_the_default(
    make_client: Callable[..., counterfoil.Client],
    path: Path,
    caplog: pytest.LogCaptureFixture,
    content: str | None,
) -> None:
    if content is not None:
        path.write_text(content)
    client = make_client(policy=path)

    assert [client.choice("a"), client.choice("b")] == ["tally", "tally"]

    assert client.outcome("a", "q", "1", source=CELERY)
    assert [record.levelno for record in caplog.records] == [logging.WARNING]
    assert "everything is tallied" in caplog.text


def test_a_changed_file_is_taken_up_and_told(
    make_client: Callable[..., counterfoil.Client],
    ledger: FakeLedger,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording, "LOOK_AGAIN_S", 0.0)
    path.write_text('{"each": ["a"]}')
    client = make_client(policy=path)
    client.announce(CELERY)
    client.announce(CELERY)
    path.write_text('{"never": ["a"], "version": "two"}')

    client.announce(CELERY)

    client.flush()
    assert [p["each"] for p in policies(ledger)] == [["a"], []]
    assert policies(ledger)[1]["version"] == "two"
    assert client.choice("a") == "never"


def test_a_file_that_turns_bad_leaves_in_force_what_was(
    make_client: Callable[..., counterfoil.Client],
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(recording, "LOOK_AGAIN_S", 0.0)
    path.write_text('{"each": ["a"]}')
    client = make_client(policy=path)
    assert client.choice("a") == "each"
    path.write_text("nonsense")

    assert [client.choice("a"), client.choice("a")] == ["each", "each"]

    assert caplog.text.count("what was in force stays") == 1


def test_each_source_is_told_of_the_policy(client: counterfoil.Client, ledger: FakeLedger) -> None:
    client.announce(CELERY)
    client.announce(dict(CELERY))
    client.announce({"system": "rq", "instance": "a"})

    client.flush()

    assert [p["source"]["system"] for p in policies(ledger)] == ["celery", "rq"]
    assert all(json.dumps(p) for p in policies(ledger))


def test_the_fields_of_subjects_are_told_under_a_name_of_their_own(
    make_client: Callable[..., counterfoil.Client], ledger: FakeLedger, path: Path
) -> None:
    path.write_text('{"subjects": {"payouts.send": {"payout": "args.0"}}}')
    client = make_client(policy=path)

    client.announce(CELERY)

    client.flush()
    # `subjects` of a receipt are business objects.
    [told] = policies(ledger)
    assert told["subject_fields"] == {"payouts.send": {"payout": "args.0"}}
    assert "subjects" not in told


def test_a_policy_that_found_no_room_is_told_later(
    make_client: Callable[..., counterfoil.Client],
    ledger: FakeLedger,
    monkeypatch: pytest.MonkeyPatch,
    spool: Path,
) -> None:
    monkeypatch.setattr(recording, "LOOK_AGAIN_S", 0.0)
    client = make_client(max_bytes="64KiB")
    spool.mkdir()
    filler = spool / "other.4194303.1.ready"
    filler.write_bytes(b"x" * 70_000)
    assert client.outcome("a", "q", "1", source=CELERY) is False
    filler.unlink()

    deadline = time.monotonic() + 20
    while not client.outcome("a", "q", "2", source=CELERY):
        assert time.monotonic() < deadline
    client.outcome("a", "q", "3", source=CELERY)

    client.flush()
    assert len(policies(ledger)) == 1


def test_outcomes_name_the_version_that_they_were_kept_under(
    make_client: Callable[..., counterfoil.Client],
    ledger: FakeLedger,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recording, "LOOK_AGAIN_S", 0.0)
    path.write_text('{"version": "1"}')
    client = make_client(policy=path)
    client.outcome("a", "q", "1", source=CELERY)
    path.write_text('{"version": "2"}')
    client.outcome("a", "q", "2", source=CELERY)

    client.flush()

    found = {t["policy"]: t["data"]["jobs"][0][1] for t in ledger.of_kind("tally")}
    assert found == {"1": "1", "2": "2"}
