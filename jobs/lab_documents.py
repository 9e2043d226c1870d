"""The answers of the key lab and about keys as documents."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from access import store as access_store
from access.rows import Actor
from jobs.domain.recipes import Recipe
from jobs.projectors.keys import RELEASE
from jobs.queries import keys, lab
from kit import clock
from ledger import documents
from ledger.queries import lists
from ledger.queries.as_of import AsOf

Document = dict[str, Any]
LOST = "verdict:dedup.lost_reentry"


def simulation(
    project_id: int, recipe: Recipe | None, compare: Recipe | None, q: str, limit: int
) -> Document:
    """Try a recipe, and beside it another; without one, say what could be tried."""
    shapes = lab.load_shapes(project_id)
    offered = {"recorded": lab.recorded(shapes), "fields": lab.field_names(shapes), "q": q}
    if recipe is None:
        return offered
    query, cut = lists.parse_query(q), documents.find_cut(project_id, "")
    recipes = [recipe] if compare is None else [recipe, compare]
    found = lab.simulate(project_id, recipes, query, cut, limit)
    compared = found[1] if len(found) > 1 else None
    lost = _already_lost(project_id, q, cut)
    return {**found[0], "compare": compared, "already_lost": lost, **offered}


def _already_lost(project_id: int, q: str, cut: AsOf) -> Document:
    """Count the re-entries that were lost when it happened, whatever recipe is tried now."""
    query = f"{q} {LOST}".strip()
    count = lists.count_receipts(project_id, lists.parse_query(query), cut)
    return {"q": query, **asdict(count)}


def key_list(project_id: int, wanted: keys.Wanted) -> Document:
    """Give a page of keys."""
    return keys.list_keys(project_id, wanted, documents.find_cut(project_id, ""), clock.now())


def key(project_id: int, recipe: str, digest: str, cursor: str = "") -> Document:
    """Give one key: who holds it, who was turned away, and every claim in order."""
    cut = documents.find_cut(project_id, "")
    return keys.key_document(project_id, recipe, digest, cursor, cut, clock.now())


def note_release(project_id: int, recipe: str, digest: str, actor: Actor, reason: str) -> Document:
    """Put into the log that a person releases a key by hand; the ledger itself releases none."""
    holder = keys.get_key(project_id, recipe, digest)
    access_store.record_action(
        project_id=project_id,
        actor=actor,
        verb=RELEASE,
        # The outbox keeps 300 characters of a target, and the digest must be among them.
        target=f"key:{recipe[:200]}/{digest}",
        reason=reason,
        after={"holder": (holder["holder"] or {}).get("ref"), "fields": holder["fields"]},
    )
    return {"digest": digest, "recipe": recipe, "noted": True}
