"""One message as a replica received it: what decoders give and detectors take.

Times are whole microseconds since 1970 by the observer's clock, so that they survive text and both
databases unchanged. Source: reference/events-and-loops.md section 4.
"""

from __future__ import annotations

from typing import NamedTuple

BARE, PREFIXED, FRAME, JUNK, HOLE = "bare", "prefixed", "frame", "junk", "hole"
"""The forms: an id alone, an id with its epoch, a liveness frame without an id, neither form, and
a time in which we did not watch."""
LIVE, REPLAY = "live", "replay"
SECOND = 1_000_000


class Record(NamedTuple):
    """A message of one lane; `scope` is the channel or workspace, `id` None where it has none.

    `fingerprint` is a keyed hash of the body without its id. `place` is the leaf of the segment
    that holds it and the row in it. In a hole, `at` is when it began and `until` when it ended.
    """

    at: int
    installation: str
    bus: str
    replica: str
    scope: str
    form: str
    epoch: str | None = None
    id: int | None = None
    fingerprint: str = ""
    publisher: str = ""
    source: str = LIVE
    until: int = 0
    place: tuple[int, int] = (0, 0)
