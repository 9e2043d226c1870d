"""What a finding says in one sentence, or two, for people who do not know the code's name."""

from __future__ import annotations

from collections.abc import Callable

from events.domain import codes
from events.domain import counter_sentences as counters
from events.domain import message_sentences as messages
from events.domain.findings import Finding
from events.domain.resume import UNSETTLED

_TELL: dict[str, Callable[[Finding], str]] = {
    codes.EPOCH_CHANGE: counters.change,
    codes.EPOCH_CHANGE_PLANNED: counters.change,
    codes.EPOCH_FLAP: counters.flap,
    codes.EPOCH_REGRESSED: counters.regressed,
    codes.RESET_NO_EPOCH: counters.reset,
    codes.INTERLEAVE: counters.interleave,
    codes.GAP: messages.gap,
    codes.TAIL_GAP: messages.tail,
    codes.DUPLICATE: messages.duplicate,
    codes.RETRY_DUP: messages.retry,
    codes.CROSS_FEED: messages.cross,
    codes.FORKED_EPOCH: messages.cross,
    codes.SHARED_NAMESPACE: messages.cross,
    codes.MIXED_FORMS: messages.mixed,
    codes.STRAGGLER: messages.straggler,
    codes.UNPARSABLE: messages.unparsable,
    codes.BASE_JUMP: counters.base_jump,
    codes.UNFLIPPED_PUBLISHER: counters.unflipped,
    codes.NEW_INCARNATION: counters.incarnation,
    codes.JUNK_ID: counters.junk_id,
    codes.PRECISION_LOSS: counters.precision,
    codes.HW_REGRESS: counters.regress,
    codes.LANE_SILENT: messages.silent,
}
_OF_ANSWERS = {
    codes.SILENT_SKIP: (
        "A resume was served that had to be refused: the client missed messages and was not told."
    ),
    codes.AMBIGUOUS_RESUME: (
        "A resume was served although its number exists in two ID spaces: it may mean either."
    ),
    codes.NEEDLESS_RESYNC: (
        "A resume was refused that could have been served: the client fetched everything anew."
    ),
}

_UNSETTLED = (
    "A resume was served while nothing told whether the counter had begun anew: it may mean a place"
    " in either life."
)


def sentence(finding: Finding) -> str:
    """Tell a finding from its facts; one of a code that is not known here says the code."""
    tell = _TELL.get(finding.code)
    told = tell(finding) if tell else _of_answer(finding)
    return f"{told}{_more(finding)}"


def _of_answer(finding: Finding) -> str:
    if finding.code == codes.AMBIGUOUS_RESUME and finding.rule == UNSETTLED:
        return _UNSETTLED
    return _OF_ANSWERS.get(finding.code, _plain(finding.code))


def _plain(code: str) -> str:
    return f"{code.replace('_', ' ').capitalize()}."


def _more(finding: Finding) -> str:
    more = int(finding.facts.get("more", 0))
    return f" At least {more} more like it began in that minute." if more > 1 else ""
