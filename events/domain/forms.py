"""Forms on the wire: what a lane received with an epoch, without one, or in neither form.

Liveness frames are no form. Two forms in one lane are a roll in progress; a bare message more than
an hour after the first prefixed one comes from a publisher that was left behind.
"""

from __future__ import annotations

from typing import Any

from events.domain import codes
from events.domain.desk import Desk
from events.domain.incidents import ROLL
from events.domain.records import BARE, PREFIXED, Record


class Forms:
    """The forms that a lane has received; `newest` is that of the last message with an id."""

    __slots__ = ("_is_mixed", "_prefixed_at", "_seen", "newest")

    def __init__(self, state: list[Any] | None = None) -> None:
        told: list[Any] = state or [[], None, False, ""]
        self._seen: set[str] = set(told[0])
        self._prefixed_at: int | None = told[1]
        self._is_mixed: bool = told[2]
        self.newest: str = told[3]

    def is_known(self, form: str) -> bool:
        """Tell whether a form needs no look: it is that of the message before, and not late."""
        return form == self.newest and (form != BARE or self._prefixed_at is None)

    def note(self, desk: Desk, record: Record) -> None:
        """Take the form of a message with an id."""
        form = record.form
        self.newest = form
        self._seen.add(form)
        if form == PREFIXED and self._prefixed_at is None:
            self._prefixed_at = record.at
        first = self._prefixed_at
        if form == BARE and first is not None and record.at - first > ROLL:
            name = f"{codes.STRAGGLER}\n{record.replica}"
            facts = {"prefixed_at": first, **_publisher(record)}
            desk.incidents.note(name, codes.STRAGGLER, record, "bare_after_roll", facts)
        elif len(self._seen) > 1 and not self._is_mixed:
            self._is_mixed = True
            desk.open(codes.MIXED_FORMS, record, "both_forms", facts=_publisher(record))

    def state(self) -> list[Any]:
        """Give them as JSON."""
        return [sorted(self._seen), self._prefixed_at, self._is_mixed, self.newest]


def _publisher(record: Record) -> dict[str, str | int]:
    return {"publisher": record.publisher} if record.publisher else {}


def note_junk(desk: Desk, record: Record) -> None:
    """Tell of a message that is in neither form: a reader of an older version loses it."""
    facts: dict[str, str | int] = {}
    if record.fingerprint:
        facts["fingerprint"] = record.fingerprint
    desk.open(codes.UNPARSABLE, record, "neither_form", facts=facts)
