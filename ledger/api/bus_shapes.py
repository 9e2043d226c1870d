"""The shapes of the answers about buses, as JSON schemas; more members may come beside."""

from __future__ import annotations

from collections.abc import Mapping

from ledger.api import shapes
from ledger.api.shapes import COUNT, FLAG, LEAF, TEXT, WHEN, Schema, list_of, object_of, or_null

_NUMBER: Schema = {"type": "string", "pattern": "^-?[0-9]+$"}
"""An id of 64 bits, which passes through a browser as text alone."""
_AS_OF: Schema = object_of(
    {"leaf_index": {"type": "string", "pattern": "^(-1|[0-9]+)$"}, "time": WHEN}
)
_OFFSETS: Schema = list_of({"type": "number"})

_LANE: Schema = object_of(
    {
        "id": TEXT,
        "replica": TEXT,
        "watched": FLAG,
        "epoch": or_null(TEXT),
        "high_water": or_null(_NUMBER),
        "messages": COUNT,
        "first_at": WHEN,
        "last_at": or_null(WHEN),
    }
)
_SPACE: Schema = object_of(
    {
        "id": TEXT,
        "ordinal": COUNT,
        "epoch": or_null(TEXT),
        "kind": TEXT,
        "born_at": WHEN,
        "last_at": WHEN,
        "count": COUNT,
        "parent": or_null(TEXT),
        "first": or_null(_NUMBER),
        "last": or_null(_NUMBER),
        "least": or_null(_NUMBER),
        "greatest": or_null(_NUMBER),
        "switch_id": or_null(_NUMBER),
    }
)
_BUS: Mapping[str, Schema] = {
    "id": TEXT,
    "installation": TEXT,
    "bus": TEXT,
    "profile": TEXT,
    "density": shapes.one_of("dense", "sparse"),
    "messages": COUNT,
    "last_at": or_null(WHEN),
    "lanes": list_of(_LANE),
    "lanes_count": COUNT,
}
_INSTALLATION: Mapping[str, Schema] = {
    "id": TEXT,
    "name": TEXT,
    "alias_of": or_null(TEXT),
    "buses": list_of(object_of(_BUS)),
    "replicas": list_of(object_of({"replica": TEXT, "phase": or_null(TEXT)})),
    "last_at": or_null(WHEN),
}
_FINDING: Schema = object_of(
    {
        "finding": TEXT,
        "code": TEXT,
        "severity": shapes.one_of("critical", "warning", "note"),
        "at": WHEN,
        "installation": TEXT,
        "bus": TEXT,
        "lane": or_null(TEXT),
        "epoch": or_null(TEXT),
        "id": or_null(TEXT),
        "sentence": TEXT,
        "rule": TEXT,
    }
)
_BAND: Schema = {
    "allOf": [
        _SPACE,
        object_of(
            {
                "lane": TEXT,
                "replica": TEXT,
                "label": TEXT,
                "base": _NUMBER,
                "t": _OFFSETS,
                "lo": _OFFSETS,
                "hi": _OFFSETS,
                "n": list_of(COUNT),
            }
        ),
    ]
}
_TIMELINE: Schema = object_of(
    {
        "bus": shapes.ANY_OBJECT,
        "from": WHEN,
        "to": WHEN,
        "resolution": shapes.one_of("raw", "segments", "minutes"),
        "as_of": _AS_OF,
        "bands": list_of(_BAND),
        "lanes_count": COUNT,
        "strips": list_of(object_of({"lane": TEXT, "replica": TEXT, "bars": list_of({})})),
        "holes": list_of(shapes.ANY_OBJECT),
        "findings": list_of(object_of({"id": TEXT, "code": TEXT, "at_ms": {"type": "number"}})),
        "clusters": list_of(object_of({"code": TEXT, "count": COUNT})),
        "phases": list_of(object_of({"label": TEXT, "tone": TEXT})),
    }
)
_ANSWER = shapes.one_of("fresh", "serve", "refuse", "ambiguous")
_RESUME: Schema = object_of(
    {
        "answer": _ANSWER,
        "rule": TEXT,
        "sentence": TEXT,
        "count": COUNT,
        "ids": list_of(_NUMBER),
        "would_miss": list_of(_NUMBER),
        "would_miss_count": COUNT,
        "given": or_null(shapes.ANY_OBJECT),
        "versions": list_of(object_of({"version": TEXT, "answer": TEXT, "rule": TEXT})),
        "probes": list_of(object_of({"name": TEXT, "cursor": _NUMBER, "answer": _ANSWER})),
        "window": object_of({"messages": COUNT, "cap": COUNT, "capped": FLAG}),
    }
)
_BUFFER: Schema = object_of(
    {
        "lane": TEXT,
        "channel": or_null(TEXT),
        "at": WHEN,
        "basis": shapes.one_of("dumped", "reconstructed"),
        "head": shapes.ANY_OBJECT,
        "ruler": list_of(object_of({"state": TEXT, "from": _NUMBER, "to": _NUMBER})),
        "items": list_of(object_of({"kind": shapes.one_of("held", "missing", "elsewhere")})),
        "next": or_null(TEXT),
        "count": COUNT,
    }
)
_RESET: Schema = object_of({"reason": TEXT, "spelled": TEXT, "replica": TEXT, "at": WHEN})
_GIVEN: Schema = object_of(
    {
        "cursor": TEXT,
        "given": TEXT,
        "answer": _ANSWER,
        "rule": TEXT,
        "code": or_null(TEXT),
        "missed": list_of(TEXT),
        "missed_count": COUNT,
        "leaf_index": LEAF,
    }
)
ANSWERS: Mapping[str, Schema] = {
    "list_installations": shapes.page_of(object_of(_INSTALLATION)),
    "get_installation": object_of({**_INSTALLATION, "key_health": shapes.ANY_OBJECT}),
    "get_rollout": object_of(
        {"mix": TEXT, "sentence": TEXT, "illegal": FLAG, "items": list_of(shapes.ANY_OBJECT)}
    ),
    "list_resets": shapes.page_of(_RESET, {"reasons": list_of(shapes.ANY_OBJECT)}),
    "list_resumes": shapes.page_of(_GIVEN),
    "get_bus": object_of({**_BUS, "spaces": list_of(_SPACE), "settings": shapes.ANY_OBJECT}),
    "get_timeline": _TIMELINE,
    "list_findings": shapes.page_of(_FINDING),
    "get_finding": _FINDING,
    "get_lane": object_of({"id": TEXT, "replica": TEXT, "spaces_shown": list_of(_SPACE)}),
    "get_buffer": _BUFFER,
    "try_resume": _RESUME,
}
"""What each operation answers, by its id."""
