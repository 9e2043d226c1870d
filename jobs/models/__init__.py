"""Tables of the jobs app."""

from __future__ import annotations

from jobs.models.calls import CallReceipt, Job

__all__ = ["CallReceipt", "Job"]
