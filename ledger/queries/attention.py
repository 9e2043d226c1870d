"""What needs someone: the items of every app, without those that somebody has acknowledged."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from kit import bulk, ids
from kit.search import Query, Term, render
from ledger.domain import words
from ledger.domain.leaf import rfc3339
from ledger.models import Acknowledgement
from ledger.queries import census, feeds, heads, set_aside
from ledger.queries.as_of import LAST_LEAF, AsOf
from ledger.queries.where import where
from ledger.registry import AttentionItem, registry

Document = dict[str, Any]
LAG_WORTH_A_WORD_S = 5.0

_SENTENCES = {
    "missing-pointer": (
        "skip names neither an original nor a rule",
        "skips name neither an original nor a rule",
    ),
    "dangling": ("skip points to something that never came", "skips point to what never came"),
    "ambiguous": ("skip has several originals that fit", "skips have several originals that fit"),
    "cycle": ("skip leads back to itself", "skips lead back to themselves"),
    "wrong-kind": ("skip points to the wrong kind of receipt", "skips point to the wrong kind"),
}


def attention_document(project_id: int, now: datetime, *, acknowledged: bool = False) -> Document:
    """Give the items that need someone, or those that somebody acknowledged."""
    known = {row.item: row for row in Acknowledgement.objects.filter(project_id=project_id)}
    documents = []
    for source in registry.attention:
        for item in source(project_id, now):
            document = _document(item)
            word = known.get(document["id"])
            is_quiet = word is not None and _is_quiet(word, item, now)
            if is_quiet == acknowledged:
                documents.append({**document, "acknowledged": _word(word) if is_quiet else None})
    reach = heads.reach_of(project_id)
    return {
        "items": documents,
        "count": len(documents),
        "window": {"to": reach.derived_at, "complete": reach.lag == 0, "lag": reach.lag},
        "as_of": now,
    }


def find_item(project_id: int, item_id: str, now: datetime) -> Document | None:
    """Find an item that needs someone now by its id."""
    for source in registry.attention:
        for item in source(project_id, now):
            document = _document(item)
            if document["id"] == item_id:
                return document
    return None


def pointer_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each unresolved state that any pointer is in."""
    as_of = AsOf(LAST_LEAF, now, is_now=True)
    states = sorted(words.UNRESOLVED)
    queries = {state: Query((Term("pointer", (state,)),)) for state in states}
    wanted = {state: where(project_id, query, as_of) for state, query in queries.items()}
    for state, found in census.take(project_id, wanted).items():
        one, many = _SENTENCES[state]
        sentence = f"A {one}." if found.count == 1 else f"{found.number} {many}."
        yield AttentionItem(
            code=f"pointer.{state}",
            subject="",
            sentence=sentence,
            since=found.since,
            severity="bad",
            facts=f"{state}:{found.newest}:{found.count}",
            next_label="list them",
            next_path=f"receipts?q=pointer:{state}",
            small=words.POINTER_WORDS.get(state, ""),
        )


def set_aside_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give one item while anything waits set aside."""
    waiting = set_aside.waiting_set_aside(project_id)
    if not waiting.count:
        return
    one = "A receipt was set aside" if waiting.count == 1 else f"{waiting.count:,} are set aside"
    yield AttentionItem(
        code="quarantine",
        subject="",
        sentence=f"{one}: stored as sent, and not readable as a receipt.",
        since=waiting.oldest_at,
        severity="gap",
        facts=f"{waiting.newest_leaf}:{waiting.count}",
        next_label="read them",
        next_path="quarantine?open=1",
    )


def lag_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give one item while the lists are behind the log for longer than a moment."""
    reach = heads.reach_of(project_id)
    if not reach.lag:
        return
    first_missing = heads.head_of(project_id, reach.derived)
    if first_missing is None or (now - first_missing).total_seconds() < LAG_WORTH_A_WORD_S:
        return
    yield AttentionItem(
        code="lag",
        subject="",
        sentence=f"The lists are {reach.lag:,} receipts behind the log.",
        since=first_missing,
        severity="gap",
        facts="lag",
        next_label="see how far",
        next_path="receipts",
        small="nothing is lost; pages show less than is stored",
    )


def silent_token_items(project_id: int, now: datetime) -> Iterator[AttentionItem]:
    """Give an item for each token without numbers that missed ten of its usual intervals.

    The usual interval is the median of its last hundred receipts (contract, section 3).
    """
    for token in feeds.quiet_tokens(project_id, feeds.now_of(now)):
        if token.usual_s is None or token.last_at is None:
            continue
        yield AttentionItem(
            code="token.silent",
            subject=token.name,
            sentence="A producer is silent.",
            since=token.last_at,
            severity="skip",
            facts=token.last_at.isoformat(),
            next_label="its receipts",
            next_path=f"receipts?q=producer:{_quoted(token.name)}",
            small=f"usually heard every {_span(token.usual_s)}; "
            "lists after that may not be complete",
        )


def _document(item: AttentionItem) -> Document:
    return {
        "id": ids.public_id("a", item.code, item.subject),
        "code": item.code,
        "subject": item.subject or None,
        "sentence": item.sentence,
        "is_named": item.is_named,
        "small": item.small,
        "since": item.since,
        "severity": item.severity,
        "facts": item.facts,
        "next": {"label": item.next_label, "path": item.next_path},
    }


def _is_quiet(word: Acknowledgement, item: AttentionItem, now: datetime) -> bool:
    is_over = word.until is not None and word.until <= now
    return word.facts == item.facts[:64] and not is_over


def _word(word: Acknowledgement | None) -> Document | None:
    if word is None:
        return None
    return {"reason": word.reason, "actor": word.actor, "at": word.at, "until": word.until}


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '\\"') + '"'


def _span(usual_s: float) -> str:
    seconds = int(usual_s)
    if seconds < 120:
        return f"{seconds} s"
    return f"{seconds // 60} min" if seconds < 7_200 else f"{seconds // 3_600} h"


def pointer_counts(project_id: int, after: datetime, now: datetime) -> list[Document]:
    """Count the pointers of a day by what they read as now, the most frequent first."""
    rows = bulk.select_rows(
        "SELECT CASE WHEN pointer_state = 'waiting' AND due_at > %s THEN 'pending' "
        "WHEN pointer_state = 'waiting' THEN 'dangling' ELSE pointer_state END, count(*) "
        "FROM entry WHERE project_id = %s AND happened_at >= %s AND pointer_state <> '' "
        "GROUP BY 1 ORDER BY 2 DESC, 1",
        [now, project_id, after],
    )
    return [
        {
            "pointer": state,
            "count": count,
            "tone": words.POINTER_TONES.get(state, "done"),
            "q": render([Term("pointer", (state,)), Term("after", (rfc3339(after),))]),
        }
        for state, count in rows
    ]
