"""Ids that a buffer does not hold: who has them, and when nobody can tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from hypothesis import given
from hypothesis import strategies as st

from events.domain.missing import Around, Missing, missing_below


def lacking(
    *held: int,
    channels: Mapping[int, str] | None = None,
    replicas: Mapping[int, Collection[str]] | None = None,
    watched: int = 2,
    blind: tuple[tuple[int, int], ...] = (),
) -> dict[int, list[Missing]]:
    """Give what is missing below each id; messages came a second apart."""
    came = [(one, place) for place, one in enumerate(held)]
    return missing_below(came, Around(channels or {}, replicas or {}, watched, blind))


def test_ids_in_a_row_lack_nothing() -> None:
    assert lacking(4, 5, 6) == {}


def test_an_id_that_no_replica_has_was_burned() -> None:
    assert lacking(4, 6) == {6: [Missing(5, 5, 1, "burned", (5,))]}


def test_with_one_lane_alone_nobody_can_tell() -> None:
    assert lacking(4, 6, watched=1)[6][0].why == "unknown"


def test_an_id_that_another_replica_saw_is_a_fault_of_delivery() -> None:
    (one,) = lacking(4, 6, replicas={5: {"r2"}})[6]

    assert (one.why, one.seen_by) == ("other_replica", ("r2",))


def test_an_id_of_another_channel_is_no_loss() -> None:
    (one,) = lacking(4, 6, channels={5: "ws-2"}, replicas={5: {"r2"}})[6]

    assert (one.why, one.seen_by) == ("other_channel", ("ws-2",))


def test_what_is_missing_across_our_own_hole_was_not_watched() -> None:
    assert lacking(4, 6, blind=((0, 1),))[6][0].why == "unwatched"


def test_reasons_of_one_hole_are_told_apart() -> None:
    found = lacking(10, 20, channels={11: "b", 12: "b"}, replicas={15: {"r3", "r2"}})[20]

    assert [(one.why, one.count, one.first, one.last) for one in found] == [
        ("other_replica", 1, 15, 15), ("other_channel", 2, 11, 12), ("burned", 6, 13, 19),
    ]  # fmt: skip
    assert found[0].seen_by == ("r2", "r3")
    assert found[2].ids == (13, 14, 16, 17, 18, 19)


def test_a_hole_of_a_billion_ids_is_one_row_and_names_the_first() -> None:
    (one,) = lacking(1, 1_876_951_040_000_000_001)[1_876_951_040_000_000_001]

    assert one.count == 1_876_951_039_999_999_999
    assert one.ids == tuple(range(2, 22))


@given(st.sets(st.integers(0, 60), min_size=2), st.sets(st.integers(0, 60)))
def test_every_missing_id_is_counted_once(held: set[int], elsewhere: set[int]) -> None:
    others = {one: {"r2"} for one in elsewhere - held}

    found = lacking(*sorted(held), replicas=others)

    span = max(held) - min(held) + 1
    assert sum(one.count for each in found.values() for one in each) == span - len(held)
