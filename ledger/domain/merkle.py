"""The Merkle tree of RFC 6962 section 2.1 (RFC 9162 section 2.1.1), by its right edge."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce

HASH_SIZE = 32
EMPTY_ROOT = hashlib.sha256(b"").digest()


class BrokenEdge(ValueError):
    """The stored right edge does not fit the size of its tree."""


def leaf_hash(record: bytes) -> bytes:
    """Return SHA-256(0x00 || record), 32 bytes."""
    return hashlib.sha256(b"\x00" + record).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """Return SHA-256(0x01 || left || right), 32 bytes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Edge:
    """The right edge of a tree of `size` leaves: the roots of its full subtrees, widest first.

    There is one hash for each bit that is set in `size`, so a tree of any size is carried on
    with at most 64 hashes and without reading a leaf again.
    """

    size: int = 0
    hashes: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        if self.size < 0 or len(self.hashes) != self.size.bit_count():
            raise BrokenEdge(f"{len(self.hashes)} hashes do not make an edge of {self.size}")

    def append(self, leaf: bytes) -> Edge:
        """Return the edge with one more leaf hash."""
        return self.extend((leaf,))

    def extend(self, leaves: Iterable[bytes]) -> Edge:
        """Return the edge with more leaf hashes, in order."""
        sha256 = hashlib.sha256
        size, stack = self.size, list(self.hashes)
        for node in leaves:
            full = size
            while full & 1:
                node = sha256(b"\x01" + stack.pop() + node).digest()
                full >>= 1
            stack.append(node)
            size += 1
        return Edge(size, tuple(stack))

    def root(self) -> bytes:
        """Return the root of the tree, 32 bytes; of no leaves, the hash of nothing."""
        if not self.hashes:
            return EMPTY_ROOT
        return reduce(lambda right, left: node_hash(left, right), reversed(self.hashes))

    def pack(self) -> bytes:
        """Return the hashes joined, widest first, as a tree head keeps them."""
        return b"".join(self.hashes)

    @classmethod
    def unpack(cls, size: int, data: bytes) -> Edge:
        """Return the edge that `pack` wrote for a tree of `size`; raises BrokenEdge."""
        if len(data) % HASH_SIZE:
            raise BrokenEdge(f"{len(data)} bytes are not a whole number of hashes")
        starts = range(0, len(data), HASH_SIZE)
        return cls(size, tuple(bytes(data[at : at + HASH_SIZE]) for at in starts))
