"""Counterfoil's client: receipts for what was done and what was skipped.

    import counterfoil

    counterfoil.configure(url="https://ledger.example", token_file="/run/secrets/counterfoil")
    counterfoil.receipt("done", task="mail.send", job="101")

Receipts go to a spool on disk and are delivered from there, at least once, by a thread or by
`counterfoil forward`. No task waits for the server, and none fails because of it.
"""

from __future__ import annotations

import threading
from typing import Any, Callable

from counterfoil import context, ids
from counterfoil.claims import Claim, NotAsked, Once, Result, Skipped
from counterfoil.client import Client
from counterfoil.errors import (
    CounterfoilError,
    SettingsError,
    SpoolError,
    SpoolFull,
    SpoolUnusable,
    Unreachable,
)
from counterfoil.feed import VERSION
from counterfoil.guards import MINE, Answer, FileGuard, Guard, GuardLike, RedisGuard, RowGuard, held
from counterfoil.receipts import KeyForm
from counterfoil.settings import Settings, from_env

__version__ = VERSION

__all__ = [
    "MINE",
    "Answer",
    "Claim",
    "Client",
    "CounterfoilError",
    "FileGuard",
    "Guard",
    "NotAsked",
    "Once",
    "RedisGuard",
    "Result",
    "RowGuard",
    "Settings",
    "SettingsError",
    "Skipped",
    "SpoolError",
    "SpoolFull",
    "SpoolUnusable",
    "Unreachable",
    "act",
    "beat",
    "close",
    "configure",
    "context",
    "digest",
    "flush",
    "get_client",
    "held",
    "ids",
    "ignored",
    "once",
    "receipt",
    "skip",
]

_default: Client | None = None
_lock = threading.Lock()


def configure(**settings: Any) -> Client:
    """Set up the client of this process; what is not given is read from COUNTERFOIL_… variables.

    Takes the fields of `Settings`: url, token, token_file, spool, name, source, max_bytes,
    when_full, send, off, digest_key, policy. Without a call the first receipt does it.
    """
    global _default
    made = Client(from_env(**settings))
    with _lock:
        before, _default = _default, made
    if before is not None:
        before.close()
    return made


def get_client() -> Client:
    """Give the client of this process."""
    return _default or configure()


def receipt(kind: str, *, durable: bool = False, **fields: Any) -> str:
    """Write a receipt and give its id; see `Client.receipt`."""
    return get_client().receipt(kind, durable=durable, **fields)


def skip(**fields: Any) -> str:
    """Write durably that something was not done, and give the receipt's id; see `Client.skip`."""
    return get_client().skip(**fields)


def act(verb: str, target: str, *, by: Any, why: str, **fields: Any) -> str:
    """Write durably who did what to what, and why; see `Client.act`."""
    return get_client().act(verb, target, by=by, why=why, **fields)


def beat(loop: str, **fields: Any) -> str:
    """Write a heartbeat of a loop; see `Client.beat`."""
    return get_client().beat(loop, **fields)


def once(key: KeyForm | Callable[..., KeyForm], guard: GuardLike, **fields: Any) -> Once:
    """Do work once for a key, as the guard decides, and write the receipts.

    As a context manager (`with once(key, guard) as claim: if claim.mine: …`), a call
    (`once(key, guard).run(work, …)`), or a decorator (`@once(lambda payout: payout.id, guard)`).
    `fields` go into each receipt: task, queue, job, subjects, invoke, trace, source. An exception
    in the work writes a fail receipt, releases the guard and goes on to the caller.
    """
    given = fields.pop("client", None)
    return Once((lambda: given) if given is not None else get_client, key, guard, fields)


def digest(value: Any) -> str:
    """Give a keyed digest of a value that is not to be sent; see `digests`."""
    return get_client().digest(value)


def ignored(**values: Any) -> dict[str, str]:
    """Give the `ignored` part of a key, each value as keyed digest and size."""
    return get_client().ignored(**values)


def flush(timeout_s: float = 5.0) -> bool:
    """Send what waits, for at most about that long; True when nothing waits any more."""
    return get_client().flush(timeout_s)


def close() -> None:
    """Close the spool in order; the next receipt opens another one."""
    get_client().close()
