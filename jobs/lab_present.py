"""The key lab and keys made ready for templates: words, rows and addresses beside the facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import QueryDict

from access.rows import ProjectRow
from jobs import asking
from jobs.domain import holders
from jobs.domain.because import duration
from jobs.domain.recipes import OWN, RUN_AGAIN, STATE_WORDS, Recipe
from ledger import present as ledger_present
from ledger.present import address

Document = dict[str, Any]
_STATES = {
    "in_flight": "not ended", "completed": "completed", "failed": "failed",
    "cancelled": "cancelled", "deleted": "row deleted",
}  # fmt: skip


def form(given: QueryDict, prefix: str = "") -> Document:
    """Give what a recipe's part of the form holds, as it was asked for."""
    states = given.getlist(f"{prefix}states")
    return {
        "prefix": prefix,
        "fields": ", ".join(given.getlist(f"{prefix}fields")),
        "window": given.get(f"{prefix}window", ""),
        "states": [
            {"value": word, "label": _STATES[word], "checked": word in states}
            for word in STATE_WORDS
        ],
        "run_again": given.get(f"{prefix}policy") == RUN_AGAIN,
        "across_tasks": given.get(f"{prefix}across_tasks", "") in ("1", "true", "on"),
    }


def recorded(project: ProjectRow, document: Document) -> list[Document]:
    """Give the recorded matching rules, each with an address that tries its fields on all."""
    return [
        {
            **one,
            "label": " ".join(part for part in (one["recipe"], one["version"]) if part)
            or "no name",
            "url": _address(project, Recipe(tuple(one["fields"]))),
        }
        for one in document["recorded"]
    ]


def trial(project: ProjectRow, document: Document, recipe: Recipe) -> Document:
    """Give what one recipe came to."""
    flips = [_flip(project, one) for one in document["flips"]]
    counted = document["flips_count"]
    return {
        **document,
        "title": title(recipe),
        "sentence": _sentence(document),
        "flips": flips,
        "more": counted["to_run"] + counted["to_skip"] - len(flips),
    }


def title(recipe: Recipe) -> str:
    """Name a recipe in one line."""
    parts = [", ".join(recipe.fields) or "each attempt's own key"]
    if recipe.window_s is None:
        parts.append("no window")
    elif recipe.window_s != OWN:
        parts.append(f"within {duration(int(recipe.window_s * 1_000_000))}")
    if recipe.states is not None:
        named = [label for word, label in _STATES.items() if STATE_WORDS[word] in recipe.states]
        parts.append(f"blocked by {', '.join(named) or 'nothing'}")
    if recipe.policy == RUN_AGAIN:
        parts.append("failed work again")
    if recipe.across_tasks:
        parts.append("across tasks")
    return " · ".join(parts)


def table(trials: Sequence[Document]) -> list[Document]:
    """Set recipes side by side: a row for each measure, as it was and under each recipe."""
    first = trials[0]

    def row(label: str, was: int | None, name: str, tone: str = "") -> Document:
        values = [one["flips_count"].get(name, one.get(name, 0)) for one in trials]
        return {"label": label, "was": was, "values": values, "tone": tone}

    rows = [
        row("run", first["ran"], "would_run"),
        row("are skipped", first["skipped"], "would_skip"),
        row("ran, would be skipped", None, "to_skip", "bad"),
        row("of these of another macrostep: re-entries lost", None, "lost_reentries", "bad"),
        row("were skipped, would run", None, "to_run"),
    ]
    unjudged = [sum(reason["count"] for reason in one["unjudged"]) for one in trials]
    rows.append({"label": "cannot be judged", "was": None, "values": unjudged, "tone": ""})
    if any(one["assumed"] for one in trials):
        rows.append(row("skipped for one that never ran, taken as completed", None, "assumed"))
    if any(one["across_recipes"] for one in trials):
        rows.append(row("skipped only because two rules or versions meet", None, "across_recipes"))
    return rows


def key_row(project: ProjectRow, one: Document) -> Document:
    """Give a row of the list of keys."""
    return {**_key(project, one), "url": address(project, "keys", one["recipe"], one["digest"])}


def key(project: ProjectRow, document: Document) -> Document:
    """Give the page of one key."""
    tail = ("keys", document["recipe"], document["digest"])
    following = document["claims"]["next"]
    last = document["last_sign"]
    return {
        **document,
        **_key(project, document),
        "claims": ledger_present.rows(project, document["claims"]["items"]),
        "next_url": address(project, *tail, cursor=following) if following else "",
        "release_url": address(project, *tail, "release"),
        "list_url": address(project, "receipts", q=f"key:{document['digest']}"),
        "skips_url": address(project, "receipts", q=f"key:{document['digest']} kind:skip"),
        "lab_url": _address(project, Recipe(tuple(document["fields"]))),
        "last_sign": last and {**last, "url": _receipt(project, last["ref"])},
        "released": _released(project, document),
    }


def _key(project: ProjectRow, one: Document) -> Document:
    holder = one["holder"]
    if holder is not None:
        word, tone, icon = holders.WORDS[holder["state"]]
        holder = {
            **holder,
            "word": word,
            "tone": tone,
            "icon": icon,
            "url": _receipt(project, holder["ref"]),
            "job_url": address(project, "jobs", *holder["job_name"].split("/", 2))
            if holder["job_name"]
            else "",
        }
    return {**one, "holder": holder, "label": _label(one["fields"])}


def _released(project: ProjectRow, document: Document) -> Document | None:
    released: Document | None = document["released"]
    return released and {**released, "url": _receipt(project, released["ref"])}


def _label(fields: Document) -> str:
    return ", ".join(f"{name} {value}" for name, value in fields.items()) or "no fields"


def _flip(project: ProjectRow, one: Document) -> Document:
    because = one["because"]
    places = {name: one[name] for name in ("holder", "original") if one[name]}
    for place in places.values():
        # The link beside the sentence leads there, so the sentence can do without the ref.
        because = because.replace(f" ({place['ref']})", "")
    return {
        **one,
        "because": because,
        "url": _receipt(project, one["ref"]),
        "places": [
            {"url": _receipt(project, place["ref"]), "leaf_index": place["leaf_index"]}
            for place in places.values()
        ],
        "label": _label(one["fields"]),
    }


def _sentence(document: Document) -> str:
    to_skip, to_run = (document["flips_count"][name] for name in ("to_skip", "to_run"))
    if not document["attempts"]:
        return "No stored attempt is selected."
    if not to_skip and not to_run:
        return "Nothing would have come out otherwise."
    text = f"{to_skip:,} that ran would have been skipped; {to_run:,} that were skipped would run."
    if lost := document["lost_reentries"]:
        text += f" {lost:,} of them {'is a re-entry' if lost == 1 else 'are re-entries'}, lost."
    return text


def _receipt(project: ProjectRow, ref: str | None) -> str:
    return address(project, "receipts", ref, "explain") if ref else ""


def _address(project: ProjectRow, recipe: Recipe) -> str:
    return f"{address(project, 'simulate')}?{asking.query_of(recipe, None)}"
