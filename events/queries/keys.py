"""Keys of a bus in Redis as they were sampled: what stands, what changed, who listens.

Source: reference/pad.md section 7, key health.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from events.domain.times import moment
from events.queries import rows
from events.queries.rows import Document
from ledger.queries.as_of import AsOf

MOST = 500
ORIGIN = "keys"
COLUMNS = (
    "bus_name, name, leaf_index, until_leaf, role, type, value_class, ttl_s, value, sampled_at, "
    "seen_at"
)


def key_health(project_id: int, installation: str, cut: AsOf) -> Document:
    """Give the samples of each bus, the keys that stand, and how they were before."""
    where = (
        "FROM bus_key WHERE project_id = %s AND installation_id = %s AND leaf_index <= %s "
        "ORDER BY bus_name, name, leaf_index DESC LIMIT %s"
    )
    found = rows.select(COLUMNS, where, [project_id, installation, cut.leaf, MOST])
    stands = [one for one in found if _is_in_force(one, cut)]
    return {
        "samples": _samples(project_id, installation),
        "keys": [_key(one) for one in stands],
        "earlier": [_key(one) for one in found if not _is_in_force(one, cut)],
    }


def _is_in_force(row: Document, cut: AsOf) -> bool:
    return row["until_leaf"] is None or row["until_leaf"] > cut.leaf


def _samples(project_id: int, installation: str) -> Sequence[Document]:
    columns = "bus_name, policy, channels, sampled_at, leaf_index"
    where = "FROM bus_sample WHERE project_id = %s AND installation_id = %s ORDER BY bus_name"
    found = rows.select(columns, where, [project_id, installation])
    refs = rows.refs_of(project_id, [one["leaf_index"] for one in found])
    return [
        {
            "bus": one["bus_name"],
            "policy": one["policy"] or None,
            "channels": [
                {"channel": channel, "subscribers": count}
                for channel, count in json.loads(one["channels"] or "[]")
            ],
            "sampled_at": moment(one["sampled_at"]),
            "ref": refs.get(one["leaf_index"]),
        }
        for one in found
    ]


def _key(row: Document) -> Document:
    return {
        "bus": row["bus_name"],
        "name": row["name"],
        "role": row["role"] or None,
        "type": row["type"] or None,
        "value_class": row["value_class"] or None,
        "ttl_s": row["ttl_s"],
        "value": row["value"],
        "since": moment(row["sampled_at"]),
        "seen_at": moment(row["seen_at"]),
        "leaf_index": str(row["leaf_index"]),
    }
