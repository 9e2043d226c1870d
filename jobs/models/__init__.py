"""Tables of the jobs app."""

from __future__ import annotations

from jobs.models.attempts import Attempt, AttemptShape, KeyHolder
from jobs.models.calls import CallReceipt, Job
from jobs.models.contradictions import Contradiction, ContradictionNote, ContradictionWatch
from jobs.models.oban import ObanHole, ObanKnown, ObanSource

__all__ = [
    "Attempt",
    "AttemptShape",
    "CallReceipt",
    "Contradiction",
    "ContradictionNote",
    "ContradictionWatch",
    "Job",
    "KeyHolder",
    "ObanHole",
    "ObanKnown",
    "ObanSource",
]
