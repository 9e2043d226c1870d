"""A message too long to be held in memory, of which only the beginning is there.

Pad itself has no limit, so such a message is no junk where its id can be read: the prefix has it,
and a bare event begins with it (reference/pad.md 1.1 and section 2).
"""

from __future__ import annotations

import json
import re

from events.domain import profiles
from events.domain.recording import CUT, Recorded
from events.domain.records import JUNK

OVERSIZE = "oversize"
_PREFIX = re.compile(rb"([^|{][^|]{0,255})\|([^|]{1,40})\|")
_BARE = re.compile(rb'\{\s*"id"\s*:\s*(-?[0-9]{1,19})\s*,')


def shortened(profile: str, scope: str, beginning: bytes) -> bytes:
    """Give a short message that a receiver reads as it would read the long one.

    What lies behind the beginning is taken for what it should be.
    """
    member = "WorkspaceID" if profile in profiles.WATCH_PROFILES else "workspace_id"
    prefix = _PREFIX.match(beginning)
    if prefix is not None:
        return prefix[0] + json.dumps({member: scope}).encode()
    bare = _BARE.match(beginning)
    if bare is not None:
        return json.dumps({"id": int(bare[1]), member: scope}).encode()
    return b""


def as_cut(recorded: Recorded, length: int) -> Recorded:
    """Say of the row of a shortened message that it is one: nothing of its body is kept."""
    row = recorded.row
    note = OVERSIZE if row.form == JUNK else row.note or CUT
    return Recorded(row._replace(length=length, body=None, encoding="", note=note))
