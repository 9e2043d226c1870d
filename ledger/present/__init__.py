"""Documents made ready for templates: words, tones and addresses of pages beside the facts."""

from __future__ import annotations

from ledger.present.addresses import address
from ledger.present.lists import bars, item, query, rows
from ledger.present.receipts import explanation, first_curl, receipt, set_aside, subject, title
from ledger.present.tasks import policy_row, task, task_row
from ledger.present.traces import trace

__all__ = [
    "address",
    "bars",
    "explanation",
    "first_curl",
    "item",
    "policy_row",
    "query",
    "receipt",
    "rows",
    "set_aside",
    "subject",
    "task",
    "task_row",
    "title",
    "trace",
]
