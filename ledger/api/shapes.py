"""The shapes of the API's answers, as JSON schemas; members not named here may come beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}
WHEN: Schema = {"type": "string", "format": "date-time"}
REF: Schema = {"type": "string", "pattern": "^r[0-7][0-9a-hjkmnp-tv-z]{25}$"}
LEAF: Schema = {"type": "string", "pattern": "^(0|[1-9][0-9]*)$"}
ANY_OBJECT: Schema = {"type": "object"}


def or_null(schema: Schema) -> Schema:
    """Allow null beside a schema."""
    return {"anyOf": [schema, {"type": "null"}]}


def one_of(*words: str) -> Schema:
    """Allow some words."""
    return {"type": "string", "enum": list(words)}


def object_of(
    required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None
) -> Schema:
    """Describe an object by the members that are always there, and those that may be."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


def list_of(schema: Schema) -> Schema:
    """Describe a list."""
    return {"type": "array", "items": schema}


def named(name: str) -> Schema:
    """Refer to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


STORED: Schema = object_of(
    {
        "ref": named("Ref"),
        "id": TEXT,
        "state": one_of("accepted", "replayed"),
        "leaf_index": or_null(LEAF),
    },
    {"minted_id": FLAG, "bytes_differ": FLAG},
)
FAULT: Schema = object_of({"pointer": TEXT, "code": TEXT, "detail": TEXT})
SET_ASIDE: Schema = object_of(
    {"ref": named("Ref"), "state": one_of("quarantined"), "reasons": list_of(named("Fault"))}
)
PROBLEM: Schema = object_of(
    {"type": TEXT, "title": TEXT, "status": {"type": "integer"}, "code": TEXT},
    {
        "detail": TEXT,
        "instance": TEXT,
        "stored": {"enum": [True, False, "digest"]},
        "ref": named("Ref"),
        "first_ref": named("Ref"),
        "receipts": list_of(object_of({"ref": named("Ref"), "fingerprint": TEXT})),
    },
)
VERDICT: Schema = object_of({"code": TEXT, "sentence": TEXT, "level": TEXT})
WINDOW: Schema = object_of(
    {"complete": FLAG, "from": or_null(TEXT), "to": or_null(TEXT)},
    {"searched": or_null(COUNT), "lag": COUNT},
)
HOW_MANY: Schema = object_of(
    {"value": COUNT, "method": one_of("exact", "capped", "estimate"), "as_of": TEXT}
)
FEED: Schema = object_of(
    {
        "complete_until": or_null(WHEN),
        "silent": COUNT,
        "gaps": COUNT,
        "dropped": COUNT,
        "disputed": COUNT,
        "unnumbered": COUNT,
        "incomplete": COUNT,
    }
)
SUBJECT: Schema = object_of({"type": TEXT, "id": TEXT})
ITEM: Schema = object_of(
    {
        "ref": named("Ref"),
        "leaf_index": LEAF,
        "id": or_null(TEXT),
        "kind": TEXT,
        "word": TEXT,
        "state": TEXT,
        "verdict": ANY_OBJECT,
        "level": TEXT,
        "subjects": list_of(SUBJECT),
        "received_at": WHEN,
        "deliveries": COUNT,
    }
)
RECEIPT: Schema = object_of(
    {
        "ref": named("Ref"),
        "leaf_index": or_null(LEAF),
        "state": one_of("accepted", "conflict", "quarantined", "oversize"),
        "kind": TEXT,
        "word": TEXT,
        "id": or_null(TEXT),
        "length": COUNT,
        "minted_id": FLAG,
        "subjects": list_of(SUBJECT),
        "reasons": list_of(named("Fault")),
        "times": ANY_OBJECT,
        "deliveries": object_of({"count": COUNT, "items": list_of(ANY_OBJECT)}),
        "same_id": list_of(object_of({"ref": named("Ref")})),
        "derived_from": or_null(named("Ref")),
        "erased": FLAG,
    }
)
EXPLANATION: Schema = object_of(
    {
        "ref": named("Ref"),
        "leaf_index": or_null(LEAF),
        "as_of": ANY_OBJECT,
        "verdict": named("Verdict"),
    },
    {"attempt": ANY_OBJECT, "pointer": or_null(ANY_OBJECT), "cannot_know": list_of(TEXT)},
)

TASK: Schema = object_of(
    {
        "task": TEXT,
        "receipts": COUNT,
        "done": COUNT,
        "skipped": COUNT,
        "failed": COUNT,
        "tallied": object_of({"done": COUNT, "retried": COUNT}),
        "skipped_by_reason": ANY_OBJECT,
        "deliveries": or_null(COUNT),
        "executions": or_null(COUNT),
        "sees": TEXT,
        "ways": object_of({name: list_of(TEXT) for name in ("told", "seen", "skips")}),
        "recording": list_of(
            object_of(
                {
                    "choice": one_of("each", "tally", "never"),
                    "since": WHEN,
                    "token": or_null(TEXT),
                }
            )
        ),
        "q": TEXT,
    }
)
POLICY: Schema = object_of(
    {
        "source": or_null(TEXT),
        "version": or_null(TEXT),
        **{name: list_of(TEXT) for name in ("each", "tally", "never")},
        "since": WHEN,
        "until": or_null(WHEN),
        "token": or_null(TEXT),
        "ref": named("Ref"),
        "leaf_index": LEAF,
    }
)
FLIP: Schema = object_of(
    {
        "ref": or_null(named("Ref")),
        "leaf_index": LEAF,
        "at": WHEN,
        "from": one_of("ran", "skipped"),
        "to": one_of("ran", "skipped"),
        "rule": TEXT,
        "because": TEXT,
        "holder": or_null(ANY_OBJECT),
        "differs": list_of(object_of({"field": TEXT, "here": TEXT, "there": TEXT})),
    }
)
TRIAL: Schema = object_of(
    {
        "recipe": ANY_OBJECT,
        "attempts": COUNT,
        "would_run": COUNT,
        "would_skip": COUNT,
        "unjudged": list_of(object_of({"code": TEXT, "count": COUNT, "because": TEXT})),
        "flips": list_of(FLIP),
        "flips_count": object_of({"to_run": COUNT, "to_skip": COUNT}),
        "lost_reentries": COUNT,
        "compare": or_null(ANY_OBJECT),
    }
)
KEY: Schema = object_of(
    {
        "recipe": TEXT,
        "version": TEXT,
        "digest": TEXT,
        "fields": ANY_OBJECT,
        "holder": or_null(ANY_OBJECT),
        "turned_away": COUNT,
        "released": or_null(ANY_OBJECT),
    }
)

JOB_ROW: Schema = object_of(
    {
        "job": ANY_OBJECT,
        "verdict": ANY_OBJECT,
        "generation": or_null(ANY_OBJECT),
        "logical_scope": or_null(TEXT),
    }
)
JOB: Schema = object_of(
    {
        "job": ANY_OBJECT,
        "verdict": named("Verdict"),
        "generation": or_null(ANY_OBJECT),
        "logical_scope": or_null(TEXT),
        "original": or_null(ANY_OBJECT),
        "deliveries": or_null(COUNT),
        "executions": COUNT,
        "states": list_of(ANY_OBJECT),
        "skipped_because": object_of({"count": named("Count"), "items": list_of(named("Item"))}),
    }
)
SCOPE: Schema = object_of(
    {
        "scope": TEXT,
        "source": or_null(TEXT),
        "sources": list_of(TEXT),
        "strip": list_of(ANY_OBJECT),
        "invokes": list_of(ANY_OBJECT),
        "runs": list_of(JOB_ROW),
        "skips": list_of(named("Item")),
        "skipped": COUNT,
        "unresolved": COUNT,
    }
)
INVOKE: Schema = object_of(
    {
        "scope": TEXT,
        "invoke": TEXT,
        "source": or_null(TEXT),
        "sources": list_of(TEXT),
        "sentence": TEXT,
        "generations": list_of(ANY_OBJECT),
        "rows": list_of(ANY_OBJECT),
        "skips": list_of(named("Item")),
        "skipped": COUNT,
    }
)
JOB_CHOICES: Schema = object_of({"choices": list_of(ANY_OBJECT), "detail": TEXT})

CONTRADICTION: Schema = object_of(
    {
        "id": TEXT,
        "invariant": TEXT,
        "title": TEXT,
        "sentence": TEXT,
        "rule": TEXT,
        "since": WHEN,
        "refs": list_of(named("Ref")),
        "evidence": list_of(object_of({"is": TEXT, "ref": named("Ref"), "leaf_index": LEAF})),
    }
)
CHECK: Schema = object_of(
    {
        "invariant": TEXT,
        "state": one_of("holds", "broken", "not_checked"),
        "open": COUNT,
        "checked": COUNT,
        "not_checked": COUNT,
        "because": or_null(TEXT),
    }
)


_STANDING: Mapping[str, Schema] = {
    "state": one_of(
        "silent", "gap", "dropped", "disputed", "late", "unknown", "complete", "closed"
    ),
    "rule": TEXT,
    "rule_words": TEXT,
    "since": or_null(WHEN),
    "missing": COUNT,
}
_FLOW: Mapping[str, Schema] = {
    "heard_at": WHEN,
    "complete_until": or_null(WHEN),
    "written": or_null(COUNT),
    "arrived": COUNT,
    "dropped": COUNT,
    "waived": COUNT,
    "skew_s": or_null({"type": "number"}),
    "watched_since": WHEN,
}
GAP: Schema = object_of(
    {
        "gap": TEXT,
        "first": LEAF,
        "last": LEAF,
        "missing": COUNT,
        "since": WHEN,
        "is_open": FLAG,
    },
    {"closed_at": WHEN, "closed_by": TEXT, "reason": or_null(TEXT), "actor": or_null(TEXT)},
)
SPOOL: Schema = object_of(
    {
        "spool": TEXT,
        "producer": TEXT,
        **_STANDING,
        **_FLOW,
        "also": list_of(object_of(_STANDING)),
        "gaps": list_of(GAP),
        "gaps_count": COUNT,
        "leaf_index": LEAF,
    },
    {"closed_gaps": list_of(GAP), "history": list_of(ANY_OBJECT), "feed": FEED},
)
PRODUCER: Schema = object_of(
    {
        "producer": TEXT,
        **{name: one for name, one in _STANDING.items() if name != "missing"},
        **_FLOW,
        "gaps": COUNT,
        "not_complete": COUNT,
        "spools": object_of({"open": COUNT, "closed": COUNT}),
        "items": list_of(SPOOL),
    }
)


def page_of(item: Schema, more: Mapping[str, Schema] | None = None) -> Schema:
    """Describe a page of a list."""
    return object_of(
        {
            "items": list_of(item),
            "next": or_null(TEXT),
            "newer": or_null(COUNT),
            "window": named("Window"),
            "count": named("Count"),
            "feed": named("Feed"),
            **(more or {}),
        }
    )


SCHEMAS: dict[str, Schema] = {
    "Ref": REF,
    "Stored": STORED,
    "Fault": FAULT,
    "SetAside": SET_ASIDE,
    "Problem": PROBLEM,
    "Verdict": VERDICT,
    "Window": WINDOW,
    "Count": HOW_MANY,
    "Feed": FEED,
    "Item": ITEM,
    "Receipt": RECEIPT,
    "Explanation": EXPLANATION,
}
