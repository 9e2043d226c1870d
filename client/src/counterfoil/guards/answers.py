"""What a guard is and how its answers are read.

A guard answers `claim(key, token)` with *mine*, or names the token that holds the key and says
whether its work is finished. `finish` and `release` act only while the token still holds the key.
A claim repeated with the same token is answered *mine* again, so asking twice does no harm.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Protocol, Union, runtime_checkable


@dataclass(frozen=True)
class Answer:
    """What a guard says to a claim.

    `holder` is None when the guard cannot name it. `took_over` names a holder whose time had run
    out and whose claim this one replaces.
    """

    mine: bool
    holder: str | None = None
    finished: bool = False
    took_over: str | None = None


MINE = Answer(mine=True)


def held(holder: str | None = None, *, finished: bool = False) -> Answer:
    """Answer that another has the key."""
    return Answer(mine=False, holder=holder, finished=finished)


@runtime_checkable
class Guard(Protocol):
    """Decides which of several claims of one key is the one that works."""

    def claim(self, key: str, token: str) -> Any:
        """Give an Answer (or what `answer_of` reads as one)."""

    def finish(self, key: str, token: str) -> Any:
        """Note that the holder's work is done."""

    def release(self, key: str, token: str) -> Any:
        """Let go of the key without the work being done."""


GuardLike = Union[Guard, Callable[[str, str], Any]]


def answer_of(said: Any) -> Answer:
    """Read a guard's answer.

    True is mine; False or None is held by somebody without a name; a text is the holder's name; a
    pair is the holder's name and whether it finished.
    """
    if isinstance(said, Answer):
        return said
    if said is True:
        return MINE
    if said is None or said is False:
        return held()
    if isinstance(said, str):
        return held(said)
    holder, finished = said
    return held(holder, finished=bool(finished))


class _Asking:
    """Wraps a guard, or a plain function that claims, so that its answers are read."""

    def __init__(self, guard: GuardLike) -> None:
        self._guard = guard

    def claim(self, key: str, token: str) -> Answer:
        ask = self._guard.claim if isinstance(self._guard, Guard) else self._guard
        return answer_of(ask(key, token))

    def finish(self, key: str, token: str) -> None:
        if isinstance(self._guard, Guard):
            self._guard.finish(key, token)

    def release(self, key: str, token: str) -> None:
        if isinstance(self._guard, Guard):
            self._guard.release(key, token)


def as_guard(guard: GuardLike) -> Guard:
    """Give a guard whose `claim` gives an Answer."""
    return _Asking(guard)
