"""`manage.py bus_tail --upload`: a recorded bus from a file, once."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from kit.commands import UsageError
from ledger.models import Receipt, ReceiptBody
from tests import factories

pytestmark = pytest.mark.django_db
PERSONAL = "Ada Lovelace"


@pytest.fixture
def project() -> str:
    return factories.make_project().slug


def run(project: str, path: Path, *words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    given = [f"--project={project}", "--installation=i1", "--bus=activity", f"--upload={path}"]
    try:
        call_command("bus_tail", *given, *words, stdout=out, stderr=err)
    except SystemExit as left:
        return int(left.code or 0), out.getvalue(), err.getvalue()
    return 0, out.getvalue(), err.getvalue()


def at(second: int) -> str:
    return f"2026-10-05T09:{second // 60:02}:{second % 60:02}.000000Z"


def message(second: int, number: int, **more: Any) -> dict[str, Any]:
    event = {"id": 0, "type": "t", "workspace_id": "ws-1", "title": PERSONAL, "timestamp": 1}
    text = f"7|{number}|{json.dumps(event)}"
    return {"at": at(second), "channel": "pad:events:ws-1", "message": text, **more}


def write(folder: Path, *lines: object) -> Path:
    path = folder / "bus.ndjson"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    path.write_text("\n".join(texts) + "\n")
    return path


def bodies(what: str = "segment") -> list[dict[str, Any]]:
    raws = ReceiptBody.objects.order_by("id").values_list("raw", flat=True)
    return [body for body in (json.loads(bytes(raw)) for raw in raws) if body["what"] == what]


def rows() -> list[list[Any]]:
    return [row for body in bodies() for row in body["data"]["messages"]]


def test_a_recorded_bus_becomes_segments_with_its_own_times(project: str, tmp_path: Path) -> None:
    path = write(tmp_path, *(message(n // 100, n) for n in range(1, 301)))

    code, said, _ = run(project, path)

    assert (code, said) == (0, "300 messages and 0 dumps in 4 receipts.\n")
    assert [row[3] for row in rows()] == [str(number) for number in range(1, 301)]
    assert [one["from"] for one in bodies()] == [at(n) for n in range(4)]
    assert PERSONAL not in json.dumps(bodies())
    assert bodies()[0]["profile"] == "generation+hb"


def test_the_same_file_taken_again_adds_nothing(project: str, tmp_path: Path) -> None:
    path = write(tmp_path, *(message(n, n) for n in range(1, 30)), {"ids": ["1"], "at": at(60)})
    run(project, path)
    before = Receipt.objects.count()

    code, said, _ = run(project, path)

    assert (code, Receipt.objects.count()) == (0, before)
    assert said.endswith(f"in {before} receipts, {before} of them on record before.\n")


def test_the_same_file_read_by_another_profile_is_a_conflict_that_is_said(
    project: str, tmp_path: Path
) -> None:
    path = write(tmp_path, message(1, 1))
    run(project, path, "--profile=v2")

    _, said, _ = run(project, path, "--profile=v0")

    assert said.endswith("1 conflict with what other settings made of this file.\n")


def test_lines_may_name_the_replica_that_heard_them(project: str, tmp_path: Path) -> None:
    lines = [message(n, n, replica=f"r{n % 2}", publisher="p") for n in range(1, 5)]

    run(project, write(tmp_path, *lines))

    assert {one["replica"]: one["count"] for one in bodies()} == {"r0": 1, "r1": 1}
    assert rows()[0][10] == "p"


def test_bytes_that_are_no_text_and_holes_can_be_recorded(project: str, tmp_path: Path) -> None:
    coded = base64.b64encode(b"\xff\xfe").decode()
    hole = {"at": at(3), "until": at(9), "hole": "reconnect"}

    code, said, _ = run(
        project,
        write(tmp_path, {"at": at(1), "channel": "pad:events:a", "message_b64": coded}, hole),
    )

    assert (code, said) == (0, "1 messages and 0 dumps in 2 receipts.\n")
    assert [(row[1], row[6]) for row in rows()] == [("junk", 2), ("hole", 6_000_000)]


def test_a_dump_of_a_buffer_is_an_observation_of_it(project: str, tmp_path: Path) -> None:
    dump = {
        "replica": "web-1", "channel": "ws-1", "epoch": "7", "floor": "3", "high_water": 9,
        "capacity": 1024, "ids": [3, "9", "1876951040000000001"], "at": at(1),
    }  # fmt: skip

    code, said, _ = run(project, write(tmp_path, dump))

    assert (code, said) == (0, "0 messages and 1 dumps in 1 receipts.\n")
    [body] = bodies("buffer")
    assert body["ids"] == ["3", "9", "1876951040000000001"]
    assert (body["installation"], body["replica"], body["high_water"]) == ("i1", "web-1", "9")


BAD = [
    ("{", "is no JSON"),
    ("[1]", "is no object"),
    ('{"channel": "a", "message": "x"}', 'has no time; write "at"'),
    ('{"at": "yesterday", "channel": "a", "message": "x"}', "has no time"),
    (f'{{"at": "{at(1)}", "message": "x"}}', "has no channel"),
    (f'{{"at": "{at(1)}", "channel": "a"}}', "has no message"),
    (f'{{"at": "{at(1)}", "channel": "a", "message_b64": "*"}}', "is no base64"),
    (f'{{"at": "{at(1)}", "ids": ["x"]}}', "has ids that are no numbers"),
    ("[" * 100_000, "is no JSON"),
    (json.dumps(message(1, 1, replica={"a": 1})), "has a replica that is no text"),
    (json.dumps({"at": at(9), "until": at(3), "hole": "reconnect"}), 'an "until" before its "at"'),
    (json.dumps(message(1, 1) | {"at": "9999-12-31T23:59:59.999999Z"}), "the years 2 to 9998"),
]


@pytest.mark.parametrize(("line", "why"), BAD)
def test_a_bad_line_is_named_and_set_aside_and_the_others_are_taken(
    project: str, tmp_path: Path, line: str, why: str
) -> None:
    path = write(tmp_path, message(1, 1), line, "", message(2, 2))
    aside = tmp_path / "aside.ndjson"

    code, said, told = run(project, path, f"--set-aside={aside}")

    assert code == 1
    assert said.endswith("1 lines were set aside.\n")
    assert told.startswith("Line 2 ") and why in told
    assert aside.read_text() == line + "\n"
    assert [row[3] for row in rows()] == ["1", "2"]


def test_a_file_that_cannot_be_read_is_no_wrong_option(project: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read: No such file"):
        run(project, tmp_path / "gone")
    with pytest.raises(CommandError, match="cannot be read: Is a directory"):
        run(project, tmp_path)


def test_a_file_for_set_aside_lines_is_never_written_over(project: str, tmp_path: Path) -> None:
    path = write(tmp_path, message(1, 1))

    with pytest.raises(UsageError, match="cannot be written"):
        run(project, path, f"--set-aside={path}")
