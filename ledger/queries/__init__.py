"""Every SELECT that pages, the API and live views make; typed rows and plain documents out."""

from __future__ import annotations

from ledger.queries.as_of import AsOf, find_as_of
from ledger.queries.heads import derived_heads, newest_head_at

__all__ = ["AsOf", "derived_heads", "find_as_of", "newest_head_at"]
