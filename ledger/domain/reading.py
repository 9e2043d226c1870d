"""From the bytes of one receipt to what ingest needs of it; it cannot raise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ledger.domain import canonical, checks, receipt_ids, shapes

VALIDATOR_VERSION = "1"
MAX_BODY = 1 << 20
MAX_ECHO = 80
SCHEMA = "counterfoil.receipt/1"
KINDS = (
    "enqueue",
    "start",
    "done",
    "fail",
    "skip",
    "cancel",
    "discard",
    "deliver",
    "retry",
    "prune",
    "rescue",
    "revoke",
    "heartbeat",
    "observe",
    "tally",
    "decide",
    "act",
    "other",
)
REASONS = (
    "already_done",
    "in_flight",
    "holder_lost",
    "superseded",
    "wrong_generation",
    "paused",
    "draining",
    "backlog_full",
    "rate_limited",
    "upstream_failed",
    "branch_not_taken",
    "condition_false",
    "expired",
    "redelivery",
    "lock_contended",
)
VIAS = ("row", "telemetry", "signal", "log", "client", "import")

State = Literal["accepted", "quarantined", "oversize"]

_KNOWN_KINDS = frozenset(KINDS)
_KNOWN_VIAS = frozenset(VIAS)
_DECISIVE = ("/id", "/kind")
_JSON_TYPES = frozenset(
    ["", "application/json", "text/json", "application/x-ndjson", "application/ndjson"]
)


@dataclass(frozen=True, slots=True)
class Fault:
    """One reason for quarantine: where (JSON pointer), its code, and what to do about it.

    A fault outlives the body it is about, so it repeats none of the producer's values.
    """

    pointer: str
    code: str
    detail: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What one body says, as far as it can be read.

    `kind` is a word of the vocabulary, `word` the one that was sent. `body` is the parsed object,
    with numbers as `canonical.Number`; None where there is none. `receipt_id` is the id claimed;
    None when absent or unfit. `canonical` is what two bodies are compared by: the canonical text,
    or the raw bytes where `has_canonical` is false, and then `stub` is empty.
    """

    state: State
    kind: str
    word: str
    body: dict[str, Any] | None
    faults: tuple[Fault, ...]
    receipt_id: receipt_ids.ReceiptId | None
    canonical: bytes
    has_canonical: bool
    stub: bytes

    @property
    def notes(self) -> tuple[str, ...]:
        """Give facts to show that are no faults, by their codes."""
        if self.body is None:
            return ()
        source = self.body.get("source")
        via = source.get("via") if type(source) is dict else None
        facts = (
            ("duplicate_member", not self.has_canonical),
            ("unknown_kind", bool(self.word) and self.word not in _KNOWN_KINDS),
            ("unknown_schema", self.body.get("schema", SCHEMA) != SCHEMA),
            ("unknown_via", type(via) is str and via not in _KNOWN_VIAS),
            ("nul", b"\\u0000" in self.canonical),
        )
        return tuple(note for note, holds in facts if holds)


def read(raw: bytes, content_type: str = "application/json", content_encoding: str = "") -> Reading:
    """Return the reading of one receipt's bytes, whatever they are.

    The headers are those of the request; a content type that is absent is taken for JSON. The
    rules are contract section 2 and reference/ledger.md section 4.
    """
    if len(raw) > MAX_BODY:
        fault = Fault("", "oversize", f"has {len(raw)} bytes; send at most {MAX_BODY}")
        return _unread(raw, fault, "oversize")
    fault_of_headers = _find_header_fault(raw, content_type, content_encoding)
    if fault_of_headers is not None:
        return _unread(raw, fault_of_headers)
    try:
        value, doubled = canonical.parse_any(raw)
    except canonical.NotCanonical as error:
        return _unread(raw, Fault(error.pointer, error.code, error.detail))
    if type(value) is not dict:
        return _read_no_object(raw, value, doubled)
    return _read_object(raw, value, doubled)


def _find_header_fault(raw: bytes, content_type: str, content_encoding: str) -> Fault | None:
    if not raw:
        return Fault("", "empty", "the body is empty; send one JSON object")
    encoding = content_encoding.strip()
    if encoding and encoding.lower() != "identity":
        detail = f"the content encoding is {_echo(encoding)}; send the body without one"
        return Fault("", "encoding", detail)
    if content_type == "application/json":
        return None
    essence = content_type.partition(";")[0].strip().lower()
    if essence in _JSON_TYPES or essence.endswith("+json"):
        return None
    detail = f"the content type is {_echo(essence)}; send application/json"
    return Fault("", "json", detail)


def _echo(text: str) -> str:
    return ascii(text[: MAX_ECHO - 20])[:MAX_ECHO]


def _unread(raw: bytes, fault: Fault, state: State = "quarantined") -> Reading:
    return Reading(state, "other", "", None, (fault,), None, raw, False, b"")


def _read_no_object(raw: bytes, value: Any, doubled: tuple[str, ...]) -> Reading:
    fault = Fault("", "type", f"the body is {checks.json_type(value)}; send one JSON object")
    if doubled:
        return _unread(raw, fault)
    text = canonical.canonical_text(value)
    stub = canonical.stub_text(value)
    return Reading("quarantined", "other", "", None, (fault,), None, text, True, stub)


def _read_object(raw: bytes, body: dict[str, Any], doubled: tuple[str, ...]) -> Reading:
    faults = [
        Fault(pointer, "duplicate", "is sent twice; send it once")
        for pointer in doubled
        if pointer in _DECISIVE
    ]
    receipt_id = None if "/id" in doubled else _read_receipt_id(body, faults)
    kind, word = _read_kind(body, faults)
    problems = checks.find_problems(shapes.check_of(kind), body)
    faults += [Fault(problem.pointer, problem.code, problem.detail) for problem in problems]
    text, stub = (raw, b"") if doubled else _texts(body)
    return Reading(
        state="quarantined" if faults else "accepted",
        kind=kind,
        word=word,
        body=body,
        faults=tuple(faults),
        receipt_id=receipt_id,
        canonical=text,
        has_canonical=not doubled,
        stub=stub,
    )


def _texts(body: dict[str, Any]) -> tuple[bytes, bytes]:
    text = canonical.canonical_text(body)
    # Without `data` the two are the same bytes, and writing them twice costs as much as parsing.
    return text, canonical.stub_text(body) if "data" in body else text


def _read_kind(body: dict[str, Any], faults: list[Fault]) -> tuple[str, str]:
    word = body.get("kind")
    if type(word) is str and word:
        return (word if word in _KNOWN_KINDS else "other"), word
    if "kind" not in body:
        fault = Fault("/kind", "missing", 'is missing; send a kind such as "done"')
    elif type(word) is str:
        fault = Fault("/kind", "length", 'is empty; send a kind such as "done"')
    else:
        detail = f'is {checks.json_type(word)}; send a kind such as "done"'
        fault = Fault("/kind", "type", detail)
    faults.append(fault)
    return "other", ""


def _read_receipt_id(body: dict[str, Any], faults: list[Fault]) -> receipt_ids.ReceiptId | None:
    if "id" not in body:
        return None
    problem = receipt_ids.id_fault(body["id"])
    if problem is None:
        return receipt_ids.read_id(body["id"])
    faults.append(Fault("/id", "id", problem))
    return None
