"""How complete what producers sent is, as every list, count and explanation says beside its rows.

One statement reads the spools that are open or not whole, and their gaps; closed and whole ones are
passed by, however many there are. Tokens that number nothing are a second one, and those of them
that were quiet for long a third: their silence is measured by their usual interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from kit import bulk, clock
from kit.db import indexed_by
from ledger.domain.feed_states import (
    GAP_AFTER,
    INTERVALS,
    MISSED,
    SHORTEST_INTERVAL,
    SILENT_AFTER,
    silence,
)
from ledger.queries.as_of import LAST_LEAF, AsOf

Document = dict[str, Any]
SPANS = 63
_TOKENS_AT_ONCE = 200
_ROWS = "SELECT s.* FROM feed_spool s{index} WHERE s.project_id = %s"
_GAP_NOW = "g.until_leaf IS NULL"
_GAP_THEN = "g.leaf_index <= %s AND (g.until_leaf IS NULL OR g.until_leaf > %s)"
_SILENT = "closed_at IS NULL AND heard_at < %s"
_TAIL = "expected > high AND expected_since <= %s"
_LOST = "dropped > waived OR outcomes_lost > outcomes_waived"
_DISPUTED = "disputed_at IS NOT NULL"
_SPOOLS = """SELECT count(*),
sum(CASE WHEN {silent} THEN 1 ELSE 0 END),
sum(CASE WHEN {tail} THEN 1 ELSE 0 END) + sum(gaps),
sum(CASE WHEN dropped > waived THEN dropped - waived ELSE 0 END)
+ sum(outcomes_lost - outcomes_waived),
sum(CASE WHEN {silent} OR {tail} OR {lost} OR {disputed} OR gaps > 0 THEN 1 ELSE 0 END),
sum(CASE WHEN {disputed} THEN 1 ELSE 0 END),
sum(CASE WHEN is_numbered AND complete_until IS NULL THEN 1 ELSE 0 END),
min(complete_until),
(SELECT e.complete_until FROM feed_spool e WHERE e.project_id = %s AND e.is_settled = %s
AND e.leaf_index <= %s AND e.is_numbered = %s ORDER BY e.leaf_index DESC LIMIT 1)
FROM (SELECT spools.*, (SELECT count(*) FROM feed_gap g{by_spool} WHERE
g.project_id = spools.project_id AND g.spool = spools.spool AND {gap} AND g.since <= %s) AS gaps
FROM ({in_force}) AS spools) AS counted"""
_TOKENS = """SELECT t.token, a.name,
(t.numbered_leaf IS NULL OR t.numbered_leaf > %s)
AND (a.revoked_at IS NULL OR a.revoked_at > %s) AND (a.expires_at IS NULL OR a.expires_at > %s),
(SELECT e.received_at FROM entry e{by_token}
WHERE e.project_id = t.project_id AND e.token = t.token AND e.leaf_index <= %s
ORDER BY e.leaf_index DESC LIMIT 1)
FROM feed_token t JOIN access_apitoken a ON a.id = t.token
WHERE t.project_id = %s AND t.unnumbered_leaf <= %s
ORDER BY t.token"""


@dataclass(frozen=True, slots=True)
class QuietToken:
    """A token that numbers nothing; `usual` is set when it is silent, by its usual interval."""

    id: int
    name: str
    last_at: datetime | None
    usual_s: float | None = None


def now_of(at: datetime | None = None) -> AsOf:
    """Give everything that is derived, seen now."""
    return AsOf(LAST_LEAF, at or clock.now(), is_now=True)


def feed_at(project_id: int, as_of: AsOf) -> Document:
    """Say how complete the feeds are, as of a leaf and a clock (contract, section 3).

    `complete_until` is null while it is not known for any feed. `incomplete` counts the feeds, of
    spools or tokens, that are silent, have a gap or lost something.
    """
    spools = _spools(project_id, as_of)
    tokens = quiet_tokens(project_id, as_of)
    silent_tokens = sum(one.usual_s is not None for one in tokens)
    return {
        "complete_until": None if tokens else spools["complete_until"],
        "silent": spools["silent"] + silent_tokens,
        "gaps": spools["gaps"],
        "dropped": spools["dropped"],
        "disputed": spools["disputed"],
        "unnumbered": len(tokens),
        "incomplete": spools["incomplete"] + silent_tokens,
    }


def is_whole(feed: Document) -> bool:
    """Tell whether a list may be called complete: nothing is missing, and nothing could be unseen.

    What was sent without numbers may be missing without anybody seeing it.
    """
    return not feed["incomplete"] and not feed["unnumbered"]


def quiet_tokens(project_id: int, as_of: AsOf) -> list[QuietToken]:
    """Give the tokens that handed in receipts without numbers, silent or not.

    What a token sent so before it was revoked may be missing all the same.
    """
    n, at = as_of.leaf, as_of.at
    statement = _TOKENS.format(by_token=indexed_by("entry_by_token"))
    rows = bulk.select_rows(statement, [n, at, at, n, project_id, n])
    last = {token: None if heard is None else bulk.as_time(heard) for token, _, _, heard in rows}
    # One that numbers as well has spools whose silence is seen, and one that ended is silent by it.
    alone = [token for token, _, is_alone, _ in rows if is_alone]
    quiet = [
        token for token in alone
        if (heard := last[token]) is not None and at - heard > MISSED * SHORTEST_INTERVAL
    ]  # fmt: skip
    silent = _silent(project_id, quiet, as_of)
    return [QuietToken(token, name, last[token], silent.get(token)) for token, name, _, _ in rows]


def in_force(project_id: int, as_of: AsOf) -> tuple[str, list[object]]:
    """Select the rows of unsettled spools that were in force at a leaf.

    A row's length in force is below two to the power of its span, so of each span only the last
    rows before the leaf can be; a part for each lets both databases go by the index.
    """
    rows = _ROWS.format(index=indexed_by("feed_spool_in_force"))
    still = f"{rows} AND s.span IS NULL"
    if as_of.is_now:
        return still, [project_id]
    parts = [f"{still} AND s.leaf_index <= %s"]
    parameters: list[object] = [project_id, as_of.leaf]
    # Those of longer spans reach back to the first leaf, all alike.
    whole = min(SPANS, (as_of.leaf + 1).bit_length())
    spans = [[span] for span in range(1, whole)] + [list(range(whole, SPANS + 1))]
    for alike in spans:
        first = max(-1, as_of.leaf - (1 << alike[0]))
        parts.append(
            f"{rows} AND s.span IN ({', '.join(map(str, alike))}) AND s.leaf_index > %s "
            "AND s.leaf_index <= %s AND s.until_leaf > %s AND s.is_settled = %s"
        )
        parameters += [project_id, first, as_of.leaf, as_of.leaf, False]
    return " UNION ALL ".join(parts), parameters


def _spools(project_id: int, as_of: AsOf) -> Document:
    rows, at_leaf = in_force(project_id, as_of)
    silent_before, gap_before = as_of.at - SILENT_AFTER, as_of.at - GAP_AFTER
    statement = _SPOOLS.format(
        silent=_SILENT, tail=_TAIL, lost=_LOST, disputed=_DISPUTED, in_force=rows,
        gap=_GAP_NOW if as_of.is_now else _GAP_THEN, by_spool=indexed_by("feed_gap_of_spool"),
    )  # fmt: skip
    gap_leaf = [] if as_of.is_now else [as_of.leaf, as_of.leaf]
    parameters = [
        silent_before, gap_before, silent_before, gap_before,
        project_id, True, as_of.leaf, True, *gap_leaf, gap_before, *at_leaf,
    ]  # fmt: skip
    (found,) = bulk.select_rows(statement, parameters)
    count, *sums, unknown, open_until, ended_until = found
    silent, gaps, dropped, incomplete, disputed = (int(one or 0) for one in sums)
    # Where every spool has closed, all was complete until the last of them did.
    until = open_until if count else ended_until
    return {
        "complete_until": None if unknown or until is None else bulk.as_time(until),
        "silent": silent,
        "gaps": gaps,
        "dropped": dropped,
        "incomplete": incomplete,
        "disputed": disputed,
    }


def _silent(project_id: int, tokens: list[int], as_of: AsOf) -> dict[int, float]:
    """Give the usual interval in seconds of those that missed ten of it."""
    heard: dict[int, list[datetime]] = {}
    for start in range(0, len(tokens), _TOKENS_AT_ONCE):
        chunk = tokens[start : start + _TOKENS_AT_ONCE]
        parts = [
            "SELECT * FROM (SELECT token, received_at FROM entry"  # noqa: S608
            f"{indexed_by('entry_by_token')} "
            "WHERE project_id = %s AND token = %s AND leaf_index <= %s "
            f"ORDER BY leaf_index DESC LIMIT {INTERVALS}) AS part{at}"
            for at in range(len(chunk))
        ]
        names = [one for token in chunk for one in (project_id, token, as_of.leaf)]
        for token, at in bulk.select_rows(" UNION ALL ".join(parts), names):
            heard.setdefault(token, []).append(bulk.as_time(at))
    found = {token: silence(times, as_of.at) for token, times in heard.items()}
    return {token: one[0].total_seconds() for token, one in found.items() if one is not None}
