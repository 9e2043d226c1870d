"""Documents about jobs made ready for templates: addresses and words beside the facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import urlencode

from access.rows import ProjectRow
from jobs import drawing
from kit.search import Term, render
from ledger import present as ledger_present
from ledger.domain import words
from ledger.present import address

Document = dict[str, Any]
_TONES = {"completed": "done", "discarded": "bad", "failed": "bad", "cancelled": "plain"}
_ICONS = {"completed": "check", "discarded": "x", "failed": "x", "cancelled": "ban"}


def job_url(project: ProjectRow, system: str, instance: str, number: str) -> str:
    """Give the address of a job's page."""
    return address(project, "jobs", system, instance, number)


def name_url(project: ProjectRow, name: str) -> str:
    """Give the address of a job from its name, system/instance/number."""
    return job_url(project, *name.split("/", 2))


def row(project: ProjectRow, one: Document) -> Document:
    """Give a row of a list of jobs."""
    job = one["job"]
    source = "/".join(part for part in (job["system"], job["instance"]) if part)
    return {
        **one,
        **job,
        "source": source,
        "url": job_url(project, job["system"] or "", job["instance"] or "", job["id"]),
        "scope": one["logical_scope"],
        "scope_url": _scope_url(project, one["logical_scope"]),
        "invoke_url": _invoke_url(project, one["logical_scope"], job["invoke"]),
        "state_tone": _TONES.get(job["state"] or "", "plain"),
        "state_icon": _ICONS.get(job["state"] or "", "circle"),
        "at": job["finished_at"] or job["attempted_at"] or job["inserted_at"],
    }


def _scope_url(project: ProjectRow, scope: str | None) -> str:
    return address(project, "scopes", scope) if scope else ""


def _invoke_url(project: ProjectRow, scope: str | None, invoke: str | None) -> str:
    return address(project, "scopes", scope, "invokes", invoke) if scope and invoke else ""


def job(project: ProjectRow, document: Document) -> Document:
    """Give the page of one job."""
    facts = row(project, {**document, "leaf_index": ""})
    skips = document["skipped_because"]
    other = document["original"]
    return {
        **facts,
        "states": [_state(project, one) for one in document["states"]],
        "runs": [_run(project, one) for one in document["runs"]],
        "traces": [ledger_present.trace(project, one) for one in document["traces"]],
        "skips": {
            "count": skips["count"].value,
            "is_more": skips["count"].value > len(skips["items"])
            or skips["count"].method != "exact",
            "items": ledger_present.rows(project, skips["items"]),
            "url": address(project, "receipts", q=f'original:"{document["job"]["name"]}"'),
        },
        "call": [row(project, one) for one in document["call"]],
        "other_url": name_url(project, other["job"]) if other else "",
        "other": other["job"] if other else "",
        "receipts_url": address(project, "receipts", q=f'job:"{document["job"]["name"]}"'),
        "cannot_know": document["cannot_know"],
    }


_ENDED = {
    "done": ("done", "done", "check"),
    "fail": ("bad", "failed", "x"),
    "retry": ("plain", "to run again", "rotate-ccw"),
    "discard": ("plain", "discarded", "ban"),
    "skip": ("skip", "ended by a skip", "skip"),
}


def _run(project: ProjectRow, one: Document) -> Document:
    """Give one execution; one without an end on record says so."""
    tone, word, icon = _ENDED.get(one["ended"] or "", ("gap", "no end on record", "diamond"))
    return {
        **one,
        "tone": tone,
        "word": word,
        "icon": icon,
        "begun_url": address(project, "receipts", one["begun_by"]),
        "ended_url": address(project, "receipts", one["ended_by"]) if one["ended_by"] else "",
    }


def _state(project: ProjectRow, one: Document) -> Document:
    state = one["state"]
    word = state if one["via"] == "row" else words.KIND_WORDS.get(state, state)
    return {
        **one,
        "word": word,
        "tone": {"done": "done", "fail": "bad"}.get(state, _TONES.get(state, "plain")),
        "icon": {"done": "check", "fail": "x"}.get(state, _ICONS.get(state, "circle")),
        "url": address(project, "receipts", one["ref"]),
    }


def scope(project: ProjectRow, document: Document) -> Document:
    """Give the page of one run."""
    lost = sum(one["lost"] for one in document["invokes"])
    return {
        **document,
        "lost": lost,
        "invokes": [
            {
                **one,
                "url": _of_source(_invoke_url(project, document["scope"], one["invoke"]), document),
                "latest": row(project, one["latest"]),
                "items": [row(project, each) for each in one["items"]],
            }
            for one in document["invokes"]
        ],
        "choices": _choices(document, address(project, "scopes", document["scope"])),
        "timers": [row(project, one) for one in document["timers"]],
        "timeline": drawing.timeline_of(
            [row(project, one) for one in document["runs"]],
            ledger_present.rows(project, document["skips"]),
        ),
        "reasons": ledger_present.bars(
            project, _reasons(document), "reason", _verdict_words(document)
        ),
        "strip": [_strip_row(project, document, one) for one in document["strip"]],
        "jobs_url": address(project, "jobs", q=_of_run(document)),
        "skips_url": address(project, "receipts", q=_of_run(document, Term("kind", ("skip",)))),
        "unresolved_url": address(
            project, "receipts", q=_of_run(document, Term("pointer", ("unresolved",)))
        ),
    }


