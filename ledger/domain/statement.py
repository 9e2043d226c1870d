"""What the ledger understood of one receipt.

A statement is made from the receipt's stub (the body without `data` and `sent`) and from what
the ledger itself knows: the leaf, the ref, the time of arrival, the token's source. It holds
names and facts and no judgement but one, the evidence level, which is ours to give.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ledger.domain import members, plain, receipt_ids
from ledger.domain.terms import (
    LEVEL_BY_VIA,
    JobName,
    Pointer,
    RuleNamed,
    SwitchNamed,
    done_id,
    key_digest,
    level_of,
    masked_id,
    normal_id,
)

__all__ = [
    "LEVEL_BY_VIA",
    "JobName",
    "Pointer",
    "RuleNamed",
    "Statement",
    "SwitchNamed",
    "done_id",
    "in_order",
    "key_digest",
    "level_of",
    "masked_id",
    "normal_id",
    "read_statement",
    "suffers_lateness",
]

LATE_AFTER = timedelta(hours=24)
READABLE = ("accepted", "conflict")
"""The states of receipts that were well formed, be their id in conflict or not."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One receipt as the ledger reads it; texts are empty where the receipt has nothing."""

    leaf: int
    ref: str
    state: str
    kind: str
    received_at: datetime
    word: str = ""
    id_text: str = ""
    id_key: str = ""
    masked_id: str | None = None
    occurred_at: datetime | None = None
    system: str = ""
    instance: str = ""
    via: str = "client"
    job: JobName | None = None
    task: str = ""
    queue: str = ""
    attempt: int | None = None
    delivery: str = ""
    job_state: str = ""
    scope: str = ""
    invoke_id: str = ""
    generation: str = ""
    element: str = ""
    recipe: str = ""
    recipe_version: str = ""
    key_fields: tuple[tuple[str, str], ...] = ()
    key_ignored: tuple[tuple[str, str], ...] = ()
    key_digest: str | None = None
    window_s: float | None = None
    reason: str | None = None
    pointer: Pointer | None = None
    original_state: str = ""
    rule: RuleNamed | None = None
    switch: SwitchNamed | None = None
    condition: Mapping[str, object] | None = field(default=None, hash=False)
    actor_label: str = ""
    actor_type: str = ""
    actor_id: str = ""
    trace_id: str = ""
    span_id: str = ""
    evidence: str = ""
    level: str = "recorded"
    subjects: tuple[tuple[str, str], ...] = ()
    act_verb: str = ""
    act_target: str = ""
    act: Mapping[str, object] = field(default_factory=dict, hash=False)
    what: str = ""
    loop: str = ""
    swept: int | None = None
    derived_from: str | None = None
    token_id: int | None = None
    token_source: str = ""
    minted: bool = False
    body: Mapping[str, object] = field(default_factory=dict, hash=False, compare=False, repr=False)
    """The stub as it was parsed: for members that only one app reads."""

    @property
    def happened_at(self) -> datetime:
        """When it happened by the producer's clock, else when it arrived by ours."""
        return self.occurred_at or self.received_at

    @property
    def begun_at(self) -> datetime:
        """When the work that it tells of was asked for: a row may be seen long after that."""
        if not self.is_row:
            return self.happened_at
        inserted_at = plain.time_of(plain.object_of(self.body.get("job")).get("inserted_at"))
        return inserted_at or self.happened_at

    @property
    def source(self) -> str:
        """The source as `oban/prod-1`, or the empty text."""
        return "/".join(part for part in (self.system, self.instance) if part)

    @property
    def voice(self) -> str:
        """Return who hands it in: tokens made for one source are one; empty where it is ours."""
        return self.token_source or ("" if self.token_id is None else f"token:{self.token_id}")

    @property
    def is_explained_by_rule(self) -> bool:
        """Tell whether the producer named the rule or the switch behind it."""
        return self.rule is not None or self.switch is not None

    @property
    def is_readable(self) -> bool:
        """Tell whether the receipt was well formed, be its id in conflict or not."""
        return self.state in READABLE

    @property
    def is_handover(self) -> bool:
        """Tell whether it says that a message was handed to a worker, of which no work has begun.

        Of Oban a delivery is the answer of a call, and so the end of its work.
        """
        if self.kind != "deliver":
            return False
        job = plain.object_of(self.body.get("job"))
        return self.system == "celery" or isinstance(job.get("redelivered"), bool)

    @property
    def is_redelivered(self) -> bool:
        """Tell whether the broker marked the message as handed out before."""
        return plain.object_of(self.body.get("job")).get("redelivered") is True

    @property
    def is_end_of_job(self) -> bool:
        """Tell whether it is a skip by which a numbered job itself ended: expired, or ignored.

        Of Celery alone: elsewhere the number may be that of a job which goes on.
        """
        is_own = self.kind == "skip" and self.job is not None and self.pointer is None
        return is_own and self.system == "celery" and self.reason in (None, "expired")

    @property
    def is_row(self) -> bool:
        """Tell whether it is a job's row as a reader of the job table, or of its backup, saw it."""
        if self.kind != "observe" or self.job is None:
            return False
        return self.via == "row" or (self.via == "import" and self.what == "row")


def suffers_lateness(statement: Statement) -> bool:
    """Tell whether a receipt has a lower level for no other reason than when it came."""
    at = statement.occurred_at
    if at is None or statement.received_at - at <= LATE_AFTER:
        return False
    return level_of(statement.via, statement.evidence, is_late=False) != statement.level


def in_order(statement: Statement) -> Statement:
    """Give a late receipt as one that was waiting in its spool, so that lateness takes no level."""
    level = level_of(statement.via, statement.evidence, is_late=False)
    return replace(statement, level=level)


def read_statement(
    stub: Mapping[str, object],
    *,
    leaf: int,
    ref: str,
    state: str,
    received_at: datetime,
    source_default: tuple[str, str] = ("", ""),
    token_id: int | None = None,
    minted: bool = False,
    id_default: str = "",
    derived_from: str | None = None,
) -> Statement:
    """Read one receipt; what cannot be read is left empty, and nothing here ever fails.

    `source_default` is the (system, instance) of the token, `id_default` the id that the server
    gave when the body has none (minted, or from the feed's number). What came late has its lower
    level until it is known to have waited in its spool: then `in_order` gives it back.
    """
    body = plain.object_of(stub)
    system, instance = members.source_of(body, source_default)
    id_text = plain.name_of(body.get("id")) or id_default
    identity = receipt_ids.read_id(id_text)
    occurred_at = plain.time_of(body.get("occurred_at"))
    via = plain.name_of(plain.object_of(body.get("source")).get("via")) or "client"
    evidence = plain.name_of(body.get("evidence"))
    is_late = occurred_at is not None and received_at - occurred_at > LATE_AFTER
    return Statement(
        leaf=leaf,
        ref=ref,
        state=state,
        received_at=received_at,
        id_text=id_text,
        id_key=identity.key,
        masked_id=identity.masked,
        occurred_at=occurred_at,
        system=system,
        instance=instance,
        via=via,
        evidence=evidence,
        level=level_of(via, evidence, is_late=is_late),
        derived_from=derived_from,
        token_id=token_id,
        token_source="/".join(part for part in source_default if part),
        minted=minted,
        body=body,
        **members.kind_fields(body, is_readable=state in READABLE),
        **members.work_fields(body, system, instance),
        **members.invoke_fields(body),
        **members.key_fields(body, system, instance),
        **members.why_fields(body, system, instance),
        **members.people_fields(body),
        **members.doing_fields(body),
    )
