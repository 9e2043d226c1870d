"""What a finding says in one sentence, or two, for people who do not know the code's name."""

from __future__ import annotations

from collections.abc import Callable

from events.domain import codes
from events.domain.findings import Finding
from events.domain.holes import BURNED, DELIVERY
from events.domain.records import SECOND

_SHORT = 8
_LONG = 20


def sentence(finding: Finding) -> str:
    """Tell a finding from its facts; of a code that is not known here, its rule in plain words."""
    tell = _TELL.get(finding.code)
    told = tell(finding) if tell else f"{finding.code.replace('_', ' ').capitalize()}."
    return f"{told}{_more(finding)}"


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


def _more(finding: Finding) -> str:
    more = int(finding.facts.get("more", 0))
    return f" At least {more} more like it began in that minute." if more > 1 else ""


def _at_least(finding: Finding, noun: str) -> str:
    count = int(finding.facts.get("count", 1))
    return f" So far at least {count} {noun}." if count > 1 else ""


def _seen_by(finding: Finding) -> str:
    replicas = finding.facts.get("replicas")
    return f" Seen by {replicas}." if replicas and ", " in str(replicas) else ""


def _fact(finding: Finding, name: str) -> str:
    return str(finding.facts.get(name, "?"))


def _is_above(finding: Finding) -> bool:
    high = _fact(finding, "high")
    return finding.id is not None and high.lstrip("-").isdigit() and finding.id > int(high)


def _change(finding: Finding) -> str:
    old, new = pair(finding.facts.get("from"), finding.epoch)
    begun = f"The epoch changed from {old} to {new}"
    planned = " as planned" if finding.code == codes.EPOCH_CHANGE_PLANNED else ""
    high = _fact(finding, "high")
    if _is_above(finding):
        where = f"ids went on at {finding.id}, above the last one ({high}), as if nothing happened"
    else:
        where = f"ids started over at {finding.id}; those before ended at {high}"
    passed = " By now they have climbed past it, and only the epoch tells them apart."
    climbed = passed if "climbed_at" in finding.facts and not _is_above(finding) else ""
    return f"{begun}{planned}: {where}.{climbed}{_seen_by(finding)}"


def _flap(finding: Finding) -> str:
    old, new = pair(finding.facts.get("from"), finding.epoch)
    return (
        f"The epoch went back from {old} to {new}, which was here before: two publishers hold two "
        f"epochs, and neither has ended.{_at_least(finding, 'times')}"
    )


def _regressed(finding: Finding) -> str:
    old, new = pair(finding.facts.get("from"), finding.epoch)
    if finding.rule == "late_generation":
        return (
            f"A message of epoch {new} came shortly after epoch {old} had begun: it was under way, "
            f"and the lane stays in {old}.{_at_least(finding, 'messages')}"
        )
    return (
        f"The epoch number fell from {old} to {new}: the store that hands them out most likely "
        f"lost what it had written.{_seen_by(finding)}"
    )


def _reset(finding: Finding) -> str:
    high = _fact(finding, "high")
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


def _interleave(finding: Finding) -> str:
    high = _fact(finding, "high")
    if finding.rule == "two_writers":
        return f"Id {finding.id} came again with another body: two counters take turns here."
    endings = {
        "fills_hole": "it was only out of order",
        "reordered": "so close that it was only out of order",
        "old_numbering": "it is of the counter's life before, and came late",
    }
    ending = endings.get(finding.rule, "nothing after it says that the counter restarted")
    return f"Id {finding.id} came after {high}: {ending}.{_at_least(finding, 'such ids in a row')}"


def _gap(finding: Finding) -> str:
    ids = _fact(finding, "ids")
    is_one = _fact(finding, "missing") == "1"
    subject = f"Id {ids} is missing" if is_one else f"Ids {ids} are missing"
    them, was, its = ("it", "it was", "its") if is_one else ("them", "they were", "their")
    faults = {
        BURNED: f"no replica that we watch received {them}, so {was} most likely never sent",
        DELIVERY: f"{_fact(finding, 'seen_by')} received {them}, so {was} lost on {its} way here",
    }
    unknown = f"nothing tells whether {was} lost or never sent"
    return f"{subject}: {faults.get(_fact(finding, 'fault'), unknown)}.{_filled(finding)}"


def _filled(finding: Finding) -> str:
    filled_at = finding.facts.get("filled_at")
    if not isinstance(filled_at, int):
        return ""
    seconds = (filled_at - finding.at) / SECOND
    return f" Filled {seconds:.1f} s late; clients had later ids by then."


def _tail(finding: Finding) -> str:
    return (
        f"The counter stands at {_fact(finding, 'head')}, this replica at "
        f"{_fact(finding, 'high')}: the newest ids did not arrive.{_filled(finding)}"
    )


