"""The verdicts on calls that the overview names: work that never ran, or an answer gone astray."""

from __future__ import annotations

from ledger.registry import WatchedVerdict

WATCHED = (
    WatchedVerdict(
        "dedup.lost_reentry",
        "A start of a new generation was taken for an older one and lost.",
        "starts of new generations were taken for older ones and lost.",
        "the work never ran; a key without the generation does this",
    ),
    WatchedVerdict(
        "dedup.residual_collision",
        "A start was taken for that of another element with the same id, and lost.",
        "starts were taken for those of other elements with the same id, and lost.",
        "the work never ran; two elements of the document share an id",
    ),
    WatchedVerdict(
        "delivery.stale_suspect",
        "An answer of an old generation may have been taken for the newer one's.",
        "answers of old generations may have been taken for newer ones'.",
        "inferred from times, not recorded",
    ),
)
