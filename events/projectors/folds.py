"""Detectors between batches: their state as JSON in a table, and the folds themselves in memory.

Reading a state back takes as long as folding a thousand messages, so the fold of the last batch is
taken up again where the stored state is, letter for letter, the one that it left.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol, TypeVar

KEPT = 32
"""The folds that are kept in memory, the last ones left."""


class Fold(Protocol):
    """What goes on from its own state."""

    def state(self) -> dict[str, Any]:
        """Give its state as JSON."""
        ...


F = TypeVar("F", bound=Fold)
_kept: dict[tuple[str, bytes], Any] = {}
# Two derivers of one process may plan the same batch at once.
_lock = threading.Lock()


def take_up(name: str, text: str | None, begin: Callable[[Mapping[str, Any] | None], F]) -> F:
    """Give the fold that left a state under this name, or one that begins from the state.

    Nobody else gets the same one: a batch that comes to nothing must not have moved it.
    """
    if text is None:
        return begin(None)
    with _lock:
        kept: F | None = _kept.pop((name, _digest(text)), None)
    return begin(json.loads(text)) if kept is None else kept


def leave(name: str, fold: Fold) -> str:
    """Keep a fold for the next batch under a name, and give the text of its state."""
    # Members are not sorted: a fold may go through what it read in its order.
    text = json.dumps(fold.state(), separators=(",", ":"))
    with _lock:
        _kept[name, _digest(text)] = fold
        while len(_kept) > KEPT:
            del _kept[next(iter(_kept))]
    return text


def forget() -> None:
    """Let go of all folds, as a new process would."""
    with _lock:
        _kept.clear()


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("ascii")).digest()
