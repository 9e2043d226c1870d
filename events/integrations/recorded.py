"""A recorded bus, or dumps of replay buffers, taken from a file of lines of JSON.

A line is `{"at", "channel", "message"}`, with `message_b64` for bytes that are no text, and may
name its `replica`, `publisher` and `source`; or a hole, `{"at", "until", "hole": why}`; or a dump
of a buffer, an object with `ids`. What is stored is named by the file's digest, so that taking the
same file again adds nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from events.domain import rows
from events.domain.recording import Recorded
from events.domain.records import HOLE, LIVE, REPLAY
from events.domain.segments import Builder, Segment
from events.domain.times import FIRST, LAST, micros
from events.integrations.listener import Say
from events.integrations.tail_writer import NAMESPACE, SCHEMA, SYSTEM, as_bytes
from events.integrations.watched import Rows, Watched
from kit import clock
from ledger import ingest
from ledger.domain import plain
from ledger.domain.draft import Envelope
from ledger.domain.leaf import rfc3339
from ledger.domain.reading import MAX_BODY

AT_ONCE = 1024 * 1024
LONGEST_LINE = 8 * 1024 * 1024
TOLD = 100
"""The bad lines that are named singly."""


class Unreadable(ValueError):
    """The file cannot be read."""


class Unwritable(ValueError):
    """The file for set-aside lines cannot be written."""


class BadLine(ValueError):
    """A line is no message, no hole and no dump; the message says why."""


@dataclass(slots=True)
class Told:
    """What became of a file."""

    messages: int = 0
    dumps: int = 0
    receipts: int = 0
    new: int = 0
    conflicts: int = 0
    set_aside: int = 0

    def sentence(self) -> str:
        """Say it in one line."""
        said = f"{self.messages:,} messages and {self.dumps:,} dumps in {self.receipts:,} receipts"
        before = self.receipts - self.new
        said += f", {before:,} of them on record before." if before else "."
        if self.conflicts:
            said += f" {self.conflicts:,} conflict with what other settings made of this file."
        return f"{said} {self.set_aside:,} lines were set aside." if self.set_aside else said


def upload(watched: Watched, path: Path, say: Say, set_aside: str | None = None) -> Told:
    """Take a file; raises Unreadable, and Unwritable where lines cannot be set aside."""
    try:
        with path.open("rb") as file:
            name = str(uuid.uuid5(NAMESPACE, f"file\n{_digest(file)}"))
            run = _Run(watched, name, say, _opened(set_aside))
            return run.take(file)
    except OSError as error:
        raise Unreadable(f"{path} cannot be read: {error.strerror}") from error


@dataclass(slots=True)
class _Run:
    watched: Watched
    name: str
    say: Say
    aside: BinaryIO | None
    told: Told = field(default_factory=Told)
    _builders: dict[str, Builder] = field(default_factory=dict)
    _waiting: list[bytes] = field(default_factory=list)
    _size: int = 0

    def take(self, file: BinaryIO) -> Told:
        made = Rows(self.watched)
        for number, line in enumerate(_lines(file), 1):
            try:
                self._take(made, number, line)
            except BadLine as why:
                self._set_aside(number, line, str(why))
        for builder in self._builders.values():
            self._keep(builder.close())
        self._store()
        if self.aside is not None:
            self.aside.close()
        return self.told

    def _take(self, made: Rows, number: int, line: bytes) -> None:
        given = _read(line)
        if given is None:
            return
        if "ids" in given:
            self._wait(as_bytes(self._dump(number, given)))
            self.told.dumps += 1
            return
        recorded = _recorded(made, given)
        replica = _replica(given) or self.watched.replica
        builder = self._builders.get(replica)
        if builder is None:
            builder = Builder(replace(self.watched.lane(self.name), replica=replica))
            self._builders[replica] = builder
        self._keep(builder.add(*recorded))
        self.told.messages += recorded.row.form != HOLE

    def _dump(self, number: int, given: Mapping[str, Any]) -> dict[str, Any]:
        """Make the receipt of a dump of a replay buffer."""
        ids = [_id(one) for one in plain.list_of(given["ids"])]
        at = rfc3339(_moment(given.get("at")))
        named = {
            name: plain.name_of(given[name])
            for name in ("channel", "epoch", "floor", "high_water", "capacity")
            if given.get(name) is not None
        }
        return {
            "schema": SCHEMA,
            "id": str(uuid.uuid5(NAMESPACE, f"line\n{self.name}\n{number}")),
            "kind": "observe",
            "what": "buffer",
            "occurred_at": at,
            "source": {
                "system": SYSTEM, "instance": self.watched.installation, "via": "import",
            },
            "installation": self.watched.installation,
            "bus": self.watched.bus,
            "replica": _replica(given) or self.watched.replica,
            **named,
            "ids": ids,
        }  # fmt: skip

    def _keep(self, segment: Segment | None) -> None:
        if segment is not None:
            self._wait(segment.raw)

    def _wait(self, raw: bytes) -> None:
        if len(raw) > MAX_BODY:
            raise BadLine(f"makes a receipt of {len(raw):,} bytes; {MAX_BODY:,} are kept")
        self._waiting.append(raw)
        self._size += len(raw)
        if self._size >= AT_ONCE:
            self._store()

    def _store(self) -> None:
        if not self._waiting:
            return
        outcomes = ingest.ingest(self._waiting, Envelope(self.watched.project_id, clock.now()))
        self.told.receipts += len(outcomes)
        self.told.new += sum(one.is_new for one in outcomes)
        self.told.conflicts += sum(one.is_conflict for one in outcomes)
        self._waiting, self._size = [], 0

    def _set_aside(self, number: int, line: bytes, why: str) -> None:
        self.told.set_aside += 1
        if self.told.set_aside <= TOLD:
            self.say(f"Line {number} {why}.")
        if self.aside is not None:
            self.aside.write(line.rstrip(b"\n") + b"\n")


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines; of a longer one than can be taken the beginning, which then is no JSON."""
    while line := file.readline(LONGEST_LINE):
        rest = line
        while not rest.endswith(b"\n") and len(rest) == LONGEST_LINE:
            rest = file.readline(LONGEST_LINE)
        yield line


