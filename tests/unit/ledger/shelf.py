"""Statements made from bodies as a producer sends them, and a book that holds them in memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ledger.domain import tallies
from ledger.domain.policies import Policy, policy_of
from ledger.domain.statement import JobName, Statement, read_statement
from ledger.domain.tallies import Tallied

DAY = "2026-10-05"
NOON = datetime(2026, 10, 5, 12, tzinfo=UTC)


KNOWN: dict[str, Any] = {
    "state": "accepted", "token_id": 1, "source_default": ("oban", "prod-1"),
}  # fmt: skip


def at(clock: str) -> datetime:
    """Return a time of the day on which all cases play, from "09:00" or "09:00:30"."""
    return datetime.fromisoformat(f"{DAY}T{clock}").replace(tzinfo=UTC)


def make(leaf: int, kind: str, clock: str | None = None, **more: Any) -> Statement:
    """Make the statement of leaf `leaf`; it happens and arrives at `clock`, else `leaf` s past 9.

    `received`, `state`, `token_id` and `source_default` are what the ledger knows; all else is the
    body.
    """
    happened = at(clock) if clock else at("09:00") + timedelta(seconds=leaf)
    received = more.pop("received", happened)
    body = {"kind": kind, "occurred_at": happened.isoformat(), **more.pop("body", {})}
    known = {name: more.pop(name) for name in (*KNOWN, "id_default", "minted") if name in more}
    return read_statement(
        {**body, **more},
        leaf=leaf,
        ref=f"r{leaf}",
        received_at=received,
        **{**KNOWN, "id_default": f"made-{leaf}", **known},
    )


def skip(leaf: int, clock: str | None = None, **more: Any) -> Statement:
    """Make a skip; `of` is short for an original by receipt id, `of_job` by job number."""
    if "of" in more:
        more["original"] = {"receipt": more.pop("of")}
    if "of_job" in more:
        more["original"] = {**more.get("original", {}), "job": more.pop("of_job")}
    return make(leaf, "skip", clock, **more)


def key(**fields: Any) -> dict[str, Any]:
    """Make a key of the recipe `payouts`; a field named `window_s` is its window."""
    window = {"window_s": fields.pop("window_s")} if "window_s" in fields else {}
    return {"recipe": "payouts", "version": "1", "fields": fields, **window}


class Shelf:
    """A book of the statements given, as far as leaf `up_to` when that is given."""

    def __init__(
        self,
        statements: Iterable[Statement],
        *,
        up_to: int | None = None,
        redacted: Iterable[int] = (),
        rows: Mapping[int, list[list[object]]] | None = None,
        lists_all: bool = True,
    ) -> None:
        """Put the statements on the shelf in the order of their leaves.

        `rows` are those that tallies list, by their leaves.
        """
        kept = [each for each in statements if up_to is None or each.leaf <= up_to]
        self.statements = sorted(kept, key=lambda each: each.leaf)
        self.redacted = frozenset(redacted)
        self.rows = {leaf: tallies.outcomes_of(found) for leaf, found in (rows or {}).items()}
        self.all_listed = lists_all

    def by_id(self, id_key: str) -> list[Statement]:
        """Return the statements that claim an id."""
        return [each for each in self.statements if each.id_key == id_key]

    def by_job(self, job: JobName) -> list[Statement]:
        """Return the statements of a job."""
        return [each for each in self.statements if each.job == job]

    def by_key(self, key_digest: str, near: int) -> list[Statement]:
        """Return the statements with a key."""
        return [each for each in self.statements if each.key_digest == key_digest]

    def by_masked_id(self, masked: str) -> list[Statement]:
        """Return the statements whose id is the same but for version and variant."""
        return [each for each in self.statements if each.masked_id == masked]

    def is_redacted(self, leaf: int) -> bool:
        """Tell whether a leaf was erased."""
        return leaf in self.redacted

    def tallied(self, job: JobName) -> list[Tallied]:
        """Return what the tallies list of a job."""
        listed = (
            tallies.listing(each, self.rows[each.leaf])
            for each in self.statements
            if each.leaf in self.rows
        )
        return [found[job.text()] for found in listed if job.text() in found]

    def policies(self, system: str, instance: str) -> list[Policy]:
        """Return the recording policies of a source."""
        told = (each for each in self.statements if each.source == f"{system}/{instance}")
        return [policy for each in told if (policy := policy_of(each)) is not None]

    def lists_all(self, system: str, instance: str, voice: str) -> bool:
        """Tell whether the tallies list all their jobs."""
        return self.all_listed

    def at_leaf(self, leaf: int | None) -> Statement | None:
        """Return the statement of a leaf, or None."""
        return next((each for each in self.statements if each.leaf == leaf), None)
