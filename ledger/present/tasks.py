"""Tasks made ready: each number opens its list."""

from __future__ import annotations

from collections.abc import Sequence

from access.rows import ProjectRow
from kit.search import with_term
from ledger.domain import words
from ledger.present.addresses import Document, address
from ledger.present.lists import bars
from ledger.queries import lists


def task_row(project: ProjectRow, one: Document) -> Document:
    """Make one task of the list ready; each number opens its list."""
    return {
        **one,
        "url": address(project, "tasks", one["task"]),
        "done_url": address(project, "receipts", q=f"{one['q']} kind:done"),
        "skipped_url": address(project, "receipts", q=f"{one['q']} kind:skip"),
        "tallies_url": address(project, "receipts", q=one["tallies_q"]),
        "failed_url": address(project, "receipts", q=f"{one['q']} kind:fail,discard"),
        "seen": ", ".join(sorted({*one["ways"]["told"], *one["ways"]["seen"]})) or "not known",
        "skips_seen": ", ".join(one["ways"]["skips"]),
        "recorded": recorded(one["recording"]),
        "recording": [
            {
                **each,
                "word": CHOICES[each["choice"]],
                "policy": policy_name(each),
                "url": address(project, "receipts", each["ref"]),
            }
            for each in one["recording"]
        ],
    }


def recorded(recording: Sequence[Document]) -> str:
    """Say how ordinary outcomes of a task are recorded, by each word once."""
    return ", ".join(dict.fromkeys(CHOICES[each["choice"]] for each in recording))


def policy_row(project: ProjectRow, one: Document) -> Document:
    """Make a recording policy ready."""
    return {**one, "url": address(project, "receipts", one["ref"])}


def policy_name(one: Document) -> str:
    """Name a policy by its version and its source."""
    version = f"policy {one['version']}" if one["version"] else "a policy without a version"
    return f"{version} of {one['source']}" if one["source"] else version


CHOICES = {"each": "singly", "tally": "tallied", "never": "not recorded"}
"""What a policy does with the ordinary outcomes of a task."""


def task(project: ProjectRow, document: Document) -> Document:
    """Make one task's page ready."""
    row = task_row(project, document)
    names = (("done", "done"), ("skipped", "skipped"), ("failed", "failed"))
    counted = [
        {"reason": reason, "count": count, "q": _reason_query(document["q"], reason)}
        for reason, count in sorted(
            document["skipped_by_reason"].items(), key=lambda one: (-one[1], one[0])
        )
    ]
    return {
        **row,
        "figures": [
            {"value": document[name], "label": f"{label}, last 24 h", "url": row[f"{name}_url"]}
            for name, label in names
        ]
        + _tallied(project, document),
        "reasons": bars(project, counted, "reason", words.REASON_WORDS),
        "list_url": address(project, "receipts", q=document["q"]),
    }


def _tallied(project: ProjectRow, document: Document) -> list[Document]:
    """Count the outcomes in tallies; a tally is about many tasks, so the list has those of all."""
    url = task_row(project, document)["tallies_url"]
    labels = {"done": "done, in tallies", "retried": "retried, in tallies"}
    found = document["tallied"]
    return [
        {"value": found[name], "label": label, "url": url}
        for name, label in labels.items()
        if found[name]
    ]


def _reason_query(base: str, reason: str) -> str:
    return with_term(lists.parse_query(base), "reason", reason) if reason else ""
