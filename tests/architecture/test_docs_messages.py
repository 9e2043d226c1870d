"""The page about messages says of every profile, code and mask what the decoders do."""

from __future__ import annotations

import json
import re

import pytest

from events.domain import bus_settings, masks, profiles, rows, wire
from events.domain.decoded import Answer, Decoded, Frame, Reject, Skip
from events.domain.generic import LONGEST_ID, Reader
from events.domain.records import REPLAY
from tests.architecture import documents

PAGE = "docs/reference/messages.md"
SECTIONS = documents.sections_of(documents.read(PAGE))
PATHS = {"id": "$.seq", "epoch": "$.epoch", "channel": "$.topic"}
EVENT = '{"id":5,"workspace_id":"ws-1"}'


def rows_of(heading: str) -> list[list[str]]:
    return [
        [cell.strip("`").replace("\\|", "|") for cell in row]
        for row in documents.iter_rows(SECTIONS[heading])
    ]


def decode(profile: str, message: str) -> Answer:
    if profile == profiles.GENERIC:
        return Reader(bus_settings.settings_of("b", PATHS)).decode("c", message.encode())
    return wire.decode(profile, "ws-1", message.encode())


@pytest.mark.parametrize("row", rows_of("Profiles"), ids=lambda row: row[0])
def test_a_profile_reads_what_is_told_of_it(row: list[str]) -> None:
    profile, *told, epochs = row

    found = [decode(profile, one) for one in (EVENT, f"7|5|{EVENT}", "hb|1")]

    assert [one == "yes" for one in told] == [isinstance(one, Decoded | Frame) for one in found]
    text = decode(profile, f"e1|5|{EVENT}")
    kinds = {"json": "none", "epoch_not_integer": "numbers"}
    assert epochs == (kinds[text.code] if isinstance(text, Reject) else "tokens")


def test_every_profile_of_pads_is_told() -> None:
    assert [row[0] for row in rows_of("Profiles")] == list(profiles.PAD_PROFILES)


@pytest.mark.parametrize("row", rows_of("What cannot be read"), ids=lambda row: row[0])
def test_an_example_of_what_cannot_be_read_has_its_code(row: list[str]) -> None:
    assert decode(row[3], row[2]) == Reject(row[0])


@pytest.mark.parametrize("row", rows_of("What is ignored"), ids=lambda row: row[0])
def test_an_example_of_what_is_ignored_has_its_code(row: list[str]) -> None:
    found = decode(row[3], row[2])

    assert isinstance(found, Skip)
    assert found.code == row[0]


def test_every_code_is_told() -> None:
    code = "".join(
        documents.read(f"events/domain/{name}.py") for name in ("pad", "generic", "decoded")
    )
    used = set(re.findall(r'Reject\("(\w+)"\)', code))

    assert {row[0] for row in rows_of("What cannot be read")} == used


def test_what_is_masked_is_told() -> None:
    activity, watch, *_ = rows_of("What is masked")

    assert re.findall(r"`(\w+)`", f"`{activity[1]}") == sorted(masks.PERSONAL_EVENT)
    assert re.findall(r"`(\w+)`", f"`{watch[1]}") == sorted(masks.PERSONAL_NOTIFICATION)


def test_the_places_of_a_row_are_told() -> None:
    row = rows.Row(7, "bare", "e", 5, "ws", "f", 300, "{}", rows.BASE64, "cut", "p", REPLAY)

    assert json.loads(rows.json_of(row, 0)) == [
        7, "bare", "e", "5", "ws", "f", 300, "{}", "b64", "cut", "p", "replay",
    ]  # fmt: skip
    assert [one[0] for one in rows_of("A segment")] == [str(place) for place in range(12)]


def test_the_longest_id_is_told() -> None:
    assert f"up to {LONGEST_ID} of them" in SECTIONS["Profiles"]
