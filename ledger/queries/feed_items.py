"""What needs someone about feeds: producers that fell silent, gaps, and losses that they report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from kit import ids
from ledger.domain.feed_lines import producer_of
from ledger.domain.feed_states import Standing, standings
from ledger.domain.feeds import Spool
from ledger.queries.producers import open_spools
from ledger.registry import AttentionItem

NAMED = 3
LONGEST = 60
"""Characters of a producer's name that an item shows; its page has the whole."""

_SENTENCES = {
    "silent": (
        "A producer is silent.", "{:,} spools of producers are silent.", "bad",
        "silence is not health, and lists after that may not be complete",
    ),
    "gap": (
        "Receipts of one spool did not come.", "Receipts of {:,} spools did not come.", "gap",
        "later ones came, so lists are not complete",
    ),
    "dropped": (
        "A producer lost receipts.", "{:,} spools lost receipts.", "bad",
        "they say so themselves, so lists are not complete",
    ),
    "disputed": (
        "A spool is spoken for by another.", "{:,} spools are spoken for by others.", "bad",
        "which of their numbers came is not sure, so lists are not complete",
    ),
}  # fmt: skip
Told = tuple[Spool, Standing]


def feed_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each state in which spools are not complete; it names the first of them."""
    told = [(spool, one) for spool, _ in open_spools(project_id) for one in standings(spool, now)]
    for state, words in _SENTENCES.items():
        found = sorted((one for one in told if one[1].state == state), key=_oldest)
        if found:
            yield _item(state, words, found)


def _item(state: str, words: tuple[str, str, str, str], found: Sequence[Told]) -> AttentionItem:
    one, many, severity, meaning = words
    spools = {spool.name for spool, _ in found}
    producers = list(dict.fromkeys(producer_of(spool.name) for spool, _ in found))
    named = [name if len(name) <= LONGEST else f"{name[:LONGEST]}…" for name in producers[:NAMED]]
    more = f" and {len(producers) - NAMED:,} more" if len(producers) > NAMED else ""
    return AttentionItem(
        code=f"feed.{state}",
        subject="",
        sentence=one if len(spools) == 1 else many.format(len(spools)),
        since=found[0][1].since,
        severity=severity,
        facts=ids.public_id("f", *sorted(_facts(one) for one in found)),
        next_label="see which",
        next_path="producers?incomplete=1",
        small=f"{', '.join(named)}{more}; {meaning}",
    )


def _oldest(told: Told) -> tuple[Any, ...]:
    spool, one = told
    return one.since or spool.first_at, spool.name


def _facts(told: Told) -> str:
    spool, one = told
    return f"{spool.name}|{one.rule}|{one.since}|{one.count}"
