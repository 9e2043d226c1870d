"""Holds the ledger to scenario 4: what it found, against what the rig provoked and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from config.demo.fire import Report, Server
from config.demo.roll_fleet import NODE
from config.demo.roll_lines import ACTIVITY, OURS, THEIRS, WATCH, Heard, Line, Provoked, Told
from config.demo.roll_teller import Run
from events.domain.told.names import bus_id, installation_id

OF_KEYS = "KEY_"
"""Findings about Redis itself, which may be set up in any way, are not the rig's. Nor are those
about the counter as our tail samples it: what it meets depends on when it looks."""
Body = dict[str, Any]
Named = tuple[str, str, str]


def compare(server: Server, run: Run, lines: Sequence[Line]) -> Report:
    """Compare all that can be counted."""
    report = Report()
    name = run.installation(OURS)
    buses = [bus_id(name, bus) for bus in (ACTIVITY, WATCH)]
    buses.append(bus_id(run.installation(THEIRS), WATCH))
    found = [one for bus in buses for one in _findings(server, bus)]
    own = f"/installations/{installation_id(name)}"
    _compare_lanes(server.get(f"/buses/{buses[0]}"), lines, report)
    _compare_findings(found, lines, report)
    _compare_answers(_all(server, f"{own}/resumes"), lines, report)
    _compare_resets(_all(server, f"{own}/resets"), lines, report)
    _compare_phases(server.get(f"/buses/{buses[0]}/timeline")["phases"], lines, report)
    return report


def _findings(server: Server, bus: str) -> list[Body]:
    found = _all(server, f"/buses/{bus}/findings")
    return [one for one in found if _is_ours(one)]


def _is_ours(finding: Body) -> bool:
    return not finding["code"].startswith(OF_KEYS) and finding["facts"].get("node", NODE) == NODE


def _all(server: Server, path: str) -> list[Body]:
    found: list[Body] = []
    cursor: str | None = ""
    while cursor is not None:
        page = server.get(path, limit="200", **({"cursor": cursor} if cursor else {}))
        found += page["items"]
        cursor = page["next"]
    return found


def _compare_lanes(bus: Body, lines: Iterable[Line], report: Report) -> None:
    heard = Counter(
        lane
        for line in lines
        if isinstance(line, Heard) and line.bus == ACTIVITY
        for lane in line.lanes
    )
    stored = {one["replica"]: one["messages"] for one in bus["lanes"]}
    told = ", ".join(f"{lane} {stored.get(lane, 0)} of {heard[lane]}" for lane in sorted(heard))
    report.add(stored == heard, f"messages on record: {told}")


def _compare_findings(found: Iterable[Body], lines: Iterable[Line], report: Report) -> None:
    provoked = [one for one in lines if isinstance(one, Provoked)]
    of_buses = {one.code for one in provoked if not one.lane}
    wanted = Counter((one.bus, one.code, one.lane) for one in provoked)
    stored = Counter(_named(one, of_buses) for one in found)
    for code in sorted({code for _, code, _ in (*wanted, *stored)}):
        want, have = _of(wanted, code), _of(stored, code)
        told = f"{have.total()} {code}; the rig provoked {want.total()}"
        report.add(want == have, told if want == have else f"{told}; {_difference(want, have)}")


def _named(finding: Body, of_buses: set[str]) -> Named:
    code = finding["code"]
    return finding["bus"], code, "" if code in of_buses else finding["replica"] or ""


def _of(counted: Counter[Named], code: str) -> Counter[Named]:
    return Counter({name: count for name, count in counted.items() if name[1] == code})


def _difference(want: Counter[Named], have: Counter[Named]) -> str:
    parts = [f"missing {_list(want - have)}" if want - have else ""]
    parts.append(f"not provoked {_list(have - want)}" if have - want else "")
    return "; ".join(part for part in parts if part)


def _list(counted: Counter[Named]) -> str:
    return ", ".join(
        f"{count} on {' '.join(filter(None, (bus, lane)))}"
        for (bus, _, lane), count in counted.items()
    )


def _compare_answers(answers: Iterable[Body], lines: Sequence[Line], report: Report) -> None:
    told = list(_told(lines, "resume"))
    given = Counter((one["replica"], one["cursor"], one["answer"]) for one in told)
    stored = Counter((one["replica"], one["cursor"], one["given"]) for one in answers)
    report.add(given == stored, f"{stored.total()} of {given.total()} answers are on record")
    missed = {
        (one.code, one.lane, number)
        for one in lines
        if isinstance(one, Provoked)
        for number in one.missed
    }
    judged = {(one["code"], one["replica"], number) for one in answers for number in one["missed"]}
    report.add(
        missed == judged,
        f"{len(judged)} ids are named as missed by clients; the rig counted {len(missed)}",
    )


def _compare_resets(resets: Iterable[Body], lines: Iterable[Line], report: Report) -> None:
    counted = Counter(
        (told["replica"], reset["reason"])
        for told in _told(lines, "replica")
        for reset in told["resets"]
    )
    stored = Counter((one["replica"], one["reason"]) for one in resets)
    report.add(
        stored == counted,
        f"{stored.total()} resets are on record; the replicas counted {counted.total()}",
    )


def _compare_phases(phases: Iterable[Body], lines: Iterable[Line], report: Report) -> None:
    """Compare how often a replica that reads bare ids alone ran beside one that writes epochs."""
    running: dict[str, str] = {}
    mixes = [False]
    for told in _told(lines, "replica"):
        running[told["replica"]] = told["phase"][:2]
        mixes.append({"S0", "S2"} <= set(running.values()))
    wanted = sum(after and not before for before, after in pairwise(mixes))
    shown = sum(one["tone"] == "bad" for one in phases)
    report.add(shown == wanted, f"{shown} illegal mix of phases; the rig ran {wanted}")


def _told(lines: Iterable[Line], what: str) -> Iterator[Body]:
    return (one.body for one in lines if isinstance(one, Told) and one.what == what)
