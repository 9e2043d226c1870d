"""The codes of findings: how serious each is, and its word, letter and icon on pages.

Source: reference/events-and-loops.md section 4; design section 4 for the words.
"""

from __future__ import annotations

from dataclasses import dataclass

from events.domain.findings import CRITICAL, NOTE, WARNING

EPOCH_CHANGE = "EPOCH_CHANGE"
EPOCH_CHANGE_PLANNED = "EPOCH_CHANGE_PLANNED"
EPOCH_FLAP = "EPOCH_FLAP"
EPOCH_REGRESSED = "EPOCH_REGRESSED"
RESET_NO_EPOCH = "RESET_NO_EPOCH"
INTERLEAVE = "INTERLEAVE"
GAP = "GAP"
TAIL_GAP = "TAIL_GAP"
DUPLICATE = "DUPLICATE"
RETRY_DUP = "RETRY_DUP"
CROSS_FEED = "CROSS_FEED"
FORKED_EPOCH = "FORKED_EPOCH"
SHARED_NAMESPACE = "SHARED_NAMESPACE"
MIXED_FORMS = "MIXED_FORMS"
STRAGGLER = "STRAGGLER"
UNPARSABLE = "UNPARSABLE"
BASE_JUMP = "BASE_JUMP"
UNFLIPPED_PUBLISHER = "UNFLIPPED_PUBLISHER"
NEW_INCARNATION = "NEW_INCARNATION"
JUNK_ID = "JUNK_ID"
PRECISION_LOSS = "PRECISION_LOSS"
HW_REGRESS = "HW_REGRESS"
LANE_SILENT = "LANE_SILENT"
SILENT_SKIP = "SILENT_SKIP"
AMBIGUOUS_RESUME = "AMBIGUOUS_RESUME"
NEEDLESS_RESYNC = "NEEDLESS_RESYNC"


@dataclass(frozen=True, slots=True)
class Mark:
    """How a code is shown: severity, a letter of its own, an icon's name, and a few words."""

    severity: str
    letter: str
    icon: str
    word: str


MARKS: dict[str, Mark] = {
    EPOCH_CHANGE: Mark(WARNING, "E", "milestone", "epoch changed"),
    EPOCH_CHANGE_PLANNED: Mark(NOTE, "e", "milestone", "epoch changed as planned"),
    EPOCH_FLAP: Mark(WARNING, "F", "repeat", "two epochs at once"),
    EPOCH_REGRESSED: Mark(WARNING, "B", "undo-2", "epoch went back"),
    RESET_NO_EPOCH: Mark(CRITICAL, "R", "rotate-ccw", "counter restarted unannounced"),
    INTERLEAVE: Mark(NOTE, "I", "shuffle", "out of order"),
    GAP: Mark(WARNING, "G", "diamond", "ids missing"),
    TAIL_GAP: Mark(WARNING, "T", "diamond", "newest ids missing"),
    DUPLICATE: Mark(NOTE, "D", "copy", "same message twice"),
    RETRY_DUP: Mark(WARNING, "d", "copy", "sent again under another id"),
    CROSS_FEED: Mark(CRITICAL, "X", "merge", "fed by another installation"),
    FORKED_EPOCH: Mark(CRITICAL, "Y", "git-fork", "one epoch, two histories"),
    SHARED_NAMESPACE: Mark(CRITICAL, "N", "merge", "names shared with another installation"),
    MIXED_FORMS: Mark(NOTE, "M", "layers", "two wire forms"),
    STRAGGLER: Mark(WARNING, "S", "clock", "a publisher left behind"),
    UNPARSABLE: Mark(CRITICAL, "U", "triangle-alert", "unreadable"),
    BASE_JUMP: Mark(WARNING, "J", "arrow-up", "ids jumped to another base"),
    UNFLIPPED_PUBLISHER: Mark(WARNING, "P", "arrow-down", "a publisher on the old ids"),
    NEW_INCARNATION: Mark(NOTE, "A", "power", "a new process counts"),
    JUNK_ID: Mark(WARNING, "Z", "triangle-alert", "an id without a date"),
    PRECISION_LOSS: Mark(CRITICAL, "L", "triangle-alert", "ids rounded"),
    HW_REGRESS: Mark(CRITICAL, "H", "undo-2", "counter fell back"),
    LANE_SILENT: Mark(WARNING, "Q", "volume-off", "replica silent"),
    SILENT_SKIP: Mark(CRITICAL, "K", "triangle-alert", "skipped in silence"),
    AMBIGUOUS_RESUME: Mark(WARNING, "?", "circle-question-mark", "resume could mean two places"),
    NEEDLESS_RESYNC: Mark(NOTE, "O", "refresh-cw", "refused without need"),
}
"""Every code that a bus can show; docs/reference/findings.md has an entry for each."""
_UNKNOWN = Mark(WARNING, "!", "triangle-alert", "finding")


def mark_of(code: str) -> Mark:
    """Return how a code is shown; one of a later release is shown as a plain finding."""
    return MARKS.get(code, _UNKNOWN)
