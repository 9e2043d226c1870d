"""Models of Pad's replicas: what an instance of each version keeps, drops, counts and answers.

Source: reference/pad.md sections 3 and 5.
"""

from __future__ import annotations

from events.domain.replicas.answers import Given
from events.domain.replicas.replay import replay
from events.domain.replicas.replica import Replica

__all__ = ["Given", "Replica", "replay"]
