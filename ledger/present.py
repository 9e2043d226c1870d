"""Documents made ready for templates: words, tones and addresses of pages beside the facts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from access.rows import ProjectRow
from kit import ids
from kit.search import Query, with_term, without
from ledger.domain import canonical, words
from ledger.queries import lists

Document = dict[str, Any]
PRETTY_MOST = 200_000


def address(project: ProjectRow, *parts: str, **query: str) -> str:
    """Give the address of a page; every part is a segment of its own."""
    tail = "/".join(ids.segment(part) for part in parts)
    asked = {name: value for name, value in query.items() if value}
    return f"/p/{project.slug}/{tail}" + (f"?{urlencode(asked)}" if asked else "")


def item(project: ProjectRow, one: Document) -> Document:
    """Give a row of the list what the template draws beside it."""
    pointer = one["pointer"]
    return {
        **one,
        "url": address(project, "receipts", one["ref"]),
        "explain_url": address(project, "receipts", one["ref"], "explain"),
        "verdict": _row_badge(one),
        "reason_word": "" if _says_reason(one) else words.reason_words(one["reason"]),
        "job": _job(project, one),
        "subjects": [
            {**each, "url": address(project, "subjects", each["type"], each["id"])}
            for each in one["subjects"]
        ],
        "pointer": None if pointer is None else _pointer(project, pointer),
    }


def _row_badge(one: Document) -> Document:
    """Say in a row what became of a receipt; one that is not judged says what it is."""
    code = one["verdict"]["code"]
    badge = words.badge(code)
    word, tone, icon = badge.word, badge.tone, badge.icon
    if one["state"] in ("quarantined", "oversize"):
        word, tone, icon = "set aside", "gap", "inbox"
    elif code == "unknown":
        word = words.KIND_WORDS.get(one["kind"], word)
    elif code == "fresh" and one["kind"] == "start":
        word = "started"
    return {**one["verdict"], "word": word, "tone": tone, "icon": icon}


def _says_reason(one: Document) -> bool:
    """Tell whether the verdict's words are the reason's already."""
    said = one["verdict"]["code"].partition(".")[2]
    return bool(one["kind"] != "skip" or said == one["reason"])


def rows(project: ProjectRow, items: Sequence[Document]) -> list[Document]:
    """Make all rows of a list ready."""
    return [item(project, one) for one in items]


def query(project: ProjectRow, asked: Query, page: str = "receipts") -> Document:
    """Give the search field's text, its terms with links that remove them, and its faults."""
    return {
        "q": asked.text,
        "terms": [
            {
                "label": f"{'-' if term.negated else ''}{_name(term)}:{','.join(term.values)}",
                "remove_url": address(project, page, q=without(asked, term)),
            }
            for term in asked.terms
        ],
        "faults": [
            {
                "position": fault.position,
                "detail": fault.message,
                "allowed": list(fault.allowed[:8]),
            }
            for fault in asked.faults
        ],
        "suggestions": [word for fault in asked.faults for word in fault.allowed[:3]],
    }


def bars(
    project: ProjectRow, counted: Sequence[Mapping[str, Any]], name: str, spoken: Mapping[str, str]
) -> list[Document]:
    """Make counted rows into bars; the longest is a hundred percent."""
    most = max((row["count"] for row in counted), default=0)
    return [
        {
            "word": spoken.get(row[name], row[name]) or "no reason given",
            "count": row["count"],
            "url": address(project, "receipts", q=row["q"]) if row["q"] else "",
            "percent": round(100 * row["count"] / most) if most else 0,
            "tone": _REASON_TONES.get(row[name], "skip"),
        }
        for row in counted
    ]


def raw(data: bytes | None) -> Document:
    """Give a body as text, indented where it is JSON, with a mark when it is no text."""
    if data is None:
        return {"raw_text": "", "raw_pretty": "", "raw_is_text": True}
    try:
        text, is_text = data.decode("utf-8"), True
    except UnicodeDecodeError:
        text, is_text = data.decode("utf-8", "replace"), False
    return {"raw_text": text, "raw_pretty": _pretty(data), "raw_is_text": is_text}


