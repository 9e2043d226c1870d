"""Who holds a key as far as receipts tell, and how a key is released where it is held.

The guard itself is never seen: a row in a job table, a key in Redis, a file. What is known is the
run that took the key last, and the last sign of life of that run.
"""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from jobs.domain.attempts import (
    CANCELLED,
    COMPLETED,
    FAILED,
    IN_FLIGHT,
    SECOND,
    USUAL_LIMIT_S,
)
from jobs.domain.because import duration
from ledger.domain import plain

_ENDED = {COMPLETED: "completed", FAILED: "failed", CANCELLED: "cancelled"}
GONE = frozenset({"lost", "pruned"})
WORDS = {
    "in_flight": ("in flight", "plain", "play"),
    "lost": ("holder lost", "bad", "heart-pulse"),
    "pruned": ("its row is gone, without an end", "bad", "unlink"),
    "completed": ("completed", "done", "check"),
    "failed": ("failed", "bad", "x"),
    "cancelled": ("cancelled", "plain", "ban"),
    "none": ("no holder on record", "plain", "circle"),
}
"""The word, tone and icon of each state of a holder."""


@dataclass(frozen=True, slots=True)
class Life:
    """The run that holds a key: its state and its signs of life, in microseconds since 1970."""

    state: str
    sign_at: int
    limit_us: int | None
    gone_at: int | None
    gone_from: int | None


@dataclass(frozen=True, slots=True)
class Way:
    """One way to release a key: what keeps the guard, what to run, and what to know before."""

    library: str
    command: str
    note: str


def state_of(life: Life | None, now: int) -> str:
    """Say in one code how a holder stands at a clock."""
    if life is None:
        return "none"
    if life.state != IN_FLIGHT:
        return _ENDED.get(life.state, "none")
    if life.gone_at is not None and life.gone_at <= now:
        return "pruned"
    return "lost" if life.gone_from is not None and life.gone_from <= now else "in_flight"


def limit_s(life: Life) -> float:
    """Give how long a holder may be silent before it counts as lost."""
    return USUAL_LIMIT_S if life.limit_us is None else life.limit_us / SECOND


def ways(
    system: str, job: str, recipe: str, version: str, named: Sequence[tuple[str, str]]
) -> list[Way]:
    """Give the ways to release a key of a source, the likeliest first."""
    if system == "oban":
        return list(_of_oban(job, recipe))
    found = list(_of_celery(named)) if system == "celery" else []
    return [*found, *_of_guards(recipe, version, named)]


def _of_oban(job: str, recipe: str) -> Iterator[Way]:
    if not job:
        return
    number = job if job.isascii() and job.isdigit() else "ID"
    counts_all = recipe.startswith("statifier.")
    cancel = (
        "It does not free this key: its uniqueness counts cancelled jobs too."
        if counts_all
        else "Frees the key where the worker's unique states leave out cancelled."
    )
    yield Way("Oban, cancelling", f"Oban.cancel_job({number})", cancel)
    yield Way("Oban, deleting", f"Oban.delete_job({number})", "Refused while the job executes.")
    yield Way(
        "Oban's table",
        f"DELETE FROM oban_jobs WHERE id = {number} AND state <> 'executing';",  # noqa: S608
        "The guard is the row. Nothing tells Oban of it, and nothing brings the row back.",
    )


def _of_celery(named: Sequence[tuple[str, str]]) -> Iterator[Way]:
    lock = next((plain.text_of_json(text) for name, text in named if name == "lock"), "")
    once = lock if lock.startswith("qo_") else "qo_TASK_ARG-VALUE"
    single = lock if lock.startswith("SINGLETONLOCK_") else "SINGLETONLOCK_MD5"
    note = "Without a lock name in the receipts, look for it: redis-cli --scan --pattern '{}*'"
    yield Way("celery-once", f"redis-cli DEL {shlex.quote(once)}", note.format("qo_"))
    yield Way(
        "celery-singleton", f"redis-cli DEL {shlex.quote(single)}", note.format("SINGLETONLOCK_")
    )


def _of_guards(recipe: str, version: str, named: Sequence[tuple[str, str]]) -> Iterator[Way]:
    """Name the key as the client's guards do (`counterfoil.receipts.guard_name`)."""
    name = guard_name(recipe, version, named)
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    in_sql = name.replace("'", "''")
    yield Way(
        "counterfoil, guard in Redis",
        f"redis-cli DEL {shlex.quote(f'counterfoil:once:{name}')}",
        "With the usual prefix.",
    )
    yield Way(
        "counterfoil, guard in a table",
        f"DELETE FROM counterfoil_once WHERE name = '{in_sql}' AND finished = 0;",  # noqa: S608
        "With the usual table; a finished one is deleted without the last condition.",
    )
    yield Way(
        "counterfoil, guard in a directory", f"rm DIRECTORY/{digest}", "In the guard's directory."
    )


def guard_name(recipe: str, version: str, named: Sequence[tuple[str, str]]) -> str:
    """Give the text that the client's guards hold for a key."""
    if recipe == "once" and [name for name, _ in named] == ["key"]:
        return plain.text_of_json(named[0][1])
    fields = ",".join(f"{plain.json_text(name)}:{text}" for name, text in named)
    compared = f"[{plain.json_text(recipe)},{plain.json_text(version)},{{{fields}}}]"
    digest = hashlib.sha256(compared.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{recipe}:{digest}"


def shown(named: Sequence[tuple[str, str]]) -> Mapping[str, str]:
    """Give a key's fields as a person reads them."""
    return {name: plain.text_of_json(text) for name, text in named}


def sentence(code: str, who: str, life: Life | None, now: int) -> str:
    """Say in words how a holder stands; `who` names its job."""
    if life is None:
        return "Receipts compared this key, and none of them tells who took it."
    if code == "lost":
        said = "as its heartbeats say" if life.limit_us is not None else "since none says how long"
        return (
            f"{who} has left no end and no sign of life for {duration(now - life.sign_at)}; "
            f"it may be silent for {duration(int(limit_s(life) * SECOND))}, {said}."
        )
    if code == "pruned":
        return f"The row of {who} was deleted before any end of it was on record."
    if code == "in_flight":
        return (
            f"{who} has left no end; its last sign of life is {duration(now - life.sign_at)} old."
        )
    text = f"{who} {_ENDED.get(life.state, 'ended')}."
    if life.gone_at is not None and life.gone_at <= now:
        return f"{text} Its row is deleted since, and with it a guard that is the row."
    return f"{text} Whether the key still stands is for its guard to say."
