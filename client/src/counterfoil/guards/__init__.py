"""Guards: who may do the work of a key. The caller's own, or one of the three shipped here."""

from __future__ import annotations

from counterfoil.guards.answers import MINE, Answer, Guard, GuardLike, answer_of, as_guard, held
from counterfoil.guards.file import FileGuard
from counterfoil.guards.redis import RedisGuard
from counterfoil.guards.row import RowGuard

__all__ = [
    "MINE",
    "Answer",
    "FileGuard",
    "Guard",
    "GuardLike",
    "RedisGuard",
    "RowGuard",
    "answer_of",
    "as_guard",
    "held",
]
