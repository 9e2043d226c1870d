"""A bus that a reader can follow: a counter that restarts unannounced, a roll, a change of epoch.

Three replicas receive some minutes of it as segments, with a gap, a hole in our own watching, a
message nobody can read, text that means harm, and ids beyond what a browser's numbers hold.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

from events.domain.records import BARE, JUNK, PREFIXED, SECOND
from events.domain.rows import Row, hole
from events.domain.segments import Builder, Lane
from events.domain.times import micros
from tests.browser.history import SCRIPT

Body = dict[str, Any]

INSTALLATION, BUS, CHANNEL = "inst-a", "activity", "ws-1"
REPLICAS = ("r1", "r2", "r3")
LARGE = 1_876_951_040_000_000_001
SECONDS = 90
EACH = 12
"""Messages a second."""
LOST, DOUBLED, UNREADABLE = 230, 240, 60


def bodies(now: datetime) -> list[Body]:
    """Tell the story so that it ended a minute before now."""
    start = micros(now - timedelta(seconds=SECONDS + 60))
    segments = [one for replica in REPLICAS for one in _segments(replica, start)]
    return [*segments, *_answers(start)]


def _segments(replica: str, start: int) -> Iterator[Body]:
    builder = Builder(Lane(INSTALLATION, BUS, replica, "generation", f"00000000-{replica}"))
    for row in _rows(replica, start):
        finished = builder.add(row)
        if finished is not None:
            yield finished.body
    last = builder.close()
    if last is not None:
        yield last.body


def _rows(replica: str, start: int) -> Iterator[Row]:
    for place, (form, epoch, number) in enumerate(_ids()):
        at = start + place * SECOND // EACH
        if replica == "r3" and 40 * EACH <= place < 44 * EACH:
            if place == 40 * EACH:
                yield hole(at, at + 4 * SECOND, "reconnect")
            continue
        if replica == "r2" and epoch == "7" and number == LOST:
            continue
        row = _row(at, form, epoch, number)
        yield row
        if replica == "r1" and epoch == "7" and number == DOUBLED:
            yield row._replace(at=at + 1_000)
        if replica == "r1" and place == UNREADABLE * EACH:
            yield Row(at + 2_000, JUNK, None, None, CHANNEL, _print("junk"), 40, None, "", "json")


def _ids() -> Iterator[tuple[str, str | None, int]]:
    yield from ((BARE, None, number) for number in range(1, 30 * EACH + 1))
    yield from ((BARE, None, number) for number in range(1, 15 * EACH + 1))
    yield from ((PREFIXED, "7", number) for number in range(181, 181 + 25 * EACH))
    yield from ((PREFIXED, "8", LARGE + number) for number in range(20 * EACH))


def _row(at: int, form: str, epoch: str | None, number: int) -> Row:
    told = {"type": "item_updated", "workspace_id": CHANNEL, "title": SCRIPT, "n": str(number)}
    body = json.dumps({**told, "at": at if epoch is None else 0, "tags": ["a", {"deep": True}]})
    length = len(body) + (len(f"{epoch}|{number}|") if epoch else 0)
    return Row(at, form, epoch, number, CHANNEL, _print(f"{epoch} {body}"), length, body)


def _print(text: str) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:12]).decode()


def _answers(start: int) -> Iterator[Body]:
    for second, replica, cursor, epoch, answer in (
        (38, "r1", "150", None, "replay"),
        (50, "r2", "20", None, "sync_required"),
        (80, "r1", "300", "7", "replay"),
    ):
        at = (start + second * SECOND) / SECOND
        said = datetime.fromtimestamp(at, tz=UTC).isoformat().replace("+00:00", "Z")
        yield {
            "kind": "observe",
            "what": "resume",
            "id": f"resume-{second}",
            "occurred_at": said,
            "source": {"system": "redis", "instance": INSTALLATION},
            "installation": INSTALLATION,
            "bus": BUS,
            "replica": replica,
            "channel": CHANNEL,
            "cursor": cursor,
            "answer": answer,
            **({"epoch": epoch} if epoch else {}),
            **({"served": 5} if answer == "replay" else {}),
        }
