"""A person's word that numbers of a spool, or all that is missing of it, will never come."""

from __future__ import annotations

from typing import Any

from access import store as access_store
from access.rows import Actor
from kit import clock
from kit.http import ProblemError
from ledger.domain.feed_lines import TARGET, WAIVE
from ledger.domain.feeds import Hole, Spool
from ledger.queries import spools

Document = dict[str, Any]
NO_SPOOL = "Nothing was ever heard of a spool of this name in this project."
NO_GAP = (
    "These numbers are not missing as one gap: they may have come meanwhile, or some of them. "
    "Look at the spool again; a gap is written FIRST-LAST."
)
WORDS = ("same", "other")
NO_ANSWER = "Say `same` or `other` as `disputed_by`, without a gap."
NOT_DISPUTED = "Nobody disputes this spool: only its producer spoke for it, and nothing conflicts."
NOTHING_MISSING = "It closed in order and nothing of it is missing, so there is nothing to waive."


def get_spool(project_id: int, name: str) -> Document:
    """Give all about a spool; raises a problem for one that nothing was heard of."""
    document = spools.spool_page(project_id, name, clock.now())
    if document is None:
        raise ProblemError(404, "not_found", "No such spool", NO_SPOOL)
    return document


def waive(
    project_id: int, name: str, gap: str, actor: Actor, reason: str, disputed_by: str = ""
) -> Document:
    """Record that a gap, or with none all that is missing, was given up; gives what was waived.

    `disputed_by` says instead whether those who spoke for another's spool are the `same` producer
    or an `other`. Raises a problem for a spool that is not known or whole, and for numbers that
    are no gap.
    """
    found = spools.find_spool(project_id, name)
    if found is None:
        raise ProblemError(404, "not_found", "No such spool", NO_SPOOL)
    spool, _ = found
    if spool.is_settled:
        raise ProblemError(409, "nothing_missing", "Nothing is missing", NOTHING_MISSING)
    hole = _hole(spool, gap) if gap else None
    numbers = {} if hole is None else {"first": str(hole.first), "last": str(hole.last)}
    if disputed_by:
        numbers = {"disputed_by": _checked(spool, gap, disputed_by)}
    access_store.record_action(
        project_id=project_id,
        actor=actor,
        verb=WAIVE,
        target=f"{TARGET}{name}",
        reason=reason,
        after={"spool": name, **numbers},
    )
    return {"spool": name, "gap": gap or None, "state": "waived"}


def _checked(spool: Spool, gap: str, disputed_by: str) -> str:
    if disputed_by not in WORDS or gap:
        raise ProblemError(400, "disputed_by", "Not an answer", NO_ANSWER)
    if spool.disputed_at is None:
        raise ProblemError(409, "nothing_missing", "Nothing is disputed", NOT_DISPUTED)
    return disputed_by


def _hole(spool: Spool, gap: str) -> Hole:
    holes = [*spool.holes, *([] if spool.tail is None else [spool.tail])]
    for hole in holes:
        if gap == f"{hole.first}-{hole.last}":
            return hole
    raise ProblemError(404, "not_found", "No such gap", NO_GAP)
