"""Producers and spools made ready: words, tones and addresses beside the facts."""

from __future__ import annotations

from access.rows import ProjectRow
from ledger.domain.feed_states import INCOMPLETE
from ledger.present.addresses import Document, address

_LOOKS = {
    "silent": ("silent", "bad", "unlink"),
    "gap": ("gap", "gap", "diamond"),
    "dropped": ("lost some", "bad", "x"),
    "disputed": ("disputed", "bad", "users"),
    "late": ("late", "skip", "hourglass"),
    "unknown": ("not known", "plain", "circle-question-mark"),
    "complete": ("complete", "done", "check"),
    "closed": ("closed", "plain", "check"),
}
"""The states of feeds as pages show them: word, tone and symbol."""

_UNITS = ((31_557_600, "years"), (86_400, "days"), (3_600, "h"), (60, "min"), (1, "s"))
"""Units of a length, in seconds."""

_SINCE = {"complete": "until", "closed": "at"}


def producer(project: ProjectRow, one: Document) -> Document:
    """Make a row of the list ready, with its spools."""
    spools = [{**each, **_look(each), "url": _url(project, each)} for each in one["items"]]
    return {
        **one,
        **_look(one),
        "spools_more": one["spools"]["open"] - len(spools),
        "broken": [each for each in spools if each["state"] in INCOMPLETE],
        "others": [each for each in spools if each["state"] not in INCOMPLETE],
        "skew": skew_words(one["skew_s"]),
    }


def spool(project: ProjectRow, one: Document) -> Document:
    """Make a spool's page ready."""
    sender = one["sender"]
    return {
        **one,
        **_look(one),
        "also": [{**each, **_look(each)} for each in one["also"]],
        "skew": skew_words(one["skew_s"]),
        "sender_url": sender and address(project, "receipts", q=f"producer:{_quoted(sender)}"),
        "waive_url": address(project, "producers", one["spool"], "waive"),
        "disputed": bool(one["disputed_by"] or one["conflicts"]),
        "can_waive_all": bool(one["gaps"]) or one["state"] in ("silent", "dropped"),
    }


def token(project: ProjectRow, one: Document) -> Document:
    """Make a token that numbers nothing ready."""
    query = f"producer:{_quoted(one['token'])}"
    return {**one, **_look(one), "url": address(project, "receipts", q=query)}


def _look(one: Document) -> Document:
    word, tone, icon = _LOOKS[one["state"]]
    return {
        "word": word,
        "tone": tone,
        "icon": icon,
        "since_word": _SINCE.get(one["state"], "since"),
    }


def _url(project: ProjectRow, one: Document) -> str:
    return address(project, "producers", one["spool"])


def skew_words(seconds: float | None) -> str:
    """Say how far a producer's clock is from ours; its lines take a moment to come."""
    if seconds is None:
        return ""
    if abs(seconds) < 2:
        return "agrees"
    return f"{_length(abs(seconds))} {'behind' if seconds > 0 else 'ahead'}"


def _length(seconds: float) -> str:
    """Write a length in the largest unit of which it has two."""
    size, word = next((one for one in _UNITS if seconds >= 2 * one[0]), _UNITS[-1])
    return f"{seconds // size:,.0f} {word}"


def _quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
