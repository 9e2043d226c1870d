"""What a Redis's access list must hold for a tail, and the line that grants what is missing.

A pattern subscription needs its own pattern in the list, letter for letter: with `&pad:*` alone,
`PSUBSCRIBE pad:events:*` is refused. Source: design.md section 6.
"""

from __future__ import annotations

from collections.abc import Sequence

from events.integrations.redis_address import Address
from events.integrations.redis_link import ALLOWED, NotPermitted, name_of

USER = "counterfoil"
_ALWAYS = frozenset({"AUTH", "SELECT"})
_OF_KEYS = frozenset({"GET", "TYPE", "TTL", "PTTL", "XINFO STREAM", "XRANGE"})
_OF_CHANNELS = frozenset({"SUBSCRIBE", "PSUBSCRIBE"})


def line_of(channels: Sequence[str], keys: Sequence[str], user: str = USER) -> str:
    """Give the line that makes a user who may do all that a tail does, and nothing else."""
    parts = ["resetchannels", *(f"&{one}" for one in channels)]
    parts += ["resetkeys", *(f"%R~{one}" for one in keys), "-@all"]
    parts += [f"+{_rule(name)}" for name in sorted(ALLOWED - _ALWAYS)]
    return f"ACL SETUSER {user} on >PASSWORD {' '.join(parts)}"


def advised(error: NotPermitted, address: Address, words: Sequence[str]) -> NotPermitted:
    """Say beside a refusal which line would lift it."""
    name = name_of(words)
    rules = [_rule(name)]
    if _is_of_command(error):
        rules = [f"+{rules[0]}"]
    elif name in _OF_CHANNELS:
        rules = [f"&{channel}" for channel in words[1:]]
    elif name in _OF_KEYS:
        rules = [f"%R~{words[2] if name.startswith('XINFO') else words[1]}"]
    line = f"ACL SETUSER {address.user or 'default'} {' '.join(rules)}"
    return NotPermitted(f"{str(error).rstrip('.')}. This permits it: {line}")


def _is_of_command(error: NotPermitted) -> bool:
    # Redis 7: "User x has no permissions to run the 'psubscribe' command"; 6 has "this user".
    return "to run the" in str(error)


def _rule(name: str) -> str:
    return name.lower().replace(" ", "|")
