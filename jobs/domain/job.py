"""One job as it is known, and what it is."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(slots=True)
class Job:
    """One job, folded from all receipts about it.

    Times are aware; `state_at` is when the newest statement about its state was true. `state` is
    Oban's word, `failed` for a failed job of another system, empty while only asked for.
    `ended_at` is when a row was first seen that had ended, whatever it was set to afterwards.
    `deleted_level` is "recorded" where the deletion was told by whoever deleted; a reader of the
    table only notices, perhaps long after, that a row is gone. `prev` is the job that had its key
    before, where the key is no call's, `window_s` how long its key guards, and `guards` the states
    in which a job does; empty where nobody told. `beginnings` holds the first delivery and the
    first execution of each attempt, `tallied_leaf` the tally that told its outcome,
    `revoke_leaf` who asked first that it be revoked.
    """

    name: str
    system: str
    instance: str
    number: str
    task: str = ""
    queue: str = ""
    state: str = ""
    state_at: datetime | None = None
    level: str = "unknown"
    attempt: int = 0
    max_attempts: int = 0
    errors: int = 0
    last_error: str = ""
    inserted_at: datetime | None = None
    scheduled_at: datetime | None = None
    attempted_at: datetime | None = None
    finished_at: datetime | None = None
    ended_at: datetime | None = None
    scope: str = ""
    logical_scope: str = ""
    invoke: str = ""
    generation: str = ""
    generation_number: int | None = None
    element: str = ""
    call_index: str = ""
    handler: str = ""
    type: str = ""
    src: str = ""
    ordinal: str = ""
    send_id: str = ""
    call: str = ""
    key_digest: str = ""
    key_leaf: int | None = None
    window_s: float | None = None
    guards: str = ""
    prev: str = ""
    insert_leaf: int | None = None
    row_leaf: int | None = None
    row_at: datetime | None = None
    first_leaf: int = 0
    last_leaf: int = 0
    deleted_leaf: int | None = None
    deleted_at: datetime | None = None
    deleted_level: str = ""
    deferred_leaf: int | None = None
    starts: int = 0
    deliveries: int = 0
    beginnings: str = ""
    tallied_leaf: int | None = None
    revoke_leaf: int | None = None
    verdict: str = ""
    rule: str = ""

    @property
    def is_timer(self) -> bool:
        """Tell whether it is a durable timer."""
        return bool(self.ordinal)

    @property
    def is_child_start(self) -> bool:
        """Tell whether it starts one item of a fan-out."""
        return bool(self.call_index)

    @property
    def is_invoke(self) -> bool:
        """Tell whether it is one generation of a call."""
        return bool(self.call) and not self.is_child_start

    @property
    def has_key(self) -> bool:
        """Tell whether it is known by a call or a key, and so can be the first of one."""
        return bool(self.call or self.key_digest)

    @property
    def is_packed(self) -> bool:
        """Tell whether its scope carries the generation."""
        return self.scope != self.logical_scope

    @property
    def is_known_by_deletion(self) -> bool:
        """Tell whether nothing but its deletion is on record."""
        return self.deleted_leaf == self.first_leaf == self.last_leaf

    @property
    def kept_s(self) -> float | None:
        """Give how long its row stood, in seconds, None while it stands or nobody told."""
        if self.deleted_at is None or self.inserted_at is None:
            return None
        return (self.deleted_at - self.inserted_at).total_seconds()

    @property
    def was_cut_short(self) -> bool:
        """Tell whether its row was deleted while its key was to guard on."""
        kept_s = self.kept_s
        if kept_s is None or self.window_s is None or not self.is_guarding(self.guards):
            return False
        return kept_s < self.window_s

    def is_guarding(self, states: str) -> bool:
        """Tell whether it is in one of the states in which a job guards its key.

        What is deleted has ended: where nobody told how, it is taken to have completed.
        """
        return not states or (self.state or "completed") in states.split(",")

    def is_same_call(self, other: Job) -> bool:
        """Tell whether it is of the same scope, call and generation as another job."""
        if (self.call, self.scope) != (other.call, other.scope) or not self.generation:
            return False
        mine, theirs = self.generation_number, other.generation_number
        return self.generation == other.generation if mine is None else mine == theirs

    def was_executing(self, at: datetime) -> bool:
        """Tell whether it ran at a moment, as far as its last attempt tells."""
        if self.attempted_at is None or self.attempted_at > at:
            return False
        ended = self.state_at if self.state == "retryable" else self.finished_at
        return ended > at if ended is not None else self.state == "executing"