def _pretty(data: bytes) -> str:
    """Indent JSON without changing a number's token; empty for what is no JSON."""
    if len(data) > PRETTY_MOST:
        return ""
    try:
        value, _ = canonical.parse_any(data)
    except canonical.NotCanonical:
        return ""
    return _indented(value, "")


def _indented(value: Any, margin: str) -> str:
    inner = margin + "  "
    if isinstance(value, dict) and value:
        members = (f"{inner}{_string(k)}: {_indented(v, inner)}" for k, v in value.items())
        return "{\n" + ",\n".join(members) + f"\n{margin}}}"
    if isinstance(value, list) and value:
        lines = (f"{inner}{_indented(each, inner)}" for each in value)
        return "[\n" + ",\n".join(lines) + f"\n{margin}]"
    if isinstance(value, canonical.Number):
        return value.token
    return _string(value)


def _string(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _job(project: ProjectRow, one: Document) -> Document | None:
    job = one["job"]
    if job is None:
        return None
    source = [part for part in (job["system"], job["instance"]) if part]
    text = "/".join([*source, job["id"]])
    return {"text": text, "url": address(project, "receipts", q=f"job:{_quoted(text, job)}")}


def _quoted(text: str, job: Mapping[str, Any]) -> str:
    """Write a job as the query wants it: whole where its source is known, else by its number."""
    value = text if job["system"] and job["instance"] else job["id"]
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _pointer(project: ProjectRow, pointer: Document) -> Document:
    target = pointer["target"]
    return {
        **pointer,
        "target_text": pointer["named"] or target,
        "target_url": address(project, "receipts", target, "explain") if target else "",
    }


def _name(term: Any) -> str:
    return term.name if term.path is None else f"{term.name}.{term.path}"


_REASON_TONES = {"already_done": "done", "in_flight": "plain", "redelivery": "plain", "": "bad"}


def title(receipt: Document) -> str:
    """Name a receipt in a browser's tab."""
    number = f"№{int(receipt['leaf_index']):,}" if receipt["leaf_index"] else receipt["ref"]
    return f"{number}, {receipt['kind']}"


def receipt(project: ProjectRow, document: Document, data: bytes | None) -> Document:
    """Make one receipt ready: what was understood, what was sent, what became of it."""
    is_aside = document["state"] in ("quarantined", "oversize")
    return {
        **document,
        **raw(data),
        "raw_length": document["length"],
        "raw_url": "" if data is None else address(project, "receipts", document["ref"], "raw"),
        "explain_url": "" if is_aside else address(project, "receipts", document["ref"], "explain"),
        "tone": _KIND_TONES.get(document["kind"], "plain"),
        "faults": document["reasons"],
        "kind_sent": document["word"],
        "minted": document["minted_id"],
        "reason_word": words.reason_words(document["reason"]) if document["reason"] else "",
        "erased": "The bytes were erased; the place in the log stands." if data is None else "",
        "conflicts": [
            {**one, "url": address(project, "receipts", one["ref"])} for one in document["same_id"]
        ],
        "job": _job(project, document),
        "subjects": [
            {**one, "url": address(project, "subjects", one["type"], one["id"])}
            for one in document["subjects"]
        ],
        "deliveries": document["deliveries"]["items"],
        "deliveries_more": document["deliveries"]["count"] - len(document["deliveries"]["items"]),
        "item": _waiting(project, document) if is_aside else None,
    }


def explanation(project: ProjectRow, document: Document, length: int) -> Document:
    """Make an explanation ready; a not yet derived one has no more than its verdict."""
    badge = words.badge(document["verdict"]["code"])
    evidence = {
        **document["evidence"],
        "content_detail": f"the leaf commits to {length:,} bytes",
        "position_detail": "signed heads come with a later release",
        "witness_detail": "no witness is set up",
    }
    return {
        **document,
        "verdict": {"word": badge.word, "tone": badge.tone, "icon": badge.icon}
        | document["verdict"],
        "evidence": evidence,
        "crumbs": _crumbs(project, document.get("attempt", {})),
    }


def subject(document: Document) -> Document:
    """Make the head of a subject's page ready."""
    word, tone = _BECAME[document["became"]]
    return {**document, "became_word": word, "tone": tone}


def task_row(project: ProjectRow, one: Document) -> Document:
    """Make one task of the list ready; each number opens its list."""
    return {
        **one,
        "url": address(project, "tasks", one["task"]),
        "done_url": address(project, "receipts", q=f"{one['q']} kind:done"),
        "skipped_url": address(project, "receipts", q=f"{one['q']} kind:skip"),
        "failed_url": address(project, "receipts", q=f"{one['q']} kind:fail,discard"),
        "unexplained": None,
    }


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
        ],
        "reasons": bars(project, counted, "reason", words.REASON_WORDS),
        "list_url": address(project, "receipts", q=document["q"]),
    }


