"""What must hold between receipts, in words: each invariant, and each rule that finds it broken."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Invariant:
    """One thing that must hold; `pieces` says what its two receipts are.

    `broken` says that it does not hold, `checks` what is compared, `leaves_out` what cannot be, and
    `nothing` why nothing was checked at all.
    """

    code: str
    title: str
    broken: str
    pieces: tuple[str, str]
    checks: str
    leaves_out: str
    nothing: str


_SKIP = ("the skip", "its original")

INVARIANTS: tuple[Invariant, ...] = (
    Invariant(
        "original_older",
        "A skip's original is older than the skip",
        "an original is newer than its skip",
        _SKIP,
        "Skips whose named original was found.",
        "Two clocks that differ by 30 s or less, a receipt without a time of its own, a job of "
        "which only a start tells, and skips that were superseded, whose original is newer.",
        "No skip named an original that was found.",
    ),
    Invariant(
        "same_scope",
        "A skip and its original belong to one scope",
        "a skip and its original are of two scopes",
        _SKIP,
        "Skips whose named original was found, where both name a scope.",
        "Pairs of two sources, and keys that both sides share and that hold no scope.",
        "No skip and its original both named a scope.",
    ),
    Invariant(
        "same_generation",
        "A skip and its original belong to one generation of the call",
        "a skip and its original are of two generations",
        _SKIP,
        "Skips whose named original was found, where both name a generation of one invoke.",
        "Skips for superseded or wrong_generation, and keys that both sides share and that hold "
        "neither scope nor invoke.",
        "No skip and its original both named a generation.",
    ),
    Invariant(
        "original_succeeded",
        "What is already done did not fail",
        "a skip for what was done points to what failed",
        ("the skip", "the end of its original"),
        "Skips for already_done whose named original had ended.",
        "Ends within 30 s of the skip, states that the key counts as its own, and skips that say "
        "themselves that the original had failed.",
        "No skip for already_done named an original that had ended.",
    ),
    Invariant(
        "one_done",
        "A key is done at most once in its window",
        "a key was done more than once",
        ("the later done", "the earlier done"),
        "Dones with a key, against the 20 dones of the same key before them.",
        "Dones without a key. Dones of one job are its retries, and a key that was released may "
        "be done again.",
        "No done named a key.",
    ),
    Invariant(
        "done_has_start",
        "A done has a start",
        "a done has no start",
        ("the done", ""),
        "Dones of a source and task that sent a start before.",
        "Sources and tasks that send no starts, and dones that name no job, key or original.",
        "No source sends starts of what it does.",
    ),
    Invariant(
        "mutation_has_actor",
        "A mutation has an actor",
        "a mutation names nobody",
        ("the act", ""),
        "Receipts of kind act.",
        "",
        "No receipt tells of a mutation.",
    ),
    Invariant(
        "no_holes",
        "Numbers of a scope and generation have no holes",
        "numbers are missing",
        ("the receipt after the hole", "the receipt before it"),
        "Receipts whose invoke carries a number, seq.",
        "Producers that do not number; numbers before the first and after the last that came.",
        "No receipt carries a number of its scope and generation.",
    ),
    Invariant(
        "row_agrees",
        "A job's row agrees with what was told of the job",
        "a job's row says otherwise",
        ("what was told", "the row"),
        "Sources with a reader of their job table: dones against the rows they left, and jobs "
        "that were stored against what the reader saw.",
        "Sources without such a reader; jobs that the reader passed later than a minute after "
        "they were stored, since their rows may have been pruned.",
        "No done and no job that was stored could be held against a row.",
    ),
)  # fmt: skip

BY_CODE: dict[str, Invariant] = {one.code: one for one in INVARIANTS}

RULE_WORDS: dict[str, str] = {
    "times": "their times differ by more than two clocks may",
    "numbers": "one stream numbers the original after the skip",
    "scopes": "the scopes differ",
    "generations": "the generations differ",
    "ended-before": "the original had ended without success before the skip",
    "same-key": "the keys are equal",
    "no-start": "nothing tells that it was begun",
    "no-actor": "nobody is named",
    "hole": "numbers are missing between two that came",
    "row-ended-otherwise": "the row says that the attempt ended otherwise",
    "row-never-came": "the reader went past the job and never saw it",
}
"""What each rule found."""
