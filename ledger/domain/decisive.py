"""The one term that decides a verdict, and the comparison of two keys that it rests on."""

from __future__ import annotations

from dataclasses import dataclass

from ledger.domain import links, plain
from ledger.domain.pointers import Finding
from ledger.domain.policies import LeftOut
from ledger.domain.statement import Statement

_ENDED = {
    "fail": "failed",
    "cancel": "was cancelled",
    "discard": "was given up",
    "revoke": "was revoked",
    "retry": "was to run again, and was not published",
    "skip": "had expired",
}


@dataclass(frozen=True, slots=True)
class Pair:
    """One key field of the attempt beside the original's, as JSON text, None where it has none."""

    field: str
    attempted: str | None
    original: str | None

    @property
    def is_equal(self) -> bool:
        """Tell whether both sides have the field with the same value."""
        return self.attempted is not None and self.attempted == self.original


def pairs(attempt: Statement, original: Statement | None) -> tuple[Pair, ...]:
    """Lay the key fields of an attempt and its original side by side, each field once."""
    ours = dict(attempt.key_fields)
    theirs = dict(original.key_fields) if original is not None else {}
    fields = [*ours, *(name for name in theirs if name not in ours)]
    return tuple(Pair(name, ours.get(name), theirs.get(name)) for name in fields)


def term(
    code: str,
    statement: Statement,
    finding: Finding | None,
    original: Statement | None,
    terminal: Statement | None,
    shown: str,
) -> str:
    """Return the decisive term as a sentence, or the empty text where nothing is compared."""
    if finding is None:
        return ""
    if finding.left_out is not None:
        return _policy_term(finding.left_out)
    if code == "skip.unexplained":
        return _although_condition(statement)
    if code in ("skip.original_failed", "skip.upstream_failed") and terminal is not None:
        return f"Because №{terminal.leaf:,} says that it {_ENDED.get(terminal.kind, 'ended')}."
    if shown == "not-needed" or links.is_explained(statement):
        return _condition_term(statement)
    if original is None or original.kind == "skip":
        return ""
    return _key_term(statement, original)


def _policy_term(left: LeftOut) -> str:
    """Quote the pattern by which a policy left out what would be the original."""
    pattern = f" for “{left.pattern}”" if left.pattern else ""
    return f"Because the policy in force says “{left.choice}”{pattern}."


def _condition_term(statement: Statement) -> str:
    came_out = _came_out(statement)
    return f"Because the condition {came_out}." if came_out else ""


def _although_condition(statement: Statement) -> str:
    """Name a condition that was sent with a skip which it does not explain without its rule."""
    if not statement.condition:
        return ""
    came_out = _came_out(statement) or "has no result"
    return f"Although a condition was sent, which {came_out}."


def _came_out(statement: Statement) -> str:
    condition = statement.condition or {}
    if "result" not in condition:
        return ""
    inputs = condition.get("inputs")
    given = f", with {plain.json_text(inputs)}" if inputs else ""
    return f"came out {plain.json_text(condition['result'])}{given}"


def _key_term(statement: Statement, original: Statement) -> str:
    if original.recipe != statement.recipe or not original.key_fields:
        return ""
    aligned = pairs(statement, original)
    unequal = [pair for pair in aligned if not pair.is_equal]
    if unequal:
        first = unequal[0]
        here, there = _side(first.attempted), _side(first.original)
        return f"Although {first.field} differs: {here} here, {there} there."
    return _equal_term(statement, aligned)


def _side(text: str | None) -> str:
    return "nothing" if text is None else plain.text_of_json(text)


def _equal_term(statement: Statement, aligned: tuple[Pair, ...]) -> str:
    """Name the field that tells one call from the next when there is one, else all of them."""
    telling = [
        pair
        for pair in aligned
        if statement.generation and _side(pair.attempted) == statement.generation
    ]
    chosen = telling[:1] or list(aligned)
    if len(chosen) == 1:
        value = _side(chosen[0].attempted)
        return f"Because {chosen[0].field} is equal: {value} and {value}."
    names = ", ".join(pair.field for pair in chosen[:-1]) + f" and {chosen[-1].field}"
    values = ", ".join(_side(pair.attempted) for pair in chosen)
    return f"Because {names} are equal: {values}."
