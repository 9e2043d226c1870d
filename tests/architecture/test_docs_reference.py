"""The reference pages against what they describe."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from datetime import datetime

from config.env import SETTINGS
from kit.search import FieldSpec
from ledger.domain import canonical, draft, leaf, merkle, words
from ledger.queries.fields import BODIES_READ, FIELDS, INDEXED, SCANNED, STATES
from tests.architecture import APPS, ROOT, documents, list_sources

KINDS_OF_VALUES = {
    "text": "text",
    "word": "one of a list",
    "time": "time",
    "number": "number",
    "ordinal": "text, or a number to compare",
    "path": "path",
    "pair": "TYPE:ID",
}


def test_every_setting_is_described_by_its_own_words() -> None:
    told = list(documents.iter_rows(documents.read("docs/reference/settings.md")))

    meant = [
        [f"`{one.name}`", one.kind, f"`{one.default}`" if one.default else "empty", one.doc]
        for one in SETTINGS
    ]
    assert told == meant


def test_what_is_said_to_be_unused_is_used_nowhere() -> None:
    section = documents.sections_of(documents.read("docs/reference/settings.md"))["Not used yet"]
    unused = set(re.findall(r"`([A-Z_]+)`", section)) - {"REDIS_URL"}
    sources = [path for path in list_sources(*APPS) if path.parent.name != "config"]

    used = {
        name
        for path in [*sources, *(ROOT / "config").glob("[!es]*.py")]
        for name in unused
        if f"settings.{name}" in path.read_text() or f'"{name}"' in path.read_text()
    }

    assert unused <= {one.name for one in SETTINGS}
    assert used == set()


def test_every_qualifier_of_a_query_is_described() -> None:
    names = documents.sections_of(documents.read("docs/reference/query.md"))["Names"]

    assert list(documents.iter_rows(names)) == [row_of(spec) for spec in FIELDS.values()]


def row_of(spec: FieldSpec) -> list[str]:
    is_path = spec.type == "path"
    name = f"`{spec.name}.NAME`" if is_path else f"`{spec.name}`"
    index = "yes" if spec.name in INDEXED and not is_path else "no"
    return [name, KINDS_OF_VALUES[spec.type], index, spec.help]


def test_the_words_and_bounds_of_a_query_are_those_of_the_code() -> None:
    text = documents.read("docs/reference/query.md")

    told = dict(re.findall(r"^- `(\w+)`: (.+)$", text, re.MULTILINE))

    meant = {spec.name: ", ".join(f"`{w}`" for w in spec.allowed) for spec in FIELDS.values()}
    assert told == {name: allowed for name, allowed in meant.items() if allowed}
    assert f"{SCANNED:,} receipts" in text and f"{BODIES_READ:,} receipts" in text


def test_every_closed_word_is_explained() -> None:
    text = documents.read("docs/reference/words.md")

    closed = [*words.KIND_WORDS, *words.POINTER_STATES, *words.LEVELS, *STATES]

    assert [word for word in closed if f"`{word}`" not in text] == []


def test_reasons_are_told_with_their_words_and_what_explains_them() -> None:
    section = documents.sections_of(documents.read("docs/reference/words.md"))
    told = {tuple(row) for row in documents.iter_rows(section["Reasons for a skip"])}

    meant = {
        (f"`{code}`", said, "an original" if code in words.NEEDS_ORIGINAL else "a rule or a switch")
        for code, said in words.REASON_WORDS.items()
    }
    assert told == meant


def test_pointer_states_say_whether_they_need_someone() -> None:
    section = documents.sections_of(documents.read("docs/reference/words.md"))

    told = {
        row[0].strip("`"): row[2] for row in documents.iter_rows(section["States of a pointer"])
    }

    assert told == {s: "yes" if s in words.UNRESOLVED else "no" for s in words.POINTER_STATES}


def test_every_system_check_is_described() -> None:
    told = re.findall(r"^\| `(\S+)` ", documents.read("docs/reference/checks.md"), re.MULTILINE)
    given = {
        found
        for path in list_sources(*APPS)
        for found in re.findall(r'\bid="(\w+\.[EW]\d{3})"', path.read_text())
    }

    assert set(told) == given


def test_the_example_of_canonical_text_comes_out_as_it_is_told() -> None:
    text = documents.read("docs/reference/canonical-text.md")
    raw = documents.get_fence(text, "body").encode()

    value = canonical.parse(raw)

    assert canonical.canonical_text(value).decode() == documents.get_fence(text, "canonical")
    assert canonical.stub_text(value).decode() == documents.get_fence(text, "stub")
    assert f"{len(raw)} bytes" in text


def test_the_example_of_a_leaf_record_comes_out_as_it_is_told() -> None:
    text = documents.read("docs/reference/canonical-text.md")
    told = dict(documents.iter_rows(documents.sections_of(text)["A worked example"]))
    raw = documents.get_fence(text, "body").encode()
    record = documents.get_fence(text, "record").encode()
    shown = json.loads(record)
    key, salt = bytes(range(32)), bytes(range(32, 64))

    made = leaf.leaf_record(
        log=shown["log"],
        kind="skip",
        length=len(raw),
        received_at=datetime.fromisoformat(shown["recv"]),
        commit=leaf.commitment(salt, raw),
        stub=leaf.stub_commitment(salt, documents.get_fence(text, "stub").encode()),
    )

    fingerprint = draft.keyed(key, "content", documents.get_fence(text, "canonical"))
    assert made == record
    assert told["fingerprint"] == f"`{fingerprint.hex()}`"
    assert told["commit"] == f"`{shown['commit']}`"
    assert told["stub"] == f"`{shown['stub']}`"
    assert told["leaf hash"] == f"`{merkle.leaf_hash(record).hex()}`"
    assert f"{len(record)} bytes" in text


def test_the_example_follows_from_the_page_without_our_code() -> None:
    text = documents.read("docs/reference/canonical-text.md")
    told = dict(documents.iter_rows(documents.sections_of(text)["A worked example"]))
    key, salt = bytes(range(32)), bytes(range(32, 64))
    body, stub = (documents.get_fence(text, name).encode() for name in ("body", "stub"))
    compared = b"content\x00" + documents.get_fence(text, "canonical").encode()

    stub_salt = hmac.digest(salt, b"stub", "sha256")

    assert told == {
        "fingerprint": f"`{hmac.digest(key, compared, 'sha256').hex()}`",
        "commit": f"`{base64url(hmac.digest(salt, body, 'sha256'))}`",
        "stub salt": f"`{stub_salt.hex()}`",
        "stub": f"`{base64url(hmac.digest(stub_salt, stub, 'sha256'))}`",
        "leaf hash": f"`{leaf_hash(documents.get_fence(text, 'record'))}`",
    }


def base64url(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def leaf_hash(record: str) -> str:
    return hashlib.sha256(bytes(1) + record.encode()).hexdigest()
