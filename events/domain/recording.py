"""A message off the wire turned into the row that is stored: decoded, hashed, masked, cut.

Source: design section 2 (segments); reference/pad.md section 7 (what is kept by default).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable
from typing import NamedTuple

from events.domain import fingerprints, json_paths, masks, pad, profiles
from events.domain.bus_settings import BusSettings
from events.domain.decoded import Answer, Decoded, Frame, Reject, Skip
from events.domain.fingerprints import Sign
from events.domain.generic import Reader
from events.domain.masks import Masked
from events.domain.records import BARE, FRAME, JUNK, PREFIXED
from events.domain.rows import BASE64, Row
from ledger.domain.names import column

LONGEST = 64 * 1024
"""Bytes of a message of which the whole body is kept."""
BEGINNING = 4 * 1024
CUT = "cut"


class Recorded(NamedTuple):
    """A row, and the names of the members of its body that were masked."""

    row: Row
    masked: tuple[str, ...] = ()


class Recorder:
    """Makes rows of the messages of one bus; `sign` hashes under the project's key."""

    def __init__(self, settings: BusSettings, sign: Sign) -> None:
        self.sign = sign
        self.reader = Reader(settings) if settings.profile == profiles.GENERIC else None
        self.mask = masks.mask_of(settings.profile, settings.mask, _kept(settings))
        self._decode = self.reader.decode if self.reader else pad.DECODERS[settings.profile]
        self.hash: Callable[[Decoded], str] = lambda decoded: fingerprints.of_pad(decoded, sign)
        if self.reader is not None:
            left = [json_paths.parse(one) for one in (settings.id, settings.epoch) if one]
            self.hash = lambda decoded: fingerprints.of_paths(decoded, sign, left)

    def record(self, at: int, scope: str, raw: bytes) -> Recorded:
        """Make the row of a message observed at a time, in microseconds since 1970.

        `scope` is the workspace of the channel for Pad's activity bus, else the channel's name.
        """
        return self._recorded(at, scope, raw, self._decode(scope, raw))

    def record_entry(
        self, at: int, stream: str, entry: str, pairs: Iterable[tuple[bytes, bytes]]
    ) -> Recorded:
        """Make the row of an entry of a Redis stream; its fields are the members of its body.

        Raises ValueError for a bus that is no generic one.
        """
        if self.reader is None:
            raise ValueError("only a generic bus is read from a stream")
        given = list(pairs)
        raw = b"".join(part for pair in given for part in pair)
        return self._recorded(at, stream, raw, self.reader.entry(stream, entry, given))

    def _recorded(self, at: int, scope: str, raw: bytes, found: Answer) -> Recorded:
        if type(found) is Decoded:
            return self._message(at, found, len(raw), "")
        if isinstance(found, Skip):
            return self._message(at, found.decoded, len(raw), found.code)
        scope = column(scope)
        if isinstance(found, Frame):
            kept = found.text if len(raw) <= pad.LONGEST_FRAME and self.reader is None else None
            return Recorded(Row(at, FRAME, None, None, scope, "", len(raw), kept))
        code = found.code if isinstance(found, Reject) else ""
        digest = fingerprints.short(self.sign(raw))
        return Recorded(Row(at, JUNK, None, None, scope, digest, len(raw), note=code))

    def _message(self, at: int, found: Decoded, length: int, note: str) -> Recorded:
        body, encoding, masked = self._body(found)
        if length > LONGEST and body is not None:
            body, note = _beginning(body, encoding), note or CUT
        epoch = found.epoch
        row = Row(
            at,
            BARE if epoch is None else PREFIXED,
            None if epoch is None else column(epoch),
            found.id,
            column(found.scope),
            self.hash(found),
            length,
            body,
            encoding,
            note,
        )
        return Recorded(row, masked)

    def _body(self, found: Decoded) -> tuple[str | None, str, tuple[str, ...]]:
        """Mask a body: what is kept of it, in which encoding, and what was masked."""
        if "\ufffd" in found.body and not _is_utf8(found.raw):
            # Each byte that is no text stands for itself, so that all others come out unchanged.
            masked = self.mask(found.raw.decode("utf-8", "surrogateescape"), None)
            return (None, "", ()) if masked is None else _in_base64(masked)
        masked = self.mask(found.body, found.value)
        return (None, "", ()) if masked is None else (masked.text, "", masked.members)


def _kept(settings: BusSettings) -> list[str]:
    paths = [settings.id, settings.epoch, settings.channel]
    return [one for one in paths if one.startswith("$")]


def _is_utf8(raw: bytes) -> bool:
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _in_base64(masked: Masked) -> tuple[str, str, tuple[str, ...]]:
    raw = masked.text.encode("utf-8", "surrogateescape")
    return base64.b64encode(raw).decode("ascii"), BASE64, masked.members


def _beginning(body: str, encoding: str) -> str:
    if encoding == BASE64:
        # Four characters for three bytes, and no part of a group.
        return body[: BEGINNING // 3 * 4]
    return body.encode("utf-8")[:BEGINNING].decode("utf-8", "ignore")
