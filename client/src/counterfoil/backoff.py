"""How long to wait after a failed try: exponential with full jitter, never before Retry-After."""

from __future__ import annotations

import random
from email.utils import parsedate_to_datetime
from typing import Callable

BASE_S = 0.5
CAP_S = 60.0

# The system's source needs no reseeding after a fork, so that forks do not try in step.
_uniform = random.SystemRandom().uniform


class Backoff:
    """Counts failures in a row and gives the wait in seconds before the next try."""

    def __init__(self, uniform: Callable[[float, float], float] = _uniform) -> None:
        self._uniform = uniform
        self._failures = 0

    def succeeded(self) -> None:
        """Begin anew."""
        self._failures = 0

    def failed(self, retry_after_s: float | None = None) -> float:
        """Count a failure and give the wait: uniform in 0 … min(60 s, 0.5 s · 2^n)."""
        bound = min(CAP_S, BASE_S * 2 ** min(self._failures, 16))
        self._failures += 1
        if retry_after_s is None:
            return self._uniform(0.0, bound)
        return retry_after_s + self._uniform(0.0, min(bound, 1.0))


def retry_after_seconds(text: str | None, now: float) -> float | None:
    """Read a Retry-After header, seconds or an HTTP date (RFC 9110 section 10.2.3)."""
    if not text:
        return None
    if text.strip().isdigit():
        return min(float(text.strip()), 3600.0)
    try:
        wait = parsedate_to_datetime(text).timestamp() - now
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
    return min(max(wait, 0.0), 3600.0)
