"""The answers about buses as documents: what pages show and what their JSON twins say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from events.asking import Range, bad, text_of
from events.domain import codes, key_health
from events.queries import (
    answers,
    bus_documents,
    buses,
    findings,
    installations,
    keys,
    reset_ledger,
    timeline,
)
from events.queries import rollout as boards
from events.queries.findings import SEVERITIES
from ledger import documents
from ledger.queries import heads, lists
from ledger.queries.as_of import AsOf, BadAsOf

Document = dict[str, Any]
CODES = (*codes.MARKS, *key_health.CODES)


def find_cut(project_id: int, as_of_text: str) -> AsOf:
    """Read as of when a page about buses is asked for; now is what their tables show."""
    cut = documents.find_cut(project_id, as_of_text)
    reach = heads.reach_of(project_id, buses.STREAMS)
    if cut.is_now:
        end = reach.derived - 1
        return replace(cut, leaf=end, lag=reach.lag, committed_at=reach.derived_at)
    if cut.leaf >= reach.derived:
        raise BadAsOf(f"Buses are read up to №{reach.derived - 1:,} yet; ask again in a moment.")
    return cut


def installation_list(project_id: int, limit: int = lists.USUAL, cursor: str = "") -> Document:
    """Give a page of installations with their buses, lanes and replicas."""
    cut = find_cut(project_id, "")
    return installations.list_installations(project_id, cut, limit, cursor)


def installation(project_id: int, name: str) -> Document:
    """Give one installation, with its keys and what was found across it and others."""
    cut = find_cut(project_id, "")
    found = installations.installation_document(project_id, name, cut)
    return {**found, "key_health": keys.key_health(project_id, name, cut)}


def bus(project_id: int, name: str, as_of_text: str = "") -> Document:
    """Give one bus: its lanes with their ID spaces, its settings, and what was found, counted."""
    cut = find_cut(project_id, as_of_text)
    return _bus(project_id, bus_documents.bus_at(project_id, name, cut), cut)


def _bus(project_id: int, row: Document, cut: AsOf) -> Document:
    found = bus_documents.bus_document(project_id, row, cut)
    crossed = findings.crossed(project_id, cut)
    return {
        **found,
        "findings": findings.tally_of(project_id, [row["bus"]], cut)[row["bus"]],
        "crossed": crossed.get((row["installation"], row["name"]), []),
    }


def bus_page(
    project_id: int, name: str, asked: Range, as_of_text: str
) -> tuple[Document, Document, Document]:
    """Give what the page of a bus shows: the bus, its timeline, and its newest findings."""
    cut = find_cut(project_id, as_of_text)
    row = bus_documents.bus_at(project_id, name, cut)
    return (
        _bus(project_id, row, cut),
        timeline.timeline(project_id, row, asked, cut),
        findings.list_findings(project_id, findings.Wanted(row["bus"], cut)),
    )


def bus_timeline(project_id: int, name: str, asked: Range, as_of_text: str = "") -> Document:
    """Give the timeline of a bus."""
    cut = find_cut(project_id, as_of_text)
    row = bus_documents.bus_at(project_id, name, cut)
    return timeline.timeline(project_id, row, asked, cut)


def finding_list(
    project_id: int,
    name: str,
    narrowed: dict[str, str],
    limit: int = lists.USUAL,
    cursor: str = "",
    as_of_text: str = "",
) -> Document:
    """Give a page of the findings of a bus, narrowed by code, severity and lane."""
    row = buses.get_bus(project_id, name)
    for member, known in (("code", CODES), ("severity", SEVERITIES)):
        if narrowed.get(member) and narrowed[member] not in known:
            raise bad(member, f"`{member}` takes one of: {', '.join(known)}.")
    wanted = findings.Wanted(
        row["bus"],
        find_cut(project_id, as_of_text),
        narrowed.get("code", ""),
        narrowed.get("severity", ""),
        text_of("lane", narrowed.get("lane", "")),
        limit,
        cursor,
    )
    return findings.list_findings(project_id, wanted)


def finding(project_id: int, name: str, as_of_text: str = "") -> Document:
    """Give one finding."""
    return findings.get_finding(project_id, name, find_cut(project_id, as_of_text))


def answer_list(
    project_id: int,
    name: str,
    narrowed: dict[str, str],
    limit: int = lists.USUAL,
    cursor: str = "",
    as_of_text: str = "",
) -> Document:
    """Give a page of the answers that an installation gave to clients which resumed."""
    installations.get_installation(project_id, name)
    code, only = narrowed.get("code", ""), narrowed.get("bus", "")
    if code and code not in (answers.ANY, *answers.CODES):
        raise bad("code", f"`code` takes one of: {', '.join((answers.ANY, *answers.CODES))}.")
    own = [one["bus"] for one in installations.bus_rows(project_id, [name])]
    if only and only not in own:
        raise bad("bus", "`bus` takes the id of a bus of this installation.")
    cut = find_cut(project_id, as_of_text)
    wanted = answers.Wanted([only] if only else own, cut, code, limit, cursor)
    return answers.list_answers(project_id, wanted)


def reset_list(
    project_id: int,
    name: str,
    narrowed: dict[str, str],
    limit: int = lists.USUAL,
    cursor: str = "",
    as_of_text: str = "",
) -> Document:
    """Give a page of the resets that replicas of an installation told of."""
    installations.get_installation(project_id, name)
    wanted = reset_ledger.Wanted(
        name,
        find_cut(project_id, as_of_text),
        text_of("reason", narrowed.get("reason", "")),
        text_of("replica", narrowed.get("replica", "")),
        limit,
        cursor,
    )
    return reset_ledger.list_resets(project_id, wanted)


def rollout(project_id: int, name: str) -> Document:
    """Give the rollout board of an installation."""
    return boards.rollout_document(project_id, name, find_cut(project_id, ""))


def name_of(project_id: int, installation: str) -> str:
    """Give the name of an installation."""
    return str(installations.get_installation(project_id, installation)["name"])
