"""The tree's right edge against the public constants and against a naive tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ledger.domain import merkle
from ledger.domain.merkle import Edge, leaf_hash, node_hash

# A busy machine is no failure.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "data" / "merkle_vectors.json").read_text("utf-8")
)
ENTRIES = [bytes.fromhex(entry) for entry in VECTORS["entries_hex"]]
DECIMAL = [leaf_hash(str(number).encode()) for number in range(1000)]
hashes = st.lists(st.binary(min_size=32, max_size=32), max_size=70)


def naive_root(leaves: list[bytes]) -> bytes:
    """RFC 6962 section 2.1 word by word: split at the largest power of two below the size."""
    if not leaves:
        return merkle.EMPTY_ROOT
    if len(leaves) == 1:
        return leaves[0]
    split = 1 << (len(leaves) - 1).bit_length() - 1
    return node_hash(naive_root(leaves[:split]), naive_root(leaves[split:]))


def test_the_root_of_no_leaves_is_the_hash_of_nothing() -> None:
    assert Edge().root().hex() == VECTORS["empty_root"]


@pytest.mark.parametrize("index", [0, 5])
def test_a_leaf_hash_is_the_public_one(index: int) -> None:
    assert leaf_hash(ENTRIES[index]).hex() == VECTORS[f"leaf_hash_{index}"]


@pytest.mark.parametrize("size", [int(size) for size in VECTORS["roots_by_size"]])
def test_the_root_of_the_first_entries_is_the_public_one(size: int) -> None:
    edge = Edge().extend([leaf_hash(entry) for entry in ENTRIES[:size]])

    assert edge.root().hex() == VECTORS["roots_by_size"][str(size)]


@pytest.mark.parametrize("size", [256, 1000])
def test_the_root_of_the_decimal_tree_is_the_public_one(size: int) -> None:
    edge = Edge().extend(DECIMAL[:size])

    assert edge.root().hex() == VECTORS["decimal_tree"][f"root_{size}"]


@patient
@given(hashes)
def test_the_root_is_that_of_the_naive_tree(leaves: list[bytes]) -> None:
    assert Edge().extend(leaves).root() == naive_root(leaves)


@patient
@given(hashes, st.data())
def test_batches_of_any_size_give_the_same_edge(leaves: list[bytes], data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, len(leaves)))

    edge = Edge().extend(leaves[:cut])
    for leaf in leaves[cut:]:
        edge = edge.append(leaf)

    assert edge == Edge().extend(leaves)


@patient
@given(hashes)
def test_an_edge_is_stored_and_read_back(leaves: list[bytes]) -> None:
    edge = Edge().extend(leaves)

    assert Edge.unpack(edge.size, edge.pack()) == edge


def test_an_edge_is_stored_widest_first() -> None:
    edge = Edge().extend(DECIMAL[:6])

    assert edge.pack() == naive_root(DECIMAL[:4]) + naive_root(DECIMAL[4:6])


def test_an_edge_is_not_changed_by_what_follows() -> None:
    edge = Edge().extend(DECIMAL[:3])

    edge.append(DECIMAL[3])

    assert edge.root() == naive_root(DECIMAL[:3])


@pytest.mark.parametrize(
    ("size", "data"), [(1, b""), (0, bytes(32)), (3, bytes(32)), (1, bytes(31)), (-1, bytes(32))]
)
def test_a_stored_edge_that_does_not_fit_its_size_is_refused(size: int, data: bytes) -> None:
    with pytest.raises(merkle.BrokenEdge):
        Edge.unpack(size, data)
