"""Sentences about messages: missing, doubled, unreadable, or of another installation."""

from __future__ import annotations

from events.domain import codes
from events.domain.findings import WARNING, Finding
from events.domain.holes import BURNED, DELIVERY
from events.domain.saying import at_least, fact, filled, short


def gap(finding: Finding) -> str:
    """Tell of missing ids."""
    ids = fact(finding, "ids")
    is_one = fact(finding, "missing") == "1"
    subject = f"Id {ids} is missing" if is_one else f"Ids {ids} are missing"
    them, was, its = ("it", "it was", "its") if is_one else ("them", "they were", "their")
    faults = {
        BURNED: f"no replica that we watch received {them}, so {was} most likely never sent",
        DELIVERY: f"{fact(finding, 'seen_by')} received {them}, so {was} lost on {its} way here",
    }
    unknown = f"nothing tells whether {was} lost or never sent"
    return f"{subject}: {faults.get(fact(finding, 'fault'), unknown)}.{filled(finding)}"


def tail(finding: Finding) -> str:
    """Tell of missing newest ids."""
    return (
        f"The counter stands at {fact(finding, 'head')}, this replica at "
        f"{fact(finding, 'high')}: the newest ids did not arrive.{filled(finding)}"
    )


def duplicate(finding: Finding) -> str:
    """Tell of the same message twice."""
    is_body_known = finding.rule == "same_body"
    same = "the same message" if is_body_known else "the same id"
    return f"Id {finding.id} came twice to this replica: {same}."


def retry(finding: Finding) -> str:
    """Tell of one body under two ids."""
    return (
        f"Id {finding.id} has the body of id {fact(finding, 'before')}, less than a minute after "
        "it: most likely one message that was published twice."
    )


def cross(finding: Finding) -> str:
    """Tell of two installations with one stream."""
    other = fact(finding, "other")
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
    return f"{told[finding.code]}{_perhaps(finding)}{at_least(finding, 'messages')}"


def _perhaps(finding: Finding) -> str:
    """Say that two installations may have chosen one epoch, where it is too short to be drawn."""
    if finding.severity != WARNING:
        return ""
    return " The epoch is so short that both may have chosen it, and then this is chance."


def mixed(finding: Finding) -> str:
    """Tell of two forms on the wire."""
    return "Messages with an epoch and without one come to this replica: a roll is under way."


def straggler(finding: Finding) -> str:
    """Tell of a publisher left behind."""
    return (
        "More than an hour after the first message with an epoch, one came without: a publisher "
        f"was left behind, or the roll was taken back.{at_least(finding, 'messages')}"
    )


def unparsable(finding: Finding) -> str:
    """Tell of a message in no form."""
    return "A message has no form that this replica can read: it logs the message and loses it."


def silent(finding: Finding) -> str:
    """Tell of a silent replica."""
    back = " It was heard again later." if "back_at" in finding.facts else ""
    return (
        f"Neither traffic nor a frame came to {finding.replica} for 90 s while "
        f"{fact(finding, 'sibling')} received.{back}"
    )
