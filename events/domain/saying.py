"""The parts that sentences about findings have in common."""

from __future__ import annotations

from events.domain.findings import Finding
from events.domain.records import SECOND

_SHORT = 8
_LONG = 20


def short(epoch: object) -> str:
    """Give an epoch as it is shown in running text: a long token by its first characters."""
    text = "none" if epoch is None else str(epoch)
    return text if len(text) <= _LONG else f"{text[:_SHORT]}…"


def pair(one: object, other: object) -> tuple[str, str]:
    """Give two epochs in short so that they differ: tokens of one clock begin alike."""
    begun = short(one), short(other)
    if begun[0] != begun[1] or one == other:
        return begun
    return f"…{str(one)[-_SHORT:]}", f"…{str(other)[-_SHORT:]}"


def fact(finding: Finding, name: str) -> str:
    """Give a fact of a finding as text; what it does not have is a question mark."""
    return str(finding.facts.get(name, "?"))


def at_least(finding: Finding, noun: str) -> str:
    """Say how many of the same there were by now, where there were several."""
    count = int(finding.facts.get("count", 1))
    return f" So far at least {count} {noun}." if count > 1 else ""


def seen_by(finding: Finding) -> str:
    """Name the replicas that saw it, where there were several."""
    replicas = finding.facts.get("replicas")
    return f" Seen by {replicas}." if replicas and ", " in str(replicas) else ""


def is_above(finding: Finding) -> bool:
    """Tell whether an id is above the greatest one before."""
    high = fact(finding, "high")
    return finding.id is not None and high.lstrip("-").isdigit() and finding.id > int(high)


def filled(finding: Finding) -> str:
    """Say how late what was missing came, where it came."""
    filled_at = finding.facts.get("filled_at")
    if not isinstance(filled_at, int):
        return ""
    seconds = (filled_at - finding.at) / SECOND
    return f" Filled {seconds:.1f} s late; clients had later ids by then."
