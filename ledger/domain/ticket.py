"""The two sides of the torn ticket: the attempt and its original, row by row."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime

from ledger.domain import accounts, decisive, plain
from ledger.domain.statement import Statement


@dataclass(frozen=True, slots=True)
class Row:
    """One line across both sides; a side that has no such value is None.

    `field` is the name as the producer gave it, or ours for what is no key field.
    `role` is "used" for a key field, "ignored" for one that the rule does not compare, "stated"
    for what a receipt that is no skip says, "fact" for all else; `mark` is "equal", "differs",
    "not compared" or empty, to stand on the tear.
    """

    field: str
    attempted: str | None
    original: str | None
    role: str
    mark: str

    def as_json(self) -> dict[str, str | None]:
        """Return the row as a JSON object."""
        return asdict(self)


def rows(attempt: Statement, original: Statement | None) -> list[Row]:
    """Align an attempt with its original: key fields, then facts, ignored fields, and times."""
    return [
        *(Row(name, value, None, "stated", "") for name, value in accounts.fields(attempt)),
        *_used(attempt, original),
        *_facts(attempt, original),
        *_ignored(attempt, original),
        _times(attempt, original),
    ]


def _used(attempt: Statement, original: Statement | None) -> list[Row]:
    return [
        Row(
            pair.field,
            _read(pair.attempted),
            _read(pair.original),
            "used",
            _mark(pair.attempted, pair.original, original),
        )
        for pair in decisive.pairs(attempt, original)
    ]


def _read(text: str | None) -> str | None:
    return None if text is None else plain.text_of_json(text)


def _mark(ours: str | None, theirs: str | None, original: Statement | None) -> str:
    if original is None:
        return ""
    return "equal" if ours == theirs else "differs"


def _facts(attempt: Statement, original: Statement | None) -> list[Row]:
    in_key = {name for name, _ in attempt.key_fields}
    found = []
    for name in ("task", "scope", "invoke_id", "generation", "element"):
        ours = getattr(attempt, name) or None
        theirs = (getattr(original, name) or None) if original is not None else None
        if (ours or theirs) and name not in in_key:
            known = original if ours and theirs else None
            found.append(Row(name, ours, theirs, "fact", _mark(ours, theirs, known)))
    return found


def _ignored(attempt: Statement, original: Statement | None) -> list[Row]:
    ours = dict(attempt.key_ignored)
    theirs = dict(original.key_ignored) if original is not None else {}
    names = [*ours, *(name for name in theirs if name not in ours)]
    return [
        Row(name, ours.get(name), theirs.get(name), "ignored", "not compared") for name in names
    ]


def _times(attempt: Statement, original: Statement | None) -> Row:
    theirs = _moment(original.happened_at) if original is not None else None
    return Row("at", _moment(attempt.happened_at), theirs, "fact", apart(attempt, original))


def _moment(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M:%S}.{at.microsecond // 1000:03d} UTC"


def apart(attempt: Statement, original: Statement | None) -> str:
    """Return how long after its original an attempt happened, or "" without one."""
    if original is None:
        return ""
    return duration((attempt.happened_at - original.happened_at).total_seconds())


def duration(seconds: float) -> str:
    """Return a distance in time in words: "29.6 s later", "2 h 5 min earlier".

    What would round to no tenth of a second is "at the same time".
    """
    if abs(seconds) < 0.05:
        return "at the same time"
    side, length = ("later", seconds) if seconds >= 0 else ("earlier", -seconds)
    if length < 60:
        return f"{length:.1f} s {side}"
    minutes, hours, days = int(length // 60), int(length // 3600), int(length // 86400)
    if hours < 1:
        return f"{minutes} min {int(length % 60)} s {side}"
    if days < 1:
        return f"{hours} h {minutes % 60} min {side}"
    return f"{days} d {hours % 24} h {side}"
