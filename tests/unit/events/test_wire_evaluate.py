"""`evaluate wire` over the vectors, and over what is no list of messages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from events.domain.evaluate_wire import evaluate

VECTORS = json.loads((Path(__file__).parents[2] / "data" / "pad_wire_vectors.json").read_text())
PREFIXED = '007|5|{"id":0,"workspace_id":"ws-1"}'


def message(**members: Any) -> dict[str, Any]:
    return {"profile": "v2", "channel": "ws-1", "in": PREFIXED, **members}


def test_messages_are_answered_in_their_order() -> None:
    found = evaluate(
        [
            message(profile="v0"),
            message(),
            message(profile="v3", **{"in": "hb|1"}),
            message(profile="opaque", channel="ws-2"),
            message(profile="watch"),
        ]
    )

    assert found == [
        {"reject": "json"},
        {"ok": True, "epoch": "7", "id": "5"},
        {"heartbeat": True},
        {"skip": "workspace_mismatch"},
        {"ok": True, "epoch": "007", "id": "5"},
    ]


def test_either_name_of_a_profile_gives_the_same_answer() -> None:
    names = {"v0": "bare", "v1": "opaque", "v2": "generation", "v3": "generation+hb"}

    for first, second in names.items():
        documents = ([message(profile=name, **{"in": one["in"]}) for one in VECTORS]
                     for name in (first, second))  # fmt: skip
        answers, others = map(evaluate, documents)
        assert answers == others


def test_bytes_that_are_not_utf8_can_be_written_as_lone_surrogates() -> None:
    (answer,) = evaluate([message(profile="v1", **{"in": '\udcff|5|{"workspace_id":"ws-1"}'})])

    assert answer == {"ok": True, "epoch": "\\xff", "id": "5"}


BAD: dict[str, tuple[Any, str]] = {
    "null": (None, "send a list"),
    "an object": ({}, "send a list"),
    "a message that is a text": (["x"], r"\[0\]: send an object"),
    "no profile": ([message(profile=None)], r"\[0\].profile: send one of v0"),
    "a profile that nobody has": ([message(), message(profile="v9")], r"\[1\].profile"),
    "a generic profile": ([message(profile="generic")], r"\[0\].profile"),
    "no channel": ([{"profile": "v2", "in": ""}], r"\[0\].channel: send a text"),
    "a channel that is a number": ([message(channel=1)], r"\[0\].channel: send a text"),
    "no message": ([{"profile": "v2", "channel": "ws-1"}], r"\[0\].in: send a text"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_document_that_cannot_be_read_is_refused_by_its_place(name: str) -> None:
    document, place = BAD[name]

    with pytest.raises(ValueError, match=place):
        evaluate(document)


def test_the_command_answers_what_the_function_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    document = [message(**{"in": one["in"]}) for one in VECTORS]
    (tmp_path / "in.json").write_text(json.dumps(document))

    call_command("evaluate", "wire", "--input", str(tmp_path / "in.json"), "--json")

    assert json.loads(capsys.readouterr().out) == evaluate(document)
