"""A timeline document as a busy bus would give it: three replicas, four spaces, many findings.

The story: bare numbers; a counter that restarts and climbs past the old mark, which only the
numbers show; the roll to epochs; a change of epoch. It is made up, so that pages can be drawn and
timed without a ledger of a million messages.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

Document = dict[str, Any]

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
MINUTE_MS = 60_000
WHOLE_MS = 60 * MINUTE_MS
LANES = (("l00000000000000a1", "r1"), ("l00000000000000a2", "r2"), ("l00000000000000a3", "r3"))
BUS = "b00000000000000b1"
SPACES: tuple[tuple[str | None, str, str, int, int, int, int], ...] = (
    (None, "adopted", "no epoch", 1, 471_100, 0, 21),
    (None, "reset", "no epoch, second", 1, 80_200, 21, 33),
    ("7", "epoch", "epoch 7", 80_300, 214_000, 33, 50),
    ("8", "epoch", "epoch 8", 1_876_951_040_000_000_001, 1_876_951_040_000_064_000, 50, 60),
)
"""Epoch, kind, label, first id, last id, and from which minute to which."""
KINDS = (
    ("GAP", "warning", "G", "One id never came to this replica."),
    ("DUPLICATE", "note", "D", "The same message came twice."),
    ("INTERLEAVE", "warning", "I", "A lower id filled a gap: two publishers write."),
    ("JUNK_ID", "warning", "J", "An id that decodes to no date."),
    ("UNPARSABLE", "critical", "U", "A message that no reader could take apart."),
)
PHASES = (
    (0, 30, "S0, all bare", "plain"),
    (30, 36, "S0 and S2 mixed", "bad"),
    (36, 60, "S2, all prefixed", "done"),
)


def at(ms: float) -> str:
    """Write a time of the story as documents do."""
    return (START + timedelta(milliseconds=ms)).isoformat(timespec="microseconds")[:26] + "Z"


def story(points: int = 4_800, findings: int = 200) -> Document:
    """Tell the story with so many points over all bands, and so many findings."""
    return {
        "bus": {
            "id": BUS,
            "installation": "inst-a",
            "bus": "activity",
            "density": "dense",
            "profile": "generation",
            "born_at": at(0),
            "last_at": at(WHOLE_MS),
        },
        "from": at(0),
        "to": at(WHOLE_MS),
        "resolution": "minutes",
        "as_of": {"leaf_index": "41000", "time": at(WHOLE_MS)},
        "bands": _bands(points),
        "strips": [_strip(number) for number in range(len(LANES))],
        "holes": [
            {
                "from_ms": 27 * MINUTE_MS,
                "to_ms": 28 * MINUTE_MS,
                "lane": LANES[2][0],
                "why": "reconnect",
            }
        ],
        "findings": _findings(findings),
        "clusters": [],
        "phases": [
            {
                "from_ms": begun * MINUTE_MS,
                "to_ms": ended * MINUTE_MS,
                "label": label,
                "tone": tone,
            }
            for begun, ended, label, tone in PHASES
        ],
    }


def _bands(points: int) -> list[Document]:
    each = max(2, points // (len(LANES) * len(SPACES)))
    return [
        _band(lane, replica, ordinal, each)
        for lane, replica in LANES
        for ordinal in range(len(SPACES))
    ]


def _band(lane: str, replica: str, ordinal: int, points: int) -> Document:
    epoch, kind, label, first, last, begun, ended = SPACES[ordinal]
    times = [
        round((begun + (ended - begun) * place / points) * MINUTE_MS) for place in range(points)
    ]
    step = (last - first) / points
    low = [int(place * step + (place % 7) * step / 9) for place in range(points)]
    if replica == "r3" and ordinal == 1:
        times, low = times[: points // 2], low[: points // 2]
    high = [one + int(step) for one in low]
    return {
        "id": f"{lane}/{ordinal}",
        "lane": lane,
        "replica": replica,
        "ordinal": ordinal,
        "epoch": epoch,
        "label": label,
        "kind": kind,
        "first": str(first),
        "last": str(first + high[-1]),
        "least": str(first),
        "greatest": str(first + high[-1]),
        "count": high[-1],
        "born_at": at(times[0]),
        "last_at": at(times[-1]),
        "parent": f"{lane}/{ordinal - 1}" if ordinal else None,
        "switch_id": str(SPACES[ordinal - 1][4]) if ordinal else None,
        "base": str(first),
        "t": times,
        "lo": low,
        "hi": high,
        "n": [max(1, int(step))] * len(times),
    }


def _strip(number: int) -> Document:
    lane, replica = LANES[number]
    bars = [
        (0, 21, "covered", "1", "471100"),
        (21, 22, "cold", None, None),
        (22, 33, "covered", "1", "80200"),
        (33, 60, "covered", "80300", "214000"),
    ]
    if number == 1:
        bars[3:] = [
            (33, 40, "covered", "80300", "120000"),
            (40, 41, "gap", None, None),
            (41, 60, "covered", "120001", "214000"),
        ]
    if number == 2:
        bars[2:] = [
            (22, 27, "covered", "1", "40100"),
            (27, 28, "unwatched", None, None),
            (28, 33, "silent", None, None),
            (33, 60, "covered", "80300", "214000"),
        ]
    return {
        "lane": lane,
        "replica": replica,
        "basis": ("dumped", "reported", "modelled")[number],
        "bars": [
            {
                "from_ms": begun * MINUTE_MS,
                "to_ms": ended * MINUTE_MS,
                "state": state,
                "floor": floor,
                "high_water": high,
            }
            for begun, ended, state, floor, high in bars
        ],
        "resumes": [
            {"at_ms": 24 * MINUTE_MS, "answer": "serve", "code": "SILENT_SKIP", "ref": "r1"},
            {"at_ms": 34 * MINUTE_MS, "answer": "refuse", "code": None, "ref": "r2"},
            {
                "at_ms": 44 * MINUTE_MS,
                "answer": "ambiguous",
                "code": "AMBIGUOUS_RESUME",
                "ref": "r3",
            },
        ][: 3 - number],
    }


def _findings(count: int) -> list[Document]:
    told = [
        _finding(
            0, "RESET_NO_EPOCH", "critical", "R", 21, "Numbers began again at 1; no epoch says so."
        ),
        _finding(1, "MIXED_FORMS", "note", "M", 33, "Bare and prefixed messages in one lane."),
        _finding(2, "EPOCH_CHANGE", "warning", "E", 50, "The epoch changed from 7 to 8."),
    ]
    for number in range(3, count):
        code, severity, letter, sentence = KINDS[number % len(KINDS)]
        # Some stand close together, as after a fault they do.
        minute = 34 + (number * 7 % 160) / 10 if number % 2 else (number * 37 % 590) / 10
        told.append(_finding(number, code, severity, letter, minute, sentence))
    return sorted(told[:count], key=lambda one: (one["at_ms"], one["id"]))


def _finding(
    number: int, code: str, severity: str, letter: str, minute: float, sentence: str
) -> Document:
    ordinal = next(
        (
            place
            for place, (*_, begun, ended) in enumerate(SPACES)
            if begun <= minute < ended or ended == WHOLE_MS // MINUTE_MS == minute
        ),
        0,
    )
    epoch, _, _, first, last, begun, ended = SPACES[ordinal]
    lane, replica = LANES[number % len(LANES)]
    share = (minute - begun) / (ended - begun)
    return {
        "id": f"f{number:016d}",
        "code": code,
        "severity": severity,
        "at_ms": round(minute * MINUTE_MS),
        "at": at(minute * MINUTE_MS),
        "lane": lane,
        "replica": replica,
        "band": f"{lane}/{ordinal}",
        "epoch": epoch,
        "event_id": str(first + int((last - first) * share)),
        "sentence": sentence,
        "rule": f"detector {letter}",
        "letter": letter,
        "ref": f"n{number}",
    }
