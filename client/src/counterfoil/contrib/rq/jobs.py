"""A job that tells when it was cancelled."""

from __future__ import annotations

from typing import Any

import rq.job

from counterfoil.contrib import rim
from counterfoil.contrib.rq import facts


class Job(rq.job.Job):
    """RQ's job; `cancel` writes a receipt when RQ has done it."""

    def cancel(self, *args: Any, **kwargs: Any) -> Any:
        """Cancel as RQ does; see there."""
        found = super().cancel(*args, **kwargs)
        if not rim.is_off():
            with facts.contained("a cancelled job"):
                facts.write("cancel", "Job.cancel", self, {"reason": "asked"}, {})
        return found
