"""Answers to resumes beside what was safe: which differ, and what a client missed.

Source: reference/events-and-loops.md section 4, last row of the table of detectors. A served answer
that the rule refuses is a silent skip, one where the rule is in doubt an ambiguous resume, and a
refusal that the rule serves a needless resync. Nothing else differs: cursor 0 is no resume.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from events.domain.resume import AMBIGUOUS, FRESH, REFUSE, SERVE, Answer, Lane, answer
from events.domain.whole_numbers import int64_of

SILENT_SKIP, AMBIGUOUS_RESUME = "SILENT_SKIP", "AMBIGUOUS_RESUME"
NEEDLESS_RESYNC = "NEEDLESS_RESYNC"

_DIFFERENCES = {
    (SERVE, REFUSE): SILENT_SKIP,
    (SERVE, AMBIGUOUS): AMBIGUOUS_RESUME,
    (REFUSE, SERVE): NEEDLESS_RESYNC,
}
_WORDS = {
    **dict.fromkeys(("serve", "served", "replay", "replayed", "recovered"), SERVE),
    **dict.fromkeys(("caught_up", "caught up", "current"), SERVE),
    **dict.fromkeys(("refuse", "refused", "sync_required", "gap", "resync"), REFUSE),
    **dict.fromkeys(("insufficient_state", "unrecoverable_position"), REFUSE),
    FRESH: FRESH,
}


@dataclass(frozen=True, slots=True)
class Judged:
    """A given answer beside the safe one: the code where they differ, and the ids missed.

    `given` is None when its word tells nothing; then nothing is judged.
    """

    given: str | None
    safe: Answer
    code: str | None
    missed: tuple[int, ...] = ()


def given_answer(word: object) -> str | None:
    """Read how a producer words its answer as serve, refuse or fresh, or as None.

    `replayed 3` and other words with a count after them are read by the first word.
    """
    if not isinstance(word, str):
        return None
    text = word.strip().lower().replace("-", "_")
    return _WORDS.get(text) or _WORDS.get(text.split(" ", 1)[0])


def difference(given: str | None, safe: Answer) -> str | None:
    """Give the code of a given answer that differs from the safe one, or None."""
    return None if given is None else _DIFFERENCES.get((given, safe.answer))


def judge_given(
    lane: Lane,
    cursor: object,
    epoch: str | None,
    given_word: object,
    served: object = None,
    first: object = None,
    last: object = None,
    ids_of_union: Iterable[int] = (),
) -> Judged:
    """Judge an answer that was really given, by the lane as it was then.

    `ids_of_union` are the ids of the lane's ID space in its channel that any replica had received
    by then. What was sent is told by its first and last id, or, where these are unknown, taken to
    be the newest `served` of them, since a ring keeps the newest.
    """
    given = given_answer(given_word)
    safe = answer(lane, cursor, epoch)
    code = difference(given, safe)
    if given != SERVE or code is None:
        return Judged(given, safe, code)
    due = _due(safe, cursor, ids_of_union)
    sent = _sent(due, served, int64_of(first), int64_of(last))
    return Judged(given, safe, code, tuple(one for one in due if one not in sent))


def _due(safe: Answer, cursor: object, union: Iterable[int]) -> list[int]:
    """Give what a client at the cursor had not seen; all of it when its place is elsewhere."""
    number = int64_of(cursor)
    above = -1 if number is None or safe.names_no_place_here else number
    return sorted({one for one in union if one > above})


def _sent(due: list[int], served: object, first: int | None, last: int | None) -> set[int]:
    if first is not None and last is not None:
        return {one for one in due if first <= one <= last}
    count = int64_of(served) or 0
    return set(due[-count:]) if count > 0 else set()
