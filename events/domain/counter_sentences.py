"""Sentences about counters: their epochs, their restarts, and the size of their ids."""

from __future__ import annotations

from events.domain import codes
from events.domain.findings import Finding
from events.domain.saying import at_least, fact, is_above, pair, seen_by


def change(finding: Finding) -> str:
    """Tell of a change of epoch."""
    old, new = pair(finding.facts.get("from"), finding.epoch)
    begun = f"The epoch changed from {old} to {new}"
    planned = " as planned" if finding.code == codes.EPOCH_CHANGE_PLANNED else ""
    high = fact(finding, "high")
    if is_above(finding):
        where = f"ids went on at {finding.id}, above the last one ({high}), as if nothing happened"
    else:
        where = f"ids started over at {finding.id}; those before ended at {high}"
    passed = " By now they have climbed past it, and only the epoch tells them apart."
    climbed = passed if "climbed_at" in finding.facts and not is_above(finding) else ""
    return f"{begun}{planned}: {where}.{climbed}{seen_by(finding)}"


def flap(finding: Finding) -> str:
    """Tell of an epoch that came back."""
    old, new = pair(finding.facts.get("from"), finding.epoch)
    return (
        f"The epoch went back from {old} to {new}, which was here before: two publishers hold two "
        f"epochs, and neither has ended.{at_least(finding, 'times')}"
    )


def regressed(finding: Finding) -> str:
    """Tell of an epoch number that fell."""
    old, new = pair(finding.facts.get("from"), finding.epoch)
    if finding.rule == "late_generation":
        return (
            f"A message of epoch {new} came shortly after epoch {old} had begun: it was under way, "
            f"and the lane stays in {old}.{at_least(finding, 'messages')}"
        )
    return (
        f"The epoch number fell from {old} to {new}: the store that hands them out most likely "
        f"lost what it had written.{seen_by(finding)}"
    )


def reset(finding: Finding) -> str:
    """Tell of a restart that no epoch tells."""
    high = fact(finding, "high")
    proofs = {
        "known_id": f"id {finding.id} came again with another body",
        "low_run": f"ids rise again from {finding.id}, below {high}",
    }
    proof = proofs.get(finding.rule, f"ids began again at {finding.id}")
    passed = " By now they have climbed past it, and no number shows it any more."
    climbed = passed if "climbed_at" in finding.facts else ""
    return (
        f"The counter restarted, and no new epoch says so: {proof}. "
        f"The life before ended at {high}.{climbed}"
    )


def interleave(finding: Finding) -> str:
    """Tell of ids out of order."""
    high = fact(finding, "high")
    if finding.rule == "two_writers":
        return f"Id {finding.id} came again with another body: two counters take turns here."
    endings = {
        "fills_hole": "it was only out of order",
        "reordered": "so close that it was only out of order",
        "old_numbering": "it is of the counter's life before, and came late",
    }
    ending = endings.get(finding.rule, "nothing after it says that the counter restarted")
    return f"Id {finding.id} came after {high}: {ending}.{at_least(finding, 'such ids in a row')}"


def base_jump(finding: Finding) -> str:
    """Tell of ids of another kind of counter."""
    return (
        f"Ids jumped from {fact(finding, 'high')} to {finding.id}, which carries the start of a "
        "process: another kind of counter took over."
    )


def unflipped(finding: Finding) -> str:
    """Tell of a publisher on small ids."""
    return (
        f"Id {finding.id} is small although ids of another base came before: a publisher still "
        f"uses the old counter.{at_least(finding, 'messages')}"
    )


def incarnation(finding: Finding) -> str:
    """Tell of a process that began anew."""
    return f"Ids have a new base from {finding.id} on: the process that counts was started anew."


def junk_id(finding: Finding) -> str:
    """Tell of a large id that is no time."""
    return f"Id {finding.id} is large, but holds no date within 400 days of when it came."


def precision(finding: Finding) -> str:
    """Tell of ids that were rounded."""
    return (
        f"All ids here divide by {fact(finding, 'step')}: something on the way reads them as "
        "floating-point numbers and rounds them."
    )


def regress(finding: Finding) -> str:
    """Tell of a counter that fell back."""
    node = finding.facts.get("node")
    where = f" on {node}" if node else ""
    return (
        f"The counter fell from {fact(finding, 'from')} to {fact(finding, 'to')}{where} while "
        "the epoch stayed: what was handed out in between is lost, and the epoch does not tell."
    )
