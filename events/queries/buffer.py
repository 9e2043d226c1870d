"""The replay buffer of a lane at a moment: a page of its messages, and what is missing between.

Source: reference/events-and-loops.md section 5.3.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from events.domain import wire_looks
from events.domain.missing import Missing, missing_below
from events.domain.rows import Row
from events.domain.times import moment
from events.queries import messages, rows
from events.queries.around import around
from events.queries.buffer_view import View, basis_of, head_of, ruler_of
from events.queries.messages import Place
from events.queries.ring import Held
from events.queries.rows import Document
from kit import keyset

LIST = "buffer"
USUAL, MOST = 50, 200
FORMS = {"b": "bare", "p": "prefixed", "f": "frame", "j": "junk", "": "not seen"}


def buffer_document(view: View, beside: Document | None, limit: int, cursor: str) -> Document:
    """Give one page of a buffer, the greatest id first, with what is missing between."""
    page = _cut(view.ordered, limit, cursor)
    other = None if beside is None else {one.id: one for one in view.ring_beside(beside).held}
    refs = rows.refs_of(view.project_id, [one["leaf_index"] for one in view.dumps])
    return {
        "lane": view.lane["lane"],
        "channel": view.channel or None,
        "at": moment(view.at),
        "basis": "reconstructed" if view.dump is None else "dumped",
        "basis_sentence": basis_of(view),
        "head": head_of(view),
        "ruler": ruler_of(view),
        "items": _items(view, page, other),
        "next": page.next,
        "count": len(view.ordered),
        "beside": None
        if beside is None
        else {"id": beside["lane"], "replica": beside["replica"], "count": len(other or {})},
        "dumps": [
            {"at": moment(one["at"]), "count": one["count"], "ref": refs.get(one["leaf_index"])}
            for one in view.dumps
        ],
    }


@dataclass(frozen=True, slots=True)
class _Page:
    """Messages with falling ids, those beside them, and the cursor of the next page."""

    held: Sequence[Held]
    above: Held | None
    below: Held | None
    next: str | None

    def meets(self, number: int) -> bool:
        """Tell whether an id lies on the page, or beyond the ends of the buffer beside it."""
        return (self.above is None or number < self.above.id) and (
            self.below is None or number > self.below.id
        )


def _cut(ordered: Sequence[Held], limit: int, cursor: str) -> _Page:
    after = keyset.decode(cursor, LIST, (int, int)).values if cursor else None
    passed = [one for one in ordered if after is not None and (one.id, one.ordinal) >= after]
    left = ordered[: len(ordered) - len(passed)][::-1]
    held, has_more = keyset.take(left, limit)
    above = passed[0] if passed else None
    if not has_more:
        return _Page(held, above, None, None)
    last = keyset.Cursor((held[-1].id, held[-1].ordinal))
    return _Page(held, above, left[limit], keyset.encode(last, LIST))


@dataclass(slots=True)
class _Shelf:
    """What the rows of a page are drawn from."""

    view: View
    bodies: Mapping[Place, Row]
    refs: Mapping[int, str]
    lacking: Mapping[int, list[Missing]]
    other: Mapping[int, Held] | None
    elsewhere: Sequence[Held] = field(default_factory=tuple)

    def between(self, low: int | None, high: int | None) -> list[Document]:
        """Give what only the other lane holds above one id and below another."""
        return [
            {**self.held(one, None), "kind": "elsewhere"}
            for one in self.elsewhere
            if (low is None or one.id > low) and (high is None or one.id < high)
        ]

    def held(self, one: Held, lower: Held | None) -> Document:
        """Give a message; with the next lower one, how far it is from it."""
        row = self.bodies.get(Place(one.leaf, one.place))
        look = None if row is None else wire_looks.look_of(row)
        return {
            "kind": "held",
            "id": str(one.id),
            "epoch": row.epoch if row else self.view.ring.epoch,
            "delta": None if lower is None else str(one.id - lower.id),
            "at": moment(one.at),
            "age_s": round((self.view.at - one.at) / 1_000_000, 3),
            "form": FORMS.get(one.form, one.form),
            "channel": one.scope or None,
            "type": wire_looks.type_of(look),
            "size": one.length,
            "fingerprint": one.fingerprint or None,
            "note": (row.note if row else "") or None,
            "leaf_index": str(one.leaf),
            "row": one.place,
            "ref": self.refs.get(one.leaf),
            "body": look,
            "beside": None if self.other is None else _beside(one, self.other.get(one.id)),
        }


def _items(view: View, page: _Page, other: Mapping[int, Held] | None) -> list[Document]:
    """Give the rows of a page: what is held, what is missing below it, what another lane holds."""
    shelf = _shelf(view, page, other)
    found = shelf.between(page.held[0].id, None) if page.held else shelf.between(None, None)
    for one, lower in zip(page.held, [*page.held[1:], page.below], strict=False):
        found.append(shelf.held(one, lower))
        if lower is not None and lower.id < one.id:
            found += [_missing(each) for each in shelf.lacking.get(one.id, ())]
        if lower is None or lower.id < one.id:
            found += shelf.between(None if lower is None else lower.id, one.id)
    return found


def _shelf(view: View, page: _Page, other: Mapping[int, Held] | None) -> _Shelf:
    edge = [*([page.below] if page.below else []), *reversed(page.held)]
    siblings = [one for one in view.lanes if one["lane"] != view.lane["source"]]
    known = around(view.project_id, view.lane, siblings, view.spaces, edge, view.ring, view.end)
    own = {one.id for one in view.ordered}
    low = page.below.id if page.below else None
    elsewhere = [
        one for id, one in sorted((other or {}).items(), reverse=True)
        if id not in own and (low is None or id > low)
    ]  # fmt: skip
    shown = [*page.held, *elsewhere]
    places = [Place(one.leaf, one.place) for one in shown]
    return _Shelf(
        view,
        messages.rows_at(view.project_id, places),
        rows.refs_of(view.project_id, {one.leaf for one in shown}),
        missing_below([(one.id, one.at) for one in edge], known),
        other,
        elsewhere,
    )


def _beside(one: Held, other: Held | None) -> str:
    if other is None:
        return "absent"
    return "same" if one.fingerprint == other.fingerprint else "differs"


_WHY = {
    "burned": "no replica that was watched has {them}: burned, or never published",
    "other_channel": "{they} went to other channels",
    "other_replica": "seen by {seen_by} only: not delivered here",
    "unwatched": "we did not watch then, so nobody can tell",
    "unknown": "whether anybody has {them} cannot be told from here",
}


def _missing(one: Missing) -> Document:
    is_one = one.count == 1
    said = _WHY[one.why].format(
        they="it" if is_one else "they",
        them="it" if is_one else "them",
        seen_by=" and ".join(one.seen_by),
    )
    return {
        "kind": "missing",
        "from": str(one.first),
        "to": str(one.last),
        "count": one.count,
        "why": one.why,
        "sentence": f"{one.count:,} {'id is' if is_one else 'ids are'} not here: {said}.",
        "ids": [str(each) for each in one.ids],
        "seen_by": list(one.seen_by),
    }


def iter_export(view: View) -> Iterator[Document]:
    """Give every message of a buffer, the lowest id first, with what is stored of its body."""
    places = [Place(one.leaf, one.place) for one in view.ordered]
    bodies = messages.rows_at(view.project_id, places)
    for one, place in zip(view.ordered, places, strict=True):
        row = bodies.get(place)
        yield {
            "id": str(one.id),
            "epoch": row.epoch if row else view.ring.epoch,
            "at": moment(one.at),
            "form": FORMS.get(one.form, one.form),
            "channel": one.scope or None,
            "size": one.length,
            "fingerprint": one.fingerprint or None,
            "body": None if row is None else row.body,
            "encoding": (row.encoding if row else "") or None,
            "note": (row.note if row else "") or None,
            "leaf_index": str(one.leaf),
            "row": one.place,
        }
