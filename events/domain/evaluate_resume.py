"""Resumes judged without a database (contract.md section 8, `resume`).

Each case is a lane as it truly was, a cursor and perhaps its epoch; each answer is that of the
resume rule, with the name of the part that spoke. Ids are texts or whole numbers of 64 bits, and
exact whatever JavaScript would make of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from events.domain.resume import EPOCH, RESET, Boundary, Lane, answer
from events.domain.whole_numbers import int64_of

Members = Mapping[str, Any]


class BadResume(ValueError):
    """The cases cannot be read; send a list of {"lane": {…}, "cursor": "…", "epoch"?: "…"}."""


def evaluate(document: object) -> list[dict[str, str]]:
    """Return the answer and the rule for each case, in order.

    `floor` null means that the lane holds nothing more, and `cursor` null that the client named
    none. Raises BadResume, which says where.
    """
    return [_judged(place, one) for place, one in _objects("", document)]


def _judged(place: str, case: Members) -> dict[str, str]:
    if "cursor" not in case:
        raise BadResume(f"{place}.cursor: send the cursor as text, or null for none")
    lane = _lane(f"{place}.lane", case.get("lane"))
    found = answer(lane, case["cursor"], _epoch(f"{place}.epoch", case.get("epoch")))
    return {"answer": found.answer, "rule": found.rule}


def _lane(place: str, given: object) -> Lane:
    if not isinstance(given, Mapping):
        raise BadResume(f"{place}: send an object")
    cold = given.get("cold")
    if cold is not None and not isinstance(cold, bool):
        raise BadResume(f"{place}.cold: send true or false")
    epoch = _epoch(f"{place}.epoch", given.get("epoch"))
    boundaries = _boundaries(f"{place}.boundaries", given.get("boundaries"))
    low = _unsettled(f"{place}.unsettled", given.get("unsettled"))
    if cold:
        return Lane(epoch, 0, 0, cold=True, boundaries=boundaries, unsettled=low)
    high_water = _id(f"{place}.high_water", given.get("high_water"))
    floor = _floor(place, given, high_water)
    return Lane(epoch, floor, high_water, boundaries=boundaries, unsettled=low)


def _unsettled(place: str, given: object) -> list[int] | None:
    if given is None:
        return None
    if not isinstance(given, list | tuple):
        raise BadResume(f"{place}: send a list of ids, or null for none")
    return [_id(f"{place}[{number}]", one) for number, one in enumerate(given)]


def _floor(place: str, lane: Members, high_water: int) -> int:
    if "floor" in lane and lane["floor"] is None:
        return high_water + 1
    return _id(f"{place}.floor", lane.get("floor"))


def _boundaries(place: str, given: object) -> tuple[Boundary, ...]:
    return tuple(
        Boundary(
            _id(f"{where}.old_high_water", one.get("old_high_water")),
            _kind(f"{where}.kind", one.get("kind")),
            _epoch(f"{where}.epoch", one.get("epoch")),
            None if one.get("first") is None else _id(f"{where}.first", one["first"]),
        )
        for where, one in _objects(place, [] if given is None else given)
    )


def _kind(place: str, given: object) -> str:
    if given not in (EPOCH, RESET):
        raise BadResume(f'{place}: send "{EPOCH}" or "{RESET}"')
    return str(given)


def _id(place: str, given: object) -> int:
    number = int64_of(given)
    if number is None:
        raise BadResume(f"{place}: send a whole number of 64 bits, as text")
    return number


def _epoch(place: str, given: object) -> str | None:
    if given is None or isinstance(given, str):
        return given
    if isinstance(given, int) and not isinstance(given, bool):
        return str(given)
    raise BadResume(f"{place}: send the epoch as text")


def _objects(place: str, given: object) -> Iterator[tuple[str, Members]]:
    if not isinstance(given, list | tuple):
        raise BadResume(f"{place}: send a list" if place else BadResume.__doc__)
    for number, one in enumerate(given):
        if not isinstance(one, Mapping):
            raise BadResume(f"{place}[{number}]: send an object")
        yield f"{place}[{number}]", one
