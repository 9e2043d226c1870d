"""Why a receipt became what it became, as of a leaf and a clock."""

from __future__ import annotations

from typing import Any

from kit import bulk, ids
from ledger import statements
from ledger.domain import explain, imports, pointers, words
from ledger.domain.names import column
from ledger.domain.pointers import Finding
from ledger.domain.statement import Statement
from ledger.domain.verdicts import Verdict
from ledger.models import ReceiptBody
from ledger.projectors.book import Book
from ledger.queries import dependents, heads, judged_again, kin, lists, tokens, watched
from ledger.queries.as_of import AsOf, BadAsOf
from ledger.queries.receipts import Found
from ledger.registry import registry

Document = dict[str, Any]
# How many neighbours of the same scope or task are looked at on either side for near matches.
# The newest of a busy task would have nothing to do with an old skip.
NEIGHBOURS = 50
_SIDE = (
    "SELECT * FROM (SELECT leaf_index, kind, system, instance, recipe, key_digest FROM entry "
    "WHERE project_id = %s AND {name} = %s "
    "AND {name} <> '' AND leaf_index > %s AND leaf_index < %s ORDER BY leaf_index"
)
# Only a receipt of the same rule with another key is worth reading its body for.
_NEAR = (
    f"SELECT leaf_index FROM ({_SIDE} DESC LIMIT {NEIGHBOURS}) AS before_it "  # noqa: S608
    f"UNION ALL {_SIDE} LIMIT {NEIGHBOURS}) AS after_it) AS around WHERE kind <> 'skip' "
    "AND system = %s AND instance = %s AND recipe = %s AND key_digest NOT IN ('', %s)"
)


def explain_receipt(project_id: int, found: Found, as_of: AsOf) -> Document:
    """Give the explanation document of contract section 5.

    Raises BadAsOf when the receipt came after the cut that was asked for.
    """
    leaf = found.leaf_index
    if leaf is None or (as_of.is_now and leaf > as_of.leaf):
        return _not_derived(project_id, found, as_of)
    if leaf > as_of.leaf:
        raise BadAsOf(f"This receipt is №{leaf:,}, and came later than {as_of.label}.")
    book = Book(project_id, as_of.end)
    statement = book.get(leaf)
    finding = pointers.find_pointer(statement, book)
    original = terminal = None
    candidates: list[Statement] = []
    if finding is not None:
        original = None if finding.target_leaf is None else book.get(finding.target_leaf)
        terminal = None if finding.terminal_leaf is None else book.get(finding.terminal_leaf)
        candidates = [book.get(one) for one in finding.candidates]
    document = explain.explain(
        statement,
        finding,
        original,
        terminal,
        _near(project_id, statement, as_of),
        now=as_of.at,
        as_of=(as_of.leaf, as_of.at),
        candidates=candidates,
        feed=lists.feed_of(project_id, as_of),
        payload_erased=not ReceiptBody.objects.filter(pk=found.receipt.pk).exists(),
        judged=_judged(project_id, statement, finding, original, as_of),
        kin=kin.kin_of(project_id, statement, book, as_of.end),
    )
    document["contradictions"] = _contradictions(project_id, leaf, as_of)
    document["verdict"] |= _rules(project_id, statement, as_of)
    document["sections"] = _sections(project_id, statement, as_of)
    document["dependents"] = dependents.dependents_of(project_id, statement, as_of)
    _name_announcer(document["pointer"])
    document["cannot_know"] += _not_watched(project_id, statement, document["pointer"], as_of)
    return document


def _name_announcer(pointer: Document | None) -> None:
    """Put the name of the token that announced a policy in the place of its number."""
    policy = pointer and pointer["policy"]
    if policy:
        policy["token"] = tokens.names_of([policy["token"]]).get(policy["token"])


def _not_watched(
    project_id: int, statement: Statement, pointer: Document | None, as_of: AsOf
) -> list[str]:
    """Say of an original that is not here that it may be from before anything was watched."""
    if pointer is None or pointer["state"] not in ("pending", "dangling"):
        return []
    source = (statement.system, statement.instance)
    first = watched.since(project_id, as_of, {source})
    return [] if first is None else [imports.not_watched_before(statement.source, first)]


def _rules(project_id: int, statement: Statement, as_of: AsOf) -> Document:
    """Say by which rules it is judged, and what it was under earlier ones."""
    now = next(one.rules_version for one in registry.projectors if one.name == "receipts")
    was = judged_again.find_was(project_id, statement, as_of)
    return {"rules_version": str(now), "was": was}


def _judged(
    project_id: int,
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    as_of: AsOf,
) -> Verdict | None:
    """Ask the apps, which may know more than the pointer does."""
    found = original if finding is not None and finding.state in words.FOUND else None
    end = None if as_of.is_now else as_of.end
    answers = (one.explain(project_id, statement, found, end) for one in registry.judges)
    return next(filter(None, answers), None)


def _sections(project_id: int, statement: Statement, as_of: AsOf) -> list[Document]:
    """Collect what the apps add to an explanation."""
    end = None if as_of.is_now else as_of.end
    found = (source(project_id, statement, end) for source in registry.sections)
    return [one for one in found if one is not None]


def _contradictions(project_id: int, leaf: int, as_of: AsOf) -> list[Document]:
    """Collect what speaks against a receipt."""
    end = None if as_of.is_now else as_of.end
    found = (source(project_id, leaf, end, as_of.at) for source in registry.contradictions)
    return [one for listed in found for one in listed]


def _not_derived(project_id: int, found: Found, as_of: AsOf) -> Document:
    reach = heads.reach_of(project_id)
    ahead = reach.log_size if found.leaf_index is None else found.leaf_index + 1
    return explain.not_derived(
        ids.ref_of(found.receipt.pk),
        leaf_index=found.leaf_index,
        lag=max(1, ahead - reach.derived),
        as_of=(as_of.leaf, as_of.at),
    )


def _near(project_id: int, statement: Statement, as_of: AsOf) -> list[Document]:
    """Find receipts of the same scope or task whose key differs in some fields only."""
    if statement.kind != "skip" or not statement.key_fields:
        return []
    leaves: set[int] = set()
    rule = [column(one) for one in (statement.system, statement.instance, statement.recipe)]
    rule.append(statement.key_digest or "")
    for name, value in (("scope", statement.scope), ("task", statement.task)):
        if value:
            of_name = [project_id, column(value)]
            bounds = [-1, statement.leaf, statement.leaf, as_of.end]
            given = [*of_name, *bounds[:2], *of_name, *bounds[2:], *rule]
            rows = bulk.select_rows(_NEAR.format(name=name), given)
            leaves.update(leaf for (leaf,) in rows)
    candidates = statements.load_leaves(project_id, leaves)
    return explain.near_matches(statement, [one for _, one in sorted(candidates.items())])
