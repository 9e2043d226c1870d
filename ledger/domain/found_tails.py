"""How the sentence of a skip goes on when its original was found: what became of that."""

from __future__ import annotations

from ledger.domain.endings import ending_of
from ledger.domain.naming import name_of
from ledger.domain.pointers import Finding
from ledger.domain.statement import Statement

BECAME: dict[str, str] = {
    "done": "is done",
    "failed": "failed",
    "cancelled": "was cancelled",
    "running": "is still running by all that is recorded",
    "skipped": "was skipped itself",
}
"""What is said of an original that was found, by its outcome."""


_AT_ODDS: dict[tuple[str, str], str] = {
    ("skip.already_done", "running"): "has not ended, though, by all that is recorded",
    ("skip.in_flight", "done"): "is done by now",
    ("skip.upstream_failed", "done"): "is done by now",
    ("skip.upstream_failed", "running"): "has not ended, though, by all that is recorded",
    ("skip.holder_lost", "done"): "is done by now",
    ("skip.holder_lost", "running"): "has left no end on record",
}


def found_tail(
    code: str,
    statement: Statement,
    finding: Finding,
    original: Statement | None,
    terminal: Statement | None,
) -> str:
    name, became = name_of(original, statement), BECAME.get(finding.outcome, "was found")
    if original is not None and original.kind == "skip":
        return _chain_tail(finding, terminal, statement)
    by_key = ", found by its key," if finding.state == "resolved-by-key" else ""
    if by_key and _says(original):
        return f"; found by its key: {_says(original)} {became}"
    if code == "skip.original_failed" and finding.outcome == "running":
        return f"; {name}{by_key} was {statement.original_state} by then, as the skip says"
    if (code, finding.outcome) in _AT_ODDS:
        return f"; {name}{by_key} {_AT_ODDS[code, finding.outcome]}"
    return f": {_says(original) or name}{by_key} {became}"


def _chain_tail(finding: Finding, terminal: Statement | None, statement: Statement) -> str:
    skips = finding.skips
    through = "another skip" if skips == 1 else f"{skips} other skips"
    if finding.rule == "explained":
        which = "which" if skips == 1 else "the last of which"
        return f": its pointer leads to {through}, {which} a rule explains"
    end = name_of(terminal, statement) if terminal is not None else "a job"
    became = BECAME.get(finding.outcome, "was found")
    return f": its pointer leads through {through} to {end}, which {became}"


def _says(original: Statement | None) -> str:
    """Let a receipt that is itself the end of the work speak: it has no job to be named by."""
    if original is None or original.job is not None or not ending_of(original):
        return ""
    return f"№{original.leaf:,} says that it"
