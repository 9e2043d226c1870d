"""What a timeline's drawing says, as a table and as links: for those who do not see or move it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

from events.domain.times import micros, moment

Document = dict[str, Any]

PAGE = 50
"""Rows of the table on one page."""
COVERAGE = 200
_KEPT = ("lane", "band", "as_of")


def time_of(at: str | datetime) -> datetime:
    """Read a time of a document, which is a text in JSON and an aware time within the house."""
    return at if isinstance(at, datetime) else datetime.fromisoformat(at).astimezone(UTC)


def moved(at: datetime, by: timedelta) -> datetime:
    """Give a time moved, up to the first or the last that an address may ask for."""
    return moment(micros(at) + by // timedelta(microseconds=1))


def table_of(document: Document, asked: Mapping[str, str]) -> Document:
    """List the buckets of all bands in order of time, one page of them from `row` on."""
    begun = time_of(document["from"])
    lane = asked.get("lane", "")
    places = sorted(
        (at, number, place)
        for number, band in enumerate(document["bands"])
        if not lane or band["lane"] == lane
        for place, at in enumerate(band["t"])
    )
    first = _row(asked.get("row", ""), len(places))
    shown = places[first : first + PAGE]
    return {
        "rows": [_bucket(document["bands"][number], place, begun) for _, number, place in shown],
        "first": first + 1,
        "last": first + len(shown),
        "count": len(places),
        "earlier": _query(asked, row=str(max(0, first - PAGE))) if first else "",
        "later": _query(asked, row=str(first + PAGE)) if first + PAGE < len(places) else "",
    }


def coverage_of(document: Document, lane: str) -> Document:
    """List the bars and the answers of all strips in order of time, the first `COVERAGE` of each.

    So are the phases of a roll, which stand behind the bands.
    """
    begun = time_of(document["from"])
    shown = [one for one in document["strips"] if not lane or one["lane"] == lane]
    bars = [(bar["from_ms"], strip["replica"], bar) for strip in shown for bar in strip["bars"]]
    ticks = [(one["at_ms"], strip["replica"], one) for strip in shown for one in strip["resumes"]]
    bars.sort(key=lambda one: one[:2])
    ticks.sort(key=lambda one: one[:2])
    return {
        "bars": [_stretch(bar, begun) | {"replica": name} for _, name, bar in bars[:COVERAGE]],
        "resumes": [
            one | {"at": begun + timedelta(milliseconds=at), "replica": name}
            for at, name, one in ticks[:COVERAGE]
        ],
        "phases": [_stretch(one, begun) for one in document["phases"][:COVERAGE]],
        "is_cut": max(len(bars), len(ticks)) > COVERAGE,
    }


def _stretch(one: Document, begun: datetime) -> Document:
    return one | {
        "from": begun + timedelta(milliseconds=one["from_ms"]),
        "to": begun + timedelta(milliseconds=one["to_ms"]),
    }


def moves_of(document: Document, asked: Mapping[str, str]) -> Document:
    """Give the links that move and zoom without a script, and those through the findings."""
    begun, ended = time_of(document["from"]), time_of(document["to"])
    span = max(ended - begun, timedelta(milliseconds=20))
    half, quarter = span / 2, span / 4
    return {
        "earlier": _query(asked, moved(begun, -half), moved(ended, -half)),
        "later": _query(asked, moved(begun, half), moved(ended, half)),
        "in": _query(asked, moved(begun, quarter), moved(ended, -quarter)),
        "out": _query(asked, moved(begun, -half), moved(ended, half)),
        "whole": _query({name: asked.get(name, "") for name in ("lane", "as_of")} | _NO_RANGE),
        **_neighbours(document["findings"], asked),
    }


_NO_RANGE = {"from": "", "to": ""}


def finding_query(finding: Mapping[str, Any], asked: Mapping[str, str]) -> str:
    """Give the query string that shows a finding on the page as it stands."""
    return _query(asked, finding=finding["id"])


def band_query(band: Mapping[str, Any], asked: Mapping[str, str]) -> str:
    """Give the query string that shows the life of a band, and a little around it."""
    born, ended = time_of(band["born_at"]), time_of(band["last_at"])
    edge = max((ended - born) / 25, timedelta(milliseconds=10))
    return _query(asked, moved(born, -edge), moved(ended, edge), band=band["id"])


def _neighbours(findings: list[Document], asked: Mapping[str, str]) -> Document:
    """Link to the findings before and after the chosen one, in order of time."""
    chosen = asked.get("finding", "")
    places = [place for place, one in enumerate(findings) if one["id"] == chosen]
    before, after = (places[0] - 1, places[0] + 1) if places else (len(findings) - 1, 0)
    return {
        "previous": finding_query(findings[before], asked) if before >= 0 and findings else "",
        "next": finding_query(findings[after], asked) if after < len(findings) else "",
    }


def _bucket(band: Document, place: int, begun: datetime) -> Document:
    base = int(band["base"])
    return {
        "at": begun + timedelta(milliseconds=band["t"][place]),
        "label": band["label"],
        "replica": band["replica"],
        "least": str(base + band["lo"][place]),
        "greatest": str(base + band["hi"][place]),
        "count": band["n"][place],
    }


def _row(text: str, count: int) -> int:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 8 else 0
    return number if number < count else 0


def _query(
    asked: Mapping[str, str],
    begun: datetime | None = None,
    ended: datetime | None = None,
    **more: str,
) -> str:
    """Write a query string that keeps what was asked, but for what is given anew."""
    parts = {name: asked.get(name, "") for name in ("from", "to", *_KEPT)}
    if begun and ended:
        parts |= {"from": _written(begun), "to": _written(ended)}
    kept = {name: value for name, value in (parts | more).items() if value}
    return "?" + urlencode(kept)


def _written(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