def _read(line: bytes) -> dict[str, Any] | None:
    if not line.strip():
        return None
    try:
        given = json.loads(line)
    except (ValueError, RecursionError):
        raise BadLine("is no JSON") from None
    if not isinstance(given, dict):
        raise BadLine("is no object")
    return given


def _replica(given: Mapping[str, Any]) -> str:
    """Give the replica that a line names, empty where it names none."""
    told = given.get("replica")
    if told is not None and not isinstance(told, str):
        raise BadLine("has a replica that is no text")
    return plain.name_of(told)


def _recorded(made: Rows, given: Mapping[str, Any]) -> Recorded:
    at = micros(_moment(given.get("at")))
    if "hole" in given:
        until = micros(_moment(given.get("until"), "until"))
        if until < at:
            raise BadLine('has an "until" before its "at"')
        return Recorded(rows.hole(at, until, plain.name_of(given["hole"]) or "recorded"))
    channel = given.get("channel")
    if not isinstance(channel, str):
        raise BadLine("has no channel")
    found = made.of_message(at, channel, _message(given))
    publisher, source = given.get("publisher"), given.get("source")
    row = found.row
    if isinstance(publisher, str):
        row = row._replace(publisher=plain.name_of(publisher))
    if source in (LIVE, REPLAY):
        row = row._replace(source=source)
    return found._replace(row=row)


def _message(given: Mapping[str, Any]) -> bytes:
    text, coded = given.get("message"), given.get("message_b64")
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if not isinstance(coded, str):
        raise BadLine("has no message")
    try:
        return base64.b64decode(coded, validate=True)
    except ValueError:
        raise BadLine("has a message_b64 that is no base64") from None


def _moment(value: object, name: str = "at") -> Any:
    found = plain.time_of(value)
    if found is not None and not FIRST <= micros(found) <= LAST:
        raise BadLine("has a time outside the years 2 to 9998")
    if found is None:
        raise BadLine(f'has no time; write "{name}" as 2026-10-05T09:00:00.000000Z')
    return found


def _id(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise BadLine("has ids that are no numbers")
    text = str(value)
    if not text.lstrip("-").isdecimal() or len(text) > 40:
        raise BadLine("has ids that are no numbers")
    return text


def _digest(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    while part := file.read(AT_ONCE):
        digest.update(part)
    file.seek(0)
    return digest.hexdigest()


def _opened(name: str | None) -> BinaryIO | None:
    if name is None:
        return None
    try:
        return Path(name).open("xb")
    except OSError as error:
        raise Unwritable(f"{name} cannot be written: {error.strerror}") from error
