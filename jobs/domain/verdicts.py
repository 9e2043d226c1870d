"""The verdict on one receipt about a job or a call, by what is known of the others."""

from __future__ import annotations

from dataclasses import replace

from jobs.domain import judging, sentences
from jobs.domain.facts import OBSERVED, Call, Fact, Timer, call_of, fact_of
from jobs.domain.judging import Original, Ruling
from jobs.domain.state import Known, is_ranked
from ledger.domain import words
from ledger.domain.statement import Statement
from ledger.domain.verdicts import Verdict

# A skip for one of these says itself why it was skipped; the call's other jobs add nothing.
LEFT_ALONE = (
    words.NEEDS_RULE | {"redelivery", "superseded", "holder_lost", "upstream_failed"}
    | {"wrong_generation"}
)  # fmt: skip
_SAYING_LITTLE = (
    "fresh", "done", "cancel.noop", "cancel.noop_executing", "cancel.missed_packed",
)  # fmt: skip
_OBSERVED = {
    "deferred": Ruling("open.deferred", "observed"),
    "fan_out": Ruling("open.fan_out", "observed"),
    "child_started": Ruling("fanout.child_started", "observed"),
}


def judge(statement: Statement, known: Known, original: Statement | None) -> Verdict | None:
    """Judge one receipt; None leaves it to the ledger's own rules."""
    fact = fact_of(statement)
    return None if fact is None else judge_fact(statement, fact, known, original)


def judge_fact(
    statement: Statement, fact: Fact, known: Known, original: Statement | None
) -> Verdict | None:
    """Judge one receipt whose fact has been read."""
    level = statement.level
    if fact.kind == "skip":
        ruling = _skip(statement, fact, known, original)
        levels = [level, original.level if original else level]
        is_named = _names_original(statement)
        level = words.lowest_level(levels if is_named else [*levels, "reconstructed"])
    else:
        ruling = _told(fact, known)
    return None if ruling is None else _verdict(ruling, fact, known, level)


def _skip(
    statement: Statement, fact: Fact, known: Known, original: Statement | None
) -> Ruling | None:
    if original is None or original.kind == "skip" or statement.rule:
        return None
    is_lock = statement.reason == "lock_contended" and not _names_original(statement)
    if is_lock or statement.reason in LEFT_ALONE:
        return None
    stored = _original(original, known)
    if fact.timer is not None:
        is_same = bool(fact.timer.ordinal) and _place(fact.timer) == stored.timer
        ruling = Ruling("dedup.replay", "same-ordinal") if is_same else None
    else:
        ruling = judging.judge_skip(fact.call, stored) if fact.call is not None else None
    return None if ruling is None else replace(ruling, detail=_holder(ruling, stored))


def _names_original(statement: Statement) -> bool:
    return statement.pointer is not None and statement.pointer.names_something


def _original(original: Statement, known: Known) -> Original:
    told = fact_of(original)
    job = known.jobs.get(told.job) if told is not None and told.job else None
    if job is not None and (job.call or job.ordinal):
        return judging.original_of(job)
    timer = _place(told.timer) if told is not None and told.timer is not None else ("", "")
    label = original.job.number if original.job is not None else ""
    return Original(call_of(original), timer, label)


def _place(timer: Timer) -> tuple[str, str]:
    return timer.scope, timer.ordinal


def _holder(ruling: Ruling, stored: Original) -> str:
    holder = f"job {stored.label}" if stored.label else "another receipt"
    if ruling.code in ("dedup.lost_reentry", "dedup.residual_collision") and stored.call:
        place = stored.call.generation or "?"
        element = f", element ({stored.call.element})" if "element" in ruling.rule else ""
        return f"{holder} (macrostep {place}{element})"
    return holder


def _told(fact: Fact, known: Known) -> Ruling | None:
    if fact.kind == "prune":
        count = fact.count or len(fact.listed)
        return (
            Ruling("guard.pruned", "pruned", detail=_pruned(count, fact, known)) if count else None
        )
    if fact.kind == "enqueue" and fact.is_unchecked:
        return Ruling("fresh", "not-checked")
    if is_ranked(fact):
        return judging.judge_beginning(fact, known)
    if fact.kind == "unstarted_cancelled":
        return Ruling("cancel.swept" if fact.count else "cancel.noop", "count")
    if fact.kind in OBSERVED:
        return _OBSERVED[fact.kind]
    tellings = known.tellings_of(fact)
    rulings = [ruling for told in tellings if (ruling := judging.judge_told(told, known))]
    return max(rulings, key=_strength, default=None)


def _pruned(count: int, fact: Fact, known: Known) -> str:
    """Say how many jobs were deleted, and whether one still guarded its key."""
    many = "1 job was" if count == 1 else f"{count:,} jobs were"
    found = (known.jobs.get(fact.name_of(number)) for number in fact.listed)
    cut = [one for one in found if one is not None and one.was_cut_short]
    if not cut:
        return f"{many} deleted from the job table, and what they guarded is guarded no more."
    first = min(cut, key=lambda one: (one.kept_s or 0.0, one.name))
    return (
        f"{many} deleted from the job table. Job {first.number} guarded its key for "
        f"{first.kept_s:,.0f} s, not for the {first.window_s:,.0f} s of its period."
    )


def _strength(ruling: Ruling) -> int:
    """Rank the rulings on one receipt that may mean two calls: the one that says most."""
    return _SAYING_LITTLE.index(ruling.code) if ruling.code in _SAYING_LITTLE else 99


def _verdict(ruling: Ruling, fact: Fact, known: Known, level: str) -> Verdict:
    return Verdict(
        code=ruling.code,
        sentence=sentences.of_receipt(ruling, _label(fact, known)),
        decisive=_decisive(ruling, fact),
        rule=ruling.rule,
        level=level,
    )


def _label(fact: Fact, known: Known) -> str:
    job = known.jobs.get(fact.job)
    call = fact.call
    if call is None and job is not None and job.invoke:
        call = judging.original_of(job).call
    if call is not None:
        return _call_label(call, fact.kind)
    if fact.timer is not None:
        return f"timer {fact.timer.ordinal or fact.timer.send_id} of scope {fact.timer.scope}"
    return f"job {fact.number}" if fact.number else "a call"


def _call_label(call: Call, kind: str) -> str:
    named = f"invoke {call.invoke} of scope {call.logical_scope}"
    is_one = bool(call.generation) and kind != "cancel"
    item = f", item {call.index}" if call.index else ""
    return f"{named}, macrostep {call.generation}{item}" if is_one else named


def _decisive(ruling: Ruling, fact: Fact) -> str:
    if fact.kind == "skip" and fact.call is not None:
        return f"macrostep {fact.call.generation} against {ruling.detail}"
    if ruling.other is not None:
        generation = ruling.other.generation
        return f"job {ruling.other.number}" + (f", macrostep {generation}" if generation else "")
    return ""
