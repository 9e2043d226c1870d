"""What became of one business object."""

from __future__ import annotations

from typing import Any

from kit import bulk
from ledger import statements
from ledger.domain import subjects as domain
from ledger.domain.names import column
from ledger.queries import chosen, feeds, lists, object_work, watched
from ledger.queries.as_of import AsOf

Document = dict[str, Any]
MOST = 5_000


def subject_document(project_id: int, kind: str, name: str, as_of: AsOf) -> Document:
    """Give all receipts of an object, oldest first, and what became of it."""
    leaves = [
        leaf
        for (leaf,) in bulk.select_rows(
            "SELECT leaf_index FROM entry_subject WHERE project_id = %s AND type = %s "
            "AND subject = %s AND leaf_index <= %s ORDER BY leaf_index LIMIT %s",
            [project_id, kind, column(name), as_of.leaf, MOST + 1],
        )
    ]
    shown = leaves[:MOST]
    known = statements.load_leaves(project_id, shown)
    feed = lists.feed_of(project_id, as_of)
    more = object_work.ends_of(project_id, {name: list(known.values())}, as_of).get(name, [])
    became = domain.became([*known.values(), *(one.statement for one in more)])
    found = chosen.items_of(project_id, shown, as_of)
    order = {leaf: (one.happened_at, leaf) for leaf, one in known.items()}
    found.sort(key=lambda item: order[int(item["leaf_index"])])
    return {
        "type": kind,
        "id": name,
        "became": became.answer,
        "rule": became.rule,
        "rule_words": domain.rule_words(became.rule),
        "by": became.ref,
        "watched_since": watched.since(
            project_id, as_of, {(one.system, one.instance) for one in known.values()}
        ),
        "cut": len(leaves) > MOST,
        "complete": len(leaves) <= MOST and feeds.is_whole(feed),
        "items": found,
        "feed": feed,
    }