def _duplicate(finding: Finding) -> str:
    is_body_known = finding.rule == "same_body"
    same = "the same message" if is_body_known else "the same id"
    return f"Id {finding.id} came twice to this replica: {same}."


def _retry(finding: Finding) -> str:
    return (
        f"Id {finding.id} has the body of id {_fact(finding, 'before')}, less than a minute after "
        "it: most likely one message that was published twice."
    )


def _cross(finding: Finding) -> str:
    other = _fact(finding, "other")
    own = finding.installation
    told = {
        codes.CROSS_FEED: (
            f"{own} receives the messages of {other}: epoch {short(finding.epoch)}, id "
            f"{finding.id} and body are the same."
        ),
        codes.FORKED_EPOCH: (
            f"{own} and {other} both went on with epoch {short(finding.epoch)}: id {finding.id} "
            "has two bodies. The store of one is most likely a copy of the other's."
        ),
        codes.SHARED_NAMESPACE: (
            f"{own} and {other} receive one stream on the bus {finding.bus}: they share the names "
            "of their channels."
        ),
    }
    return f"{told[finding.code]}{_at_least(finding, 'messages')}"


def _mixed(finding: Finding) -> str:
    return "Messages with an epoch and without one come to this replica: a roll is under way."


def _straggler(finding: Finding) -> str:
    return (
        "More than an hour after the first message with an epoch, one came without: a publisher "
        f"was left behind, or the roll was taken back.{_at_least(finding, 'messages')}"
    )


def _unparsable(finding: Finding) -> str:
    return "A message has no form that this replica can read: it logs the message and loses it."


def _base_jump(finding: Finding) -> str:
    return (
        f"Ids jumped from {_fact(finding, 'high')} to {finding.id}, which carries the start of a "
        "process: another kind of counter took over."
    )


def _unflipped(finding: Finding) -> str:
    return (
        f"Id {finding.id} is small although ids of another base came before: a publisher still "
        f"uses the old counter.{_at_least(finding, 'messages')}"
    )


def _incarnation(finding: Finding) -> str:
    return f"Ids have a new base from {finding.id} on: the process that counts was started anew."


def _junk_id(finding: Finding) -> str:
    return f"Id {finding.id} is large, but holds no date within 400 days of when it came."


def _precision(finding: Finding) -> str:
    return (
        f"All ids here divide by {_fact(finding, 'step')}: something on the way reads them as "
        "floating-point numbers and rounds them."
    )


def _regress(finding: Finding) -> str:
    node = finding.facts.get("node")
    where = f" on {node}" if node else ""
    return (
        f"The counter fell from {_fact(finding, 'from')} to {_fact(finding, 'to')}{where} while "
        "the epoch stayed: what was handed out in between is lost, and the epoch does not tell."
    )


def _silent(finding: Finding) -> str:
    back = " It was heard again later." if "back_at" in finding.facts else ""
    return (
        f"Neither traffic nor a frame came to {finding.replica} for 90 s while "
        f"{_fact(finding, 'sibling')} received.{back}"
    )


def _skip(finding: Finding) -> str:
    return (
        "A resume was served that had to be refused: the client missed messages and was not told."
    )


def _ambiguous(finding: Finding) -> str:
    return "A resume was served although its number exists in two ID spaces: it may mean either."


def _needless(finding: Finding) -> str:
    return "A resume was refused that could have been served: the client fetched everything anew."


_TELL: dict[str, Callable[[Finding], str]] = {
    codes.EPOCH_CHANGE: _change,
    codes.EPOCH_CHANGE_PLANNED: _change,
    codes.EPOCH_FLAP: _flap,
    codes.EPOCH_REGRESSED: _regressed,
    codes.RESET_NO_EPOCH: _reset,
    codes.INTERLEAVE: _interleave,
    codes.GAP: _gap,
    codes.TAIL_GAP: _tail,
    codes.DUPLICATE: _duplicate,
    codes.RETRY_DUP: _retry,
    codes.CROSS_FEED: _cross,
    codes.FORKED_EPOCH: _cross,
    codes.SHARED_NAMESPACE: _cross,
    codes.MIXED_FORMS: _mixed,
    codes.STRAGGLER: _straggler,
    codes.UNPARSABLE: _unparsable,
    codes.BASE_JUMP: _base_jump,
    codes.UNFLIPPED_PUBLISHER: _unflipped,
    codes.NEW_INCARNATION: _incarnation,
    codes.JUNK_ID: _junk_id,
    codes.PRECISION_LOSS: _precision,
    codes.HW_REGRESS: _regress,
    codes.LANE_SILENT: _silent,
    codes.SILENT_SKIP: _skip,
    codes.AMBIGUOUS_RESUME: _ambiguous,
    codes.NEEDLESS_RESYNC: _needless,
}
