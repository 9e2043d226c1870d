"""A message off the wire, as the receiver of a profile reads it.

Source: reference/pad.md section 2. A generic bus has a decoder of its own, by its settings
(events/domain/generic.py).
"""

from __future__ import annotations

from events.domain import pad, profiles
from events.domain.decoded import Answer, Decoded, Frame, Reject, Skip

__all__ = ["Answer", "Decoded", "Frame", "Reject", "Skip", "decode"]


def decode(profile: str, scope: str, raw: bytes) -> Answer:
    """Read one message; never raises for any bytes.

    `profile` is one of Pad's, by either name; for `generic` and for no profile at all ValueError
    is raised. `scope` is the workspace of the channel it came on, and the channel's name on the
    watch bus.
    """
    decoder = pad.DECODERS.get(profile) or pad.DECODERS.get(profiles.profile_of(profile))
    if decoder is None:
        raise ValueError("a generic bus is read by its settings, not by its profile alone")
    return decoder(scope, raw)
