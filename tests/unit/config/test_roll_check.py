"""How the demo holds the ledger to scenario 4: a finding less or more is said."""

from __future__ import annotations

from email.message import Message
from typing import Any
from urllib.error import HTTPError

import pytest

from config.demo import roll, roll_check
from config.demo.roll_lines import WATCH, Heard, Line, Provoked, Told
from config.demo.roll_teller import Run
from events.domain.told.names import bus_id, installation_id

RUN = Run("x", 0)
BUS, WATCH_BUS = bus_id("pad-x", "activity"), bus_id("pad-x", WATCH)
THEIRS = bus_id("pad-x-b", WATCH)
LINES: list[Line] = [
    Heard(0, ("tail", "r1"), "ws-1", "{}"),
    Told(1, "resume", {"replica": "r1", "cursor": "5", "answer": "replay"}),
    Told(2, "replica", {"replica": "r1", "phase": "S0", "resets": []}),
    Told(3, "replica", {"replica": "r2", "phase": "S2", "resets": [{"reason": "epoch_change"}]}),
    Told(4, "replica", {"replica": "r1", "phase": "S1", "resets": []}),
    Provoked(1, "SILENT_SKIP", "r1", missed=("4",)),
    Provoked(2, "EPOCH_CHANGE", ""),
    Provoked(3, "CROSS_FEED", "tail", WATCH),
]
Found = dict[str, Any]


def found(code: str, replica: str | None = "tail", bus: str = "activity", **facts: str) -> Found:
    return {"code": code, "replica": replica, "bus": bus, "facts": facts}


class Pages:
    """Answers as the API does, each list on two pages."""

    def __init__(self) -> None:
        self.findings = {
            BUS: [found("SILENT_SKIP", "r1"), found("EPOCH_CHANGE")],
            WATCH_BUS: [],
            THEIRS: [found("CROSS_FEED", bus=WATCH)],
        }
        self.answers: list[Found] = [
            {"code": "SILENT_SKIP", "replica": "r1", "cursor": "5", "given": "replay",
             "missed": ["4"]}
        ]  # fmt: skip
        self.lanes = [{"replica": "tail", "messages": 1}, {"replica": "r1", "messages": 1}]
        self.resets: list[Found] = [{"replica": "r2", "reason": "epoch_change"}]
        self.phases = [{"tone": "plain"}, {"tone": "bad"}]

    def get(self, path: str, **query: str) -> dict[str, Any]:
        if path.endswith("/findings"):
            return self._page(self.findings[path.split("/")[2]], query)
        if path == f"/installations/{installation_id('pad-x')}/resumes":
            return self._page(self.answers, query)
        if path.endswith("/resets"):
            return self._page(self.resets, query)
        return {"phases": self.phases} if path.endswith("/timeline") else {"lanes": self.lanes}

    @staticmethod
    def _page(items: list[Found], query: dict[str, str]) -> dict[str, Any]:
        if query.get("cursor"):
            return {"items": items[1:], "next": None}
        return {"items": items[:1], "next": "second" if items[1:] else None}


def failed(pages: Pages) -> list[str]:
    report = roll_check.compare(pages, RUN, LINES)  # type: ignore[arg-type]
    return [line for holds, line in report.lines if not holds]


def test_a_ledger_that_found_what_was_provoked_holds() -> None:
    assert failed(Pages()) == []


def test_a_finding_that_is_missing_is_named() -> None:
    pages = Pages()
    pages.findings[BUS].pop()

    assert failed(pages) == ["0 EPOCH_CHANGE; the rig provoked 1; missing 1 on activity"]


def test_a_finding_that_was_not_provoked_is_named() -> None:
    pages = Pages()
    pages.findings[BUS].append(found("GAP", "r1"))

    assert failed(pages) == ["1 GAP; the rig provoked 0; not provoked 1 on activity r1"]


def test_a_finding_on_another_lane_does_not_stand_for_the_one_that_was_provoked() -> None:
    pages = Pages()
    pages.findings[BUS][0] = found("SILENT_SKIP", "r2")

    (line,) = failed(pages)
    assert "missing 1 on activity r1; not provoked 1 on activity r2" in line


@pytest.mark.parametrize(
    "one",
    [found("KEY_EVICTABLE", None), found("HW_REGRESS", None, node="the tail's own sample")],
)
def test_what_our_tail_samples_of_redis_itself_is_not_the_rigs(one: Found) -> None:
    pages = Pages()
    pages.findings[BUS].append(one)

    assert failed(pages) == []


class Late(Pages):
    """Answers as before anything was derived, and in full from the second question on."""

    is_derived = False

    def get(self, path: str, **query: str) -> dict[str, Any]:
        if not self.is_derived:
            self.is_derived = True
            raise HTTPError(path, 404, "Not Found", Message(), None)
        return super().get(path, **query)


def test_a_ledger_that_reads_behind_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll, "REST_S", 0)

    report = roll._wait(Late(), RUN, LINES, "told")  # type: ignore[arg-type]

    assert report.holds
    assert report.lines[0] == (True, "told")


def test_a_ledger_that_never_reads_of_the_buses_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roll, "WAIT_S", 0)

    report = roll._wait(Late(), RUN, LINES, "told")  # type: ignore[arg-type]

    assert report.lines[1:] == [(False, "the ledger has not read of these buses yet")]


def test_a_reset_or_an_illegal_mix_that_is_missing_is_said() -> None:
    pages = Pages()
    pages.resets.clear()
    pages.phases.pop()

    assert failed(pages) == [
        "0 resets are on record; the replicas counted 1",
        "0 illegal mix of phases; the rig ran 1",
    ]


def test_a_message_an_answer_or_a_missed_id_too_few_is_said() -> None:
    pages = Pages()
    pages.lanes[1]["messages"] = 0
    pages.answers.clear()

    lines = failed(pages)

    assert lines == [
        "messages on record: r1 0 of 1, tail 1 of 1",
        "0 of 1 answers are on record",
        "0 ids are named as missed by clients; the rig counted 1",
    ]