def set_aside(project: ProjectRow, one: Document) -> Document:
    """Make one row of what was set aside ready."""
    ref = one["ref"]
    is_whole = all(reason["code"] != "oversize" for reason in one["reasons"])
    outcome = ""
    if one["state"] == "redriven":
        outcome = f"stored as №{int(one['redriven_leaf']):,}"
    elif one["state"] == "closed":
        outcome = one["closed_reason"] or ""
    return {
        **one,
        "url": address(project, "receipts", ref),
        "outcome": outcome,
        "redrive_url": address(project, "quarantine", ref, "redrive") if is_whole else "",
        "close_url": address(project, "quarantine", ref, "close"),
    }


def first_curl(server: str) -> str:
    """Give a command that sends a first receipt to this server."""
    body = '{"kind":"done","id":"first-1","job":{"task":"hello"}}'
    return (
        f"curl -H 'Authorization: Bearer '$COUNTERFOIL_TOKEN -H 'Content-Type: application/json' "
        f"-d '{body}' {server}api/v1/receipts"
    )


def _waiting(project: ProjectRow, document: Document) -> Document:
    state = document["set_aside"] or {"is_open": True, "redriven_leaf": None}
    return set_aside(
        project,
        {
            "ref": document["ref"],
            "state": "open"
            if state["is_open"]
            else "redriven"
            if state["redriven_leaf"] is not None
            else "closed",
            "reasons": document["reasons"],
            "redriven_leaf": state["redriven_leaf"],
            "closed_reason": state.get("closed_reason"),
        },
    )


def _crumbs(project: ProjectRow, attempt: Document) -> list[Document]:
    invoke = attempt.get("invoke") or {}
    crumbs = []
    if invoke.get("scope"):
        scope = invoke["scope"]
        url = address(project, "receipts", q=f'scope:"{scope}"')
        crumbs.append({"text": scope, "url": url})
        if invoke.get("id"):
            found = address(project, "receipts", q=f'scope:"{scope}" invoke:"{invoke["id"]}"')
            crumbs.append({"text": invoke["id"], "url": found})
        if invoke.get("generation"):
            crumbs.append({"text": f"generation number {invoke['generation']}", "url": ""})
    elif attempt.get("job", {}).get("task"):
        name = attempt["job"]["task"]
        crumbs.append({"text": name, "url": address(project, "tasks", name)})
    return crumbs


def _reason_query(base: str, reason: str) -> str:
    return with_term(lists.parse_query(base), "reason", reason) if reason else ""


_KIND_TONES = {"done": "done", "skip": "skip", "fail": "bad", "discard": "bad"}
_BECAME = {
    "done": ("done", "done"),
    "skipped": ("skipped", "skip"),
    "failed": ("failed", "bad"),
    "cancelled": ("cancelled", "plain"),
    "in_progress": ("in progress", "plain"),
    "nothing_recorded": ("nothing recorded", "plain"),
}
