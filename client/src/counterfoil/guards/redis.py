"""A guard in Redis: SET NX with a time limit, one key a piece of work."""

from __future__ import annotations

from typing import Any

from counterfoil.guards.answers import MINE, Answer, held

_SWAP = """
if redis.call('GET', KEYS[1]) == ARGV[1] then
  return redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) and 1
end
return 0
"""
_DROP = """
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0
"""


class RedisGuard:
    """Holds a key for at most `run_for_s` while its work runs and `done_for_s` after it is done.

    Takes any client with redis-py's `set`, `get` and `eval`. A holder that has not finished within
    `run_for_s` is taken for dead and the work may run again, so the limit must be longer than the
    longest run; the end of `done_for_s` lets the work run again too.
    """

    def __init__(
        self,
        client: Any,
        *,
        run_for_s: float = 3600.0,
        done_for_s: float = 7 * 86400.0,
        prefix: str = "counterfoil:once:",
    ) -> None:
        self._client, self._prefix = client, prefix
        self._run_for_ms, self._done_for_ms = int(run_for_s * 1000), int(done_for_s * 1000)

    def claim(self, key: str, token: str) -> Answer:
        """Set the key if nobody has it, else say who has."""
        name = self._prefix + key
        for _ in range(16):
            if self._client.set(name, f"run:{token}", nx=True, px=self._run_for_ms):
                return MINE
            value = self._client.get(name)
            # None: the holder's time ran out between the two commands, so it is free again.
            if value is not None:
                return _read(value, token)
        return held()

    def finish(self, key: str, token: str) -> bool:
        """Mark the key as done if the token still holds it."""
        arguments = (f"run:{token}", f"done:{token}", self._done_for_ms)
        return bool(self._client.eval(_SWAP, 1, self._prefix + key, *arguments))

    def release(self, key: str, token: str) -> bool:
        """Delete the key if the token still holds it."""
        return bool(self._client.eval(_DROP, 1, self._prefix + key, f"run:{token}"))


def _read(value: bytes | str, token: str) -> Answer:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    state, _, holder = text.partition(":")
    if state not in ("run", "done"):
        return held()
    if holder == token and state == "run":
        return MINE
    return held(holder, finished=state == "done")
