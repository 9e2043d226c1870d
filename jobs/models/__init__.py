"""Tables of the jobs app."""

from __future__ import annotations

from jobs.models.calls import CallReceipt, Job
from jobs.models.oban import ObanHole, ObanKnown, ObanSource

__all__ = ["CallReceipt", "Job", "ObanHole", "ObanKnown", "ObanSource"]
