"""Skips of other kinds: each is explained by a rule or a switch that it names."""

from __future__ import annotations

from typing import Any

Receipt = dict[str, Any]
SOURCE = {"system": "demo", "instance": "others"}
OPERATOR = {"type": "person", "id": "u-17", "label": "Duty operator", "authority": "CHG-2231"}


def receipts(start: str, run: str) -> list[Receipt]:
    """Give the receipts of the small stories; `start` is an RFC 3339 time, `run` names the run."""
    told = [*_rate_limited(), *_paused(start), *_condition()]
    return [
        {
            "schema": "counterfoil.receipt/1",
            "id": f"demo-{run}-{number}",
            "occurred_at": start,
            "source": SOURCE,
            **receipt,
        }
        for number, receipt in enumerate(told)
    ]


def _rate_limited() -> list[Receipt]:
    rule = {
        "name": "mail.rate",
        "version": "7",
        "text": "At most 100 messages a minute to one domain.",
        "path": "mail/limits.py",
        "line": 12,
    }
    return [
        {
            "kind": "skip",
            "job": {"task": "mail.send", "queue": "mail"},
            "subjects": [{"type": "message", "id": f"M-{number}"}],
            "reason": "rate_limited",
            "rule": rule,
            "condition": {"result": False, "inputs": {"sent_this_minute": 100, "limit": 100}},
        }
        for number in (501, 502, 503)
    ]


def _paused(start: str) -> list[Receipt]:
    switch = {"name": "payouts.paused", "set_at": start, "actor": OPERATOR}
    pause = {"verb": "pause", "target": "queue:payouts"}
    return [
        {"kind": "act", "act": pause, "actor": OPERATOR},
        {
            "kind": "skip",
            "job": {"task": "payouts.send", "queue": "payouts"},
            "subjects": [{"type": "payout", "id": "PO-88230"}],
            "reason": "paused",
            "switch": switch,
        },
        {"kind": "act", "act": {**pause, "verb": "resume"}, "actor": OPERATOR},
    ]


def _condition() -> list[Receipt]:
    return [
        {
            "kind": "skip",
            "job": {"task": "reports.build", "queue": "reports"},
            "reason": "condition_false",
            "rule": {
                "name": "reports.has_changes",
                "version": "2",
                "text": "Build a report only when something in it has changed.",
            },
            "condition": {"result": False, "inputs": {"changed_rows": 0}},
        }
    ]
