"""One receipt, its explanation, a business object and what was set aside, made ready."""

from __future__ import annotations

from access.rows import ProjectRow
from ledger.domain import words
from ledger.present.addresses import Document, address, job_link
from ledger.present.bodies import raw
from ledger.present.traces import trace


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
        "job": job_link(project, document),
        "trace": trace(project, document["trace_id"]),
        "subjects": [
            {**one, "url": address(project, "subjects", one["type"], one["id"])}
            for one in document["subjects"]
        ],
        "deliveries": document["deliveries"]["items"],
        "deliveries_more": document["deliveries"]["count"] - len(document["deliveries"]["items"]),
        "item": _waiting(project, document) if is_aside else None,
    }


_KIND_TONES = {"done": "done", "skip": "skip", "fail": "bad", "discard": "bad"}


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
        "known": _known(project, document.get("known", {})),
        "crumbs": _crumbs(project, document.get("attempt", {})),
        "trace": _trace_of(project, document.get("attempt", {})),
        "sections": [_section(project, one) for one in document.get("sections", [])],
    }


def _trace_of(project: ProjectRow, attempt: Document) -> Document | None:
    return trace(project, (attempt.get("trace") or {}).get("trace_id"))


def _section(project: ProjectRow, section: Document) -> Document:
    """Give what an app adds the addresses of its pages."""
    placed = {
        name: [
            {**one, "url": f"/p/{project.slug}/{one['path']}" if one["path"] else ""}
            for one in section[name]
        ]
        for name in ("rows", "links")
    }
    return {**section, **placed}


def _crumbs(project: ProjectRow, attempt: Document) -> list[Document]:
    invoke = attempt.get("invoke") or {}
    crumbs = []
    if invoke.get("scope"):
        scope = invoke["scope"]
        crumbs.append({"text": scope, "url": address(project, "scopes", scope)})
        if invoke.get("id"):
            found = address(project, "scopes", scope, "invokes", invoke["id"])
            crumbs.append({"text": invoke["id"], "url": found})
        if invoke.get("generation"):
            crumbs.append({"text": f"generation number {invoke['generation']}", "url": ""})
    elif attempt.get("job", {}).get("task"):
        name = attempt["job"]["task"]
        crumbs.append({"text": name, "url": address(project, "tasks", name)})
    return crumbs


def _known(project: ProjectRow, known: Document) -> Document:
    """Give what else is on record the addresses of its lists."""
    listed: Document = {name: [] for name in ("groups", "lists")} | known
    return {
        **known,
        **{
            name: [
                {**one, "url": one["q"] and address(project, "receipts", q=one["q"])}
                for one in listed[name]
            ]
            for name in ("groups", "lists")
        },
    }


def subject(document: Document) -> Document:
    """Make the head of a subject's page ready."""
    word, tone = _BECAME[document["became"]]
    return {**document, "became_word": word, "tone": tone}


_BECAME = {
    "done": ("done", "done"),
    "skipped": ("skipped", "skip"),
    "failed": ("failed", "bad"),
    "cancelled": ("cancelled", "plain"),
    "in_progress": ("in progress", "plain"),
    "nothing_recorded": ("nothing recorded", "plain"),
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


def first_curl(server: str) -> str:
    """Give a command that sends a first receipt to this server."""
    body = '{"kind":"done","id":"first-1","job":{"task":"hello"}}'
    return (
        f"curl -H 'Authorization: Bearer '$COUNTERFOIL_TOKEN -H 'Content-Type: application/json' "
        f"-d '{body}' {server}api/v1/receipts"
    )