def _of_run(document: Document, *further: Term) -> str:
    """Write the query for a run: under all scopes that it is stored, of its source alone."""
    terms = [Term("scope", (document["scope"], *document["packed"])), *further]
    if document["source"]:
        terms.append(Term("source", (document["source"],)))
    return render(terms)


def _strip_row(project: ProjectRow, document: Document, one: Document) -> Document:
    """Let the numbers of a generation open their lists."""
    generation, skips = Term("gen", (one["value"],)), Term("kind", ("skip",))
    return {
        **one,
        "jobs_url": address(project, "jobs", q=_of_run(document, generation)),
        "skips_url": address(project, "receipts", q=_of_run(document, generation, skips)),
    }


def _of_source(url: str, document: Document) -> str:
    """Keep to the source that a page is of, where others have the same name."""
    if len(document["sources"]) < 2:
        return url
    return f"{url}?{urlencode({'source': document['source']})}"


def _choices(document: Document, url: str) -> list[Document]:
    """Lead to the same name of other sources."""
    others = [one for one in document["sources"] if one != (document["source"] or "")]
    return [{"source": one, "url": f"{url}?{urlencode({'source': one})}"} for one in others]


def _reasons(document: Document) -> list[Document]:
    return [
        {**one, "q": _of_run(document, Term("verdict", (one["reason"],)))}
        for one in document["reasons"]
    ]


def _verdict_words(document: Document) -> dict[str, str]:
    return {one["reason"]: words.badge(one["reason"]).word for one in document["reasons"]}


def invoke(project: ProjectRow, document: Document, asked: dict[str, str]) -> Document:
    """Give the page of one call of a run."""
    tail = ("scopes", document["scope"], "invokes", document["invoke"])
    kept = {name: value for name, value in asked.items() if name != "until"}
    return {
        **document,
        "scope_url": _of_source(_scope_url(project, document["scope"]), document),
        "choices": _choices(document, address(project, *tail)),
        "generations": [_generation(project, one) for one in document["generations"]],
        "rows": [_matrix_row(project, one) for one in document["rows"]],
        "older_url": _until(project, tail, kept, document["older"]),
        "newer_url": _until(project, tail, kept, document["newer"]),
        "lab_url": address(project, "simulate", q=f'scope:"{document["scope"]}"'),
    }


def _until(
    project: ProjectRow, tail: Sequence[str], kept: dict[str, str], until: str | None
) -> str:
    return address(project, *tail, **kept, until=until) if until is not None else ""


def _generation(project: ProjectRow, one: Document) -> Document:
    return {
        **one,
        "job": row(project, one["job"]) if one["job"] else None,
        "items": [row(project, each) for each in one["items"]],
    }


def _matrix_row(project: ProjectRow, one: Document) -> Document:
    return {**one, "cells": [_cell(project, cell) for cell in one["cells"]]}


def _cell(project: ProjectRow, cell: Document) -> Document:
    state = cell.get("state") or ""
    return {
        **cell,
        "tone": _TONES.get(state, "plain"),
        "icon": _ICONS.get(state, "circle"),
        "skips": ledger_present.rows(project, cell.get("skips", [])),
    }


def contradictions(project: ProjectRow, document: Document, given: dict[str, str]) -> Document:
    """Give the page of contradictions: its rows, its facets, and what was checked."""
    chosen, kept = given["invariant"], {"as_of": given["as_of"]}
    items = [{**one, "evidence": [_piece(project, each) for each in one["evidence"]]}
             for one in document["items"]]  # fmt: skip
    following = document["next"] or ""
    checks = [_check(project, one, chosen) for one in document["checks"]]
    return {
        "listing": {**document, "items": items, "count": asdict(document["count"])},
        "checks": checks,
        "chosen": next((one["title"] for one in checks if one["invariant"] == chosen), chosen),
        "is_narrowed": bool(chosen),
        "whole_url": address(project, "contradictions", **kept),
        "unchecked": [one for one in checks if one["state"] == "not_checked"],
        "waiting": sum(one["waiting"]["count"] for one in checks),
        "newest_url": address(project, "contradictions", invariant=chosen, **kept),
        "next_url": following
        and address(project, "contradictions", invariant=chosen, cursor=following, **kept),
    }


def _piece(project: ProjectRow, one: Document) -> Document:
    return {**one, "explain_url": address(project, "receipts", one["ref"], "explain")}


_CHECKED = {
    "holds": ("done", "holds", "check"),
    "broken": ("bad", "broken", "triangle-alert"),
    "not_checked": ("gap", "not checked", "diamond"),
}


def _check(project: ProjectRow, one: Document, chosen: str) -> Document:
    tone, word, icon = _CHECKED[one["state"]]
    return {
        **one,
        "tone": tone,
        "word": word,
        "icon": icon,
        "current": one["invariant"] == chosen,
        "url": address(project, "contradictions", invariant=one["invariant"]),
    }
