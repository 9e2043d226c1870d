"""What a finding is called on pages, and its sentence: those of buses and those of keys."""

from __future__ import annotations

from events.domain import codes, key_health, sentences
from events.domain.codes import Mark
from events.domain.findings import Finding

_KEY_WORDS = {
    key_health.KEY_TTL: "a key that expires",
    key_health.KEY_WRONG_TYPE: "a key of the wrong type",
    key_health.KEY_BAD_VALUE: "a key without a number",
    key_health.KEY_EVICTABLE: "keys that may be evicted",
    key_health.KEY_MISSING: "a key that is gone",
}


def mark_of(code: str) -> Mark:
    """Give severity, letter, icon and word of a code."""
    if code in _KEY_WORDS:
        return Mark(key_health.CODES[code].severity, "V", "key-round", _KEY_WORDS[code])
    return codes.mark_of(code)


def sentence_of(finding: Finding) -> str:
    """Say a finding in a sentence."""
    if finding.code in key_health.CODES:
        named = f"{finding.scope}: " if finding.scope else ""
        return f"{named}{key_health.CODES[finding.code].sentence}"
    return sentences.sentence(finding)
