"""What "as of" means: receipts 0…n of a log, seen at a clock (design, section 2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from kit import search
from kit.http import ProblemError
from ledger.models import TreeHead
from ledger.queries import heads

# One more is still a number that the databases can hold.
LAST_LEAF = 2**63 - 2
_NUMBER = re.compile(r"n(0|[1-9][0-9]{0,17})")


class BadAsOf(ProblemError):
    """As of when? A number such as n42, or a time such as 2026-10-05T09:00:00Z."""

    def __init__(self, detail: str) -> None:
        super().__init__(400, "as_of", "This point of the log cannot be shown", detail)


@dataclass(frozen=True, slots=True)
class AsOf:
    """A cut of a log: the last leaf to be seen (-1 for none) and the clock to see it by.

    `committed_at` is when the head that first covered that leaf was, and `lag` how many leaves
    the lists do not show yet; an earlier time has none.
    """

    leaf: int
    at: datetime
    is_now: bool
    label: str = "now"
    committed_at: datetime | None = None
    lag: int = 0

    @property
    def end(self) -> int:
        """The first leaf that is not seen."""
        return self.leaf + 1


def find_as_of(project_id: int, text: str, now: datetime) -> AsOf:
    """Read `as_of`; without one it is everything that the lists show, seen now.

    Raises BadAsOf for a text that is neither a number nor a time, and for a number that the lists
    have not reached.
    """
    reach = heads.reach_of(project_id)
    if not text:
        end, committed_at = reach.derived - 1, reach.derived_at
        return AsOf(end, now, is_now=True, committed_at=committed_at, lag=reach.lag)
    if match := _NUMBER.fullmatch(text):
        return _by_number(project_id, int(match[1]), reach)
    try:
        at = min(search.moment_to_read_at(text, now), now)
    except ValueError as error:
        raise BadAsOf(BadAsOf.__doc__ or "") from error
    heads_then = TreeHead.objects.filter(project_id=project_id, committed_at__lte=at)
    found = heads_then.order_by("-size").values_list("size", "committed_at").first()
    size, committed_at = found or (0, None)
    if size > reach.derived:
        raise BadAsOf(f"The log had {size:,} receipts then; the lists show {reach.derived:,} yet.")
    return AsOf(size - 1, at, is_now=False, label=text, committed_at=committed_at)


def _by_number(project_id: int, leaf: int, reach: heads.Reach) -> AsOf:
    if leaf >= reach.derived:
        shown = f"the newest in the lists is №{reach.derived - 1:,}" if reach.derived else "none is"
        raise BadAsOf(f"№{leaf:,} is not in the lists; {shown}.")
    at = heads.head_of(project_id, leaf)
    if at is None:
        raise BadAsOf(f"№{leaf:,} has no head.")
    return AsOf(leaf, at, is_now=False, label=f"№{leaf:,}", committed_at=at)
