"""What a decoder gives: a message, or why it is none."""

from __future__ import annotations

from typing import Any, NamedTuple

from events.domain.records import BARE, PREFIXED


class Decoded(NamedTuple):
    """A message that the receiver of a profile reads.

    `epoch` is text: opaque as it was sent, a generation number in its shortest form. `id` is the
    prefix's where there is one, never the body's. `at` is the event's own time as sent (Pad:
    milliseconds since 1970). `raw` is the body as it came and `body` its text. `value` is the
    parsed body; None where it has to be read with care, because a member is named twice, by another
    case or is unknown.
    """

    epoch: str | None
    id: int
    scope: str
    raw: bytes
    body: str
    type: str = ""
    at: int | None = None
    value: dict[str, Any] | None = None

    @property
    def form(self) -> str:
        """Give the form: `bare` without an epoch, else `prefixed`."""
        return BARE if self.epoch is None else PREFIXED


class Skip(NamedTuple):
    """A message that is decoded and then ignored without a trace; `code` says why."""

    code: str
    decoded: Decoded


class Reject(NamedTuple):
    """A message that the receiver of a profile cannot read.

    Codes: `json` (no JSON, or no body of this bus), `empty_epoch`, `epoch_not_integer`,
    `epoch_not_positive`, `id_not_integer`, `id_not_positive`, `workspace_mismatch`,
    `not_prefixed`, `id_missing`, `id_out_of_range`, `epoch_not_text`, `channel_not_text`.
    """

    code: str


class Frame(NamedTuple):
    """A liveness frame: it has no id and is never buffered."""

    text: str


Answer = Decoded | Skip | Reject | Frame
