"""What replicas told made ready for templates: answers to resumes, resets, counters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from access.rows import ProjectRow
from events.domain.roll_counters import NOTHING, OK, UNUSUAL, WRONG
from events.present import code
from events.queries.answers import ANY, CODES
from events.queries.finding_words import mark_of
from kit.http import rfc3339
from ledger.present import address

Document = dict[str, Any]


def answer(project: ProjectRow, one: Document) -> Document:
    """Give an answer that was really given, of a ledger."""
    asked = {"cursor": one["cursor"], "epoch": one["cursor_epoch"] or "",
             "channel": one["channel"] or "", "at": rfc3339(one["at"])}  # fmt: skip
    return {
        **one,
        "url": address(project, "receipts", one["ref"]) if one["ref"] else "",
        "lane_url": address(project, "lanes", one["lane"]),
        "bus_url": address(project, "buses", one["bus_id"]),
        "try_url": address(project, "lanes", one["lane"], "resume", **asked),
        "mark": code(one["code"]),
    }


def answer_choices(
    project: ProjectRow, installation: str, asked: Mapping[str, str]
) -> list[Document]:
    """Give the codes of answers as links that narrow their list."""
    words = {"": "All answers", ANY: "Those that the rule does not give"}
    words |= {name: mark_of(name).word.capitalize() for name in CODES}
    return [
        {
            "word": word,
            "current": name == asked["code"],
            "url": address(
                project, "installations", installation, "resumes", **{**asked, "code": name}
            ),
        }
        for name, word in words.items()
    ]


def reset(project: ProjectRow, installation: str, one: Document) -> Document:
    """Give a reset that a replica told of."""
    tail = ("installations", installation, "resets")
    return {
        **one,
        "url": address(project, "receipts", one["ref"]) if one["ref"] else "",
        "reason_url": address(project, *tail, reason=one["reason"]),
        "replica_url": address(project, *tail, replica=one["replica"]),
        "told": list(one["fields"].items()),
    }


def reset_reasons(
    project: ProjectRow, installation: str, counts: Sequence[Document], asked: Mapping[str, str]
) -> list[Document]:
    """Give the counts by reason and replica as links that narrow the list."""
    tail = ("installations", installation, "resets")
    return [
        {
            **one,
            "current": (one["reason"], one["replica"]) == (asked["reason"], asked["replica"]),
            "url": address(
                project, *tail, reason=one["reason"], replica=one["replica"],
                as_of=asked["as_of"],
            ),
        }
        for one in counts
    ]  # fmt: skip


_VERDICTS = {
    OK: ("done", "as expected", "check"),
    UNUSUAL: ("gap", "unusual", "diamond"),
    WRONG: ("bad", "not allowed", "triangle-alert"),
    NOTHING: ("plain", "not known", "circle-question-mark"),
}


def board(project: ProjectRow, installation: str, document: Document) -> Document:
    """Give the rollout board with a badge for each verdict and the resets behind each counter."""
    return {
        **document,
        "items": [
            {
                **one,
                "mark": _verdict(one["verdict"]),
                "cells": [
                    {
                        **cell,
                        "mark": _cell_mark(cell),
                        "url": address(
                            project, "installations", installation, "resets",
                            reason=cell["counter"], replica=one["replica"],
                        ),
                    }
                    for cell in one["cells"]
                ],
            }
            for one in document["items"]
        ],
    }  # fmt: skip


def _cell_mark(cell: Document) -> Document:
    """Give the badge of a counter; one that nobody looked at is neither well nor bad."""
    if cell["total"] is None:
        word = "no such counter" if cell["rule"] == "not_counted" else "not looked at"
        return {"tone": "plain", "word": word, "icon": "minus"}
    return _verdict(cell["verdict"])


def _verdict(name: str) -> Document:
    tone, word, icon = _VERDICTS[name]
    return {"tone": tone, "word": word, "icon": icon}
