"""How closed lists of states look: their tones, symbols and words."""

from __future__ import annotations

TONE_ICONS = {"done": "check", "skip": "skip", "bad": "x", "gap": "diamond", "plain": "circle"}
"""The tones of a state, and the symbol that stands for one where no other is named."""

POINTER_WORDS: dict[str, tuple[str, str]] = {
    "resolved": ("found", "done"),
    "resolved-chain": ("found, through others", "done"),
    "resolved-late": ("found, late", "done"),
    "resolved-by-key": ("found by key", "done"),
    "not-needed": ("explained by a rule", "done"),
    "unrecorded": ("not recorded by policy", "plain"),
    "pending": ("not here yet", "plain"),
    "dangling": ("not found", "bad"),
    "ambiguous": ("several candidates", "bad"),
    "cycle": ("points in a circle", "bad"),
    "wrong-kind": ("points to the wrong kind", "bad"),
    "missing-pointer": ("names no original", "bad"),
    "target-quarantined": ("original set aside", "gap"),
    "target-redacted": ("original erased", "plain"),
}

OUTCOME_TONES = {"failed": "bad", "cancelled": "plain", "running": "plain", "skipped": "skip"}
"""A pointer that was found looks like what became of its original."""

LEVEL_WORDS = {
    "reconstructed": "reconstructed later",
    "asserted": "asserted by a person",
    "unknown": "nobody said how it is known",
}

HAPPENED = {
    "skip": "when it was skipped",
    "done": "when it was done",
    "fail": "when it failed",
    "cancel": "when it was cancelled",
    "enqueue": "when it was asked for",
}

UNSEEN_NAMES = {0x00: "NUL", 0x08: "BS", 0x0D: "CR", 0x1B: "ESC", 0x7F: "DEL", 0xFEFF: "BOM"}
"""The usual names of characters that cannot be seen; all others are told by their number."""
