"""The shape of each finding's mark: kinds are told apart without colour and without reading."""

from __future__ import annotations

CIRCLE = "M-8 0a8 8 0 1 0 16 0a8 8 0 1 0 -16 0Z"
DIAMOND = "M0 -10L10 0L0 10L-10 0Z"
SQUARE = "M-8 -8H8V8H-8Z"
NOTCH = "M-9 -8H9L0 10Z"
PEAK = "M0 -10L9 8H-9Z"
HEXAGON = "M-5 -9H5L10 0L5 9H-5L-10 0Z"
PENTAGON = "M0 -10L10 -2L6 9H-6L-10 -2Z"
OCTAGON = "M-4 -9H4L9 -4V4L4 9H-4L-9 4V-4Z"
FLAG = "M-8 -8H10L6 0L10 8H-8Z"

_KINDS = {
    CIRCLE: ("EPOCH_CHANGE", "EPOCH_CHANGE_PLANNED", "EPOCH_FLAP", "EPOCH_REGRESSED"),
    DIAMOND: ("RESET_NO_EPOCH", "HW_REGRESS", "NEW_INCARNATION"),
    SQUARE: ("INTERLEAVE", "MIXED_FORMS", "STRAGGLER"),
    NOTCH: ("GAP", "TAIL_GAP", "LANE_SILENT"),
    HEXAGON: ("DUPLICATE", "RETRY_DUP"),
    FLAG: ("UNPARSABLE", "JUNK_ID", "PRECISION_LOSS"),
    PEAK: ("BASE_JUMP", "UNFLIPPED_PUBLISHER"),
    PENTAGON: ("CROSS_FEED", "FORKED_EPOCH", "SHARED_NAMESPACE"),
    OCTAGON: ("SILENT_SKIP", "AMBIGUOUS_RESUME", "NEEDLESS_RESYNC"),
}

SHAPES = {code: path for path, codes in _KINDS.items() for code in codes} | {"other": CIRCLE}
"""The path of each code's mark around 0, at most 20 wide and high; `other` for all other codes."""
