"""The names of tokens, for what tells by which one a receipt was handed in."""

from __future__ import annotations

from collections.abc import Iterable

from kit import bulk

_NAMES = "SELECT id, name FROM access_apitoken WHERE id IN ({values})"


def names_of(tokens: Iterable[int | None]) -> dict[int | None, str]:
    """Give the names of tokens; what was not handed in by one is left out."""
    wanted = sorted({one for one in tokens if one is not None})
    return dict(bulk.select_in(_NAMES, [], wanted))
