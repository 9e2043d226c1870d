"""In which ways the ledger learns of a task, and what it cannot see of it.

A source announces the ways by an `observe` receipt of `what: "tasks"`; beside that each receipt
shows one by its `source.via`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ledger.domain import plain
from ledger.domain.statement import Statement

OWN_CALLS = "own calls"
BY_VIA: dict[str, str] = {
    "client": OWN_CALLS,
    "signal": "signals",
    "row": "rows",
    "telemetry": "telemetry",
    "log": "log lines",
    "import": "imports",
}
WAY_WORDS: dict[str, str] = {
    "once": "the locks of celery-once",
    "singleton": "the locks of celery-singleton",
    OWN_CALLS: "its own calls",
}
SKIPPING = frozenset({"once", "singleton"})
"""The announced ways that tell of skips; signals tell of none but what expired or was ignored."""
LONGEST = 40


def way_of(statement: Statement) -> str:
    """Return the way in which a receipt came."""
    return BY_VIA.get(statement.via, statement.via[:LONGEST])


def announced(statement: Statement) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give each task that a source says something of, with the ways in which it is seen."""
    if statement.what != "tasks" or not statement.is_readable:
        return
    for each in plain.list_of(statement.body.get("tasks")):
        one = plain.object_of(each)
        task = plain.name_of(one.get("task"))
        if task:
            names = (plain.name_of(way)[:LONGEST] for way in plain.list_of(one.get("sees"))[:16])
            yield task, tuple(sorted({name for name in names if name}))


def sees(told: Iterable[str], seen: Iterable[str], skips: Iterable[str]) -> str:
    """Say what the ledger can see of a task, and whether skips are among it."""
    ways = sorted({*told, *seen})
    if not ways:
        return "Nothing tells in which ways receipts of it come."
    words = [WAY_WORDS.get(way, way) for way in ways]
    return f"Seen by {_listed(words)}. {_of_skips(set(told), set(skips))}"


def skips_by(told: Iterable[str], skips: Iterable[str]) -> list[str]:
    """Return the ways that tell of skips of a task, none where nothing does."""
    return sorted((set(told) & SKIPPING) | set(skips))


def _of_skips(told: set[str], skips: set[str]) -> str:
    by = skips_by(told, skips)
    if by:
        return f"Skips are told by {_listed([WAY_WORDS.get(way, way) for way in by])}."
    return "Nothing is seen of skips: none on record does not mean that there are none."


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"
