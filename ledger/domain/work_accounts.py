"""What a receipt about work states: asked for, begun, ended, tried again or taken away."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ledger.domain import plain, words
from ledger.domain.naming import job_words
from ledger.domain.statement import Statement

Fields = list[tuple[str, str]]


def work_words(statement: Statement) -> str:
    """Name the work that a receipt is about, by what was sent of it."""
    if statement.job is None:
        return f"the work {statement.task}" if statement.task else "the work"
    task = f" ({statement.task})" if statement.task else ""
    return f"{job_words(statement.job)}{task}"


def swept_words(statement: Statement) -> str:
    """Name the jobs that were cancelled, pruned or rescued, or count them."""
    if statement.job is not None and statement.swept is None:
        return job_words(statement.job)
    return "1 job" if statement.swept == 1 else f"{statement.swept or 0:,} jobs"


def _said(doing: str) -> Callable[[Statement], str]:
    def said(statement: Statement) -> str:
        return f"the producer says that {work_words(statement)} {doing}{_attempt(statement)}"

    return said


def _attempt(statement: Statement) -> str:
    return "" if statement.attempt is None else f", attempt {statement.attempt:,}"


def _enqueued(statement: Statement) -> str:
    queue = f"the queue {statement.queue}" if statement.queue else "a queue"
    return f"the producer says that {work_words(statement)} was put on {queue}"


def _discarded(statement: Statement) -> str:
    run = f" of the run {statement.scope}" if statement.scope else ""
    return f"the producer says that {work_words(statement)}{run} was discarded"


def _swept(title: str, doing: str) -> Callable[[Statement], str]:
    def said(statement: Statement) -> str:
        if statement.job is None and statement.swept is None:
            return f"{title}: the producer neither names a job nor counts any"
        verb = "was" if swept_words(statement).startswith(("1 job", "job ")) else "were"
        return f"{title}: the producer says that {swept_words(statement)} {verb} {doing}"

    return said


def _titled(title: str, doing: str) -> Callable[[Statement], str]:
    def said(statement: Statement) -> str:
        return f"{title}: {_said(doing)(statement)}"

    return said


def _delivered(statement: Statement) -> str:
    doing = "was handed to a worker" if statement.is_handover else "was delivered"
    return _said(doing)(statement)


def _retried(statement: Statement) -> str:
    return _said(_RETRIES.get(statement.reason or "", "is tried again"))(statement)


_RETRIES = {
    "swallowed": "asked to run again, and that it published no message after that",
    "requeued": "was rejected and put back",
    "replaced": "was replaced by another task under the same id",
}


def _revoked(statement: Statement) -> str:
    if statement.reason == "asked":
        by = f", by {name}" if (name := statement.actor_label or statement.actor_id) else ""
        return f"the producer says that {work_words(statement)} is to be revoked{by}"
    title = "" if statement.reason == "effected" else "A revoke: "
    ended = ", by ending its process" if _is_terminated(statement) else ""
    return f"{title}{_said('was revoked')(statement)}{ended}"


def _is_terminated(statement: Statement) -> bool:
    return plain.object_of(statement.body.get("revoked")).get("terminated") is True


ACCOUNTS: dict[str, Callable[[Statement], str]] = {
    "enqueue": _enqueued,
    "start": _said("was started"),
    "done": _said("was carried out"),
    "deliver": _delivered,
    "fail": _said("was tried and did not succeed"),
    "cancel": _swept("A cancel", "cancelled"),
    "discard": _discarded,
    "retry": _retried,
    "prune": _swept("A prune", "pruned"),
    "rescue": _swept("A rescue", "rescued"),
    "revoke": _revoked,
}
"""What each kind of receipt about work says, to stand after the title of its verdict."""


def term(statement: Statement) -> str:
    """Return the decisive term: the reason, the count, the key, or the kind alone."""
    if statement.reason:
        given = words.REASON_WORDS.get(statement.reason, statement.reason)
        return f"The reason given: “{given}”."
    if statement.swept is not None:
        return f"It counts {swept_words(statement)}."
    if statement.kind in _COMPARED and statement.key_fields:
        names = _listed([name for name, _ in statement.key_fields])
        return f"A skip that names no original finds it by its key: {names}."
    if statement.kind == "cancel" and statement.job is None:
        return ""
    return f"Its kind decides: {words.KIND_WORDS[statement.kind]}."


_COMPARED = frozenset({"enqueue", "start", "done"})


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _further(body: Mapping[str, object]) -> Fields:
    """Read what a producer tells of an error, a revoke or how long it took."""
    error, revoked = plain.object_of(body.get("error")), plain.object_of(body.get("revoked"))
    workflow = plain.object_of(body.get("workflow"))
    return [
        ("error", plain.name_of(error.get("type"))),
        ("error's digest", plain.name_of(error.get("digest"))),
        ("signal", plain.name_of(revoked.get("signum"))),
        ("took", f"{took} ms" if (took := plain.name_of(body.get("took_ms"))) else ""),
        *((f"workflow's {name}", plain.name_of(workflow.get(name))) for name in _WORKFLOW),
    ]


_WORKFLOW = ("root", "parent", "group")


def fields(statement: Statement) -> Fields:
    """Return what was sent of the work beside its key, its task and its call."""
    attempt = None if statement.attempt is None else str(statement.attempt)
    swept = None if statement.swept is None else str(statement.swept)
    found = (
        ("job", statement.job.number if statement.job else None),
        ("queue", statement.queue),
        ("attempt", attempt),
        ("delivery", statement.delivery),
        ("state", statement.job_state),
        ("jobs", swept),
        ("reason", statement.reason),
        *_further(statement.body),
    )
    return [(name, value) for name, value in found if value]
