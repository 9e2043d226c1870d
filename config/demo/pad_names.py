"""What Pad's buses are called in Redis, and how their messages are written.

Source: reference/pad.md sections 1.1, 1.2 and 5.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

TOKEN_S = 60
"""Seconds for which a token keeps a message from being published twice."""
_ESCAPED = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"}


@dataclass(frozen=True, slots=True)
class Names:
    """The keys and channels of one installation; those of two namespaces never meet."""

    namespace: str = ""

    @property
    def prefix(self) -> str:
        """Give what all names begin with."""
        return f"pad:{self.namespace}:" if self.namespace else "pad:"

    @property
    def counter(self) -> str:
        """Give the key that counts the ids of all workspaces."""
        return f"{self.prefix}event_seq"

    @property
    def epoch(self) -> str:
        """Give the key of the epoch that is current."""
        return f"{self.prefix}event_epoch"

    @property
    def generations(self) -> str:
        """Give the key that counts epochs."""
        return f"{self.prefix}event_epoch_gen"

    def channel(self, workspace: str) -> str:
        """Give the channel of one workspace."""
        return f"{self.prefix}events:{workspace}"

    def token(self, token: str) -> str:
        """Give the key that says that a message is out."""
        return f"{self.prefix}events:pub:{token}"

    @property
    def watch_channel(self) -> str:
        """Give the one channel of the watch bus."""
        return f"{self.prefix}watchevents"

    @property
    def watch_counter(self) -> str:
        """Give the key that counts the watch bus's ids."""
        return f"{self.prefix}watchevents_seq"

    @property
    def watch_epoch(self) -> str:
        """Give the key of the watch bus's epoch."""
        return f"{self.prefix}watchevents_epoch"

    def watch_token(self, token: str) -> str:
        """Give the key that says that a notification is out."""
        return f"{self.prefix}watchevents:pub:{token}"


def body(event: Mapping[str, Any], *, number: int = 0, id_name: str = "id") -> str:
    """Write an event as Go's encoder does; a prefixed message's body has the number 0."""
    text = json.dumps({id_name: number, **event}, ensure_ascii=False, separators=(",", ":"))
    for sign, escaped in _ESCAPED.items():
        text = text.replace(sign, escaped)
    return text
