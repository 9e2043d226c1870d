"""The resume simulator: a version's answer beside the safe one, and what a client would miss."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from events.domain.records import HOLE, PREFIXED, SECOND, Record
from events.domain.simulate import Seen, Simulation, compare
from tests.unit.events.replica_cast import (
    VERSIONS,
    WS,
    bare,
    frame,
    junk,
    of_space,
    prefixed,
    told,
)
from tests.unit.events.resume_oracle import History, expected


def test_an_old_instance_skips_the_prefixed_messages_it_cannot_read() -> None:
    own = of_space(0, bare(10), bare(11), prefixed(7, 12), bare(13))

    assert told("v0", own, 11) == ("replay", "refuse", "SILENT_SKIP", [12])
    assert told("v0", own, 12) == ("replay", "serve", None, [])


def test_the_central_case_a_counter_that_restarts_and_climbs_past_is_seen_by_the_epoch_alone() -> (
    None
):
    own = of_space(0, *map(bare, (99, 100))) + of_space(1, *map(bare, (101, 102)))
    marked = of_space(0, *(prefixed(1, n) for n in (99, 100))) + of_space(
        1, *(prefixed(2, n) for n in (101, 102))
    )

    others = of_space(1, bare(50))

    assert told("v2", own, 100, others=others) == ("replay", "ambiguous", "AMBIGUOUS_RESUME", [50])
    assert told("v2", marked, 100) == ("sync_required", "refuse", None, [])


@pytest.mark.parametrize("version", ["v0", "v1"])
def test_a_version_that_skips_what_it_cannot_read_goes_on_claiming_coverage(version: str) -> None:
    own = [*of_space(0, bare(10)), Seen(junk()), *of_space(0, bare(12))]

    assert told(version, own, 10) == ("replay", "refuse", "SILENT_SKIP", [])
    assert told("v2", own, 10)[2] is None


def test_a_frame_that_an_older_version_cannot_read_costs_a_needless_resync() -> None:
    own = [*of_space(0, prefixed(1, 10)), Seen(frame()), *of_space(0, prefixed(1, 12))]

    assert told("v2", own, 10) == ("sync_required", "serve", "NEEDLESS_RESYNC", [])
    assert told("v3", own, 10) == ("replay", "serve", None, [])


@pytest.mark.parametrize("version", VERSIONS)
def test_what_another_replica_saw_and_this_one_did_not_is_missed(version: str) -> None:
    own = of_space(0, bare(10), bare(12))
    others = of_space(0, bare(10), bare(11), bare(12), bare(13))

    assert told(version, own, 10, others=others)[2:] == ("SILENT_SKIP", [11, 13])


def test_what_may_still_be_on_its_way_is_not_missed() -> None:
    own, others = of_space(0, bare(10, at=999)), of_space(0, bare(11, at=998.5))

    assert told("v2", own, 10, others=others) == ("caught_up", "serve", None, [])


def test_a_replica_that_never_heard_of_the_new_space_cannot_vouch_for_anything() -> None:
    own, others = of_space(0, bare(10)), of_space(1, bare(1))

    assert told("v2", own, 10, others=others) == ("caught_up", "refuse", "SILENT_SKIP", [1])


def test_the_edge_of_a_cold_join_is_served_by_both() -> None:
    assert told("v2", of_space(0, prefixed(4, 150)), 149)[2] is None


def test_a_straggler_that_drops_all_buffers_costs_needless_resyncs() -> None:
    own = [
        *of_space(0, prefixed(1, 500)),
        *of_space(1, prefixed(2, 1, at=1), prefixed(2, 2, at=2)),
        *of_space(0, prefixed(1, 501, at=3)),
        *of_space(1, prefixed(2, 3, at=4)),
    ]

    assert told("v2", own, "2", epoch="2") == ("sync_required", "serve", "NEEDLESS_RESYNC", [])


def test_a_cursor_of_an_older_epoch_misses_the_rest_of_it_and_what_came_before_the_ring() -> None:
    own = of_space(0, *(prefixed(1, n) for n in (1, 2, 3))) + of_space(
        1, *(prefixed(2, n) for n in (1, 2, 3, 4))
    )

    assert told("v2", own, 2, epoch="1")[1:] == ("refuse", "SILENT_SKIP", [3, 1, 2])


def test_once_the_ring_has_left_the_change_behind_one_below_the_floor_is_safe_again() -> None:
    own = of_space(0, prefixed(1, 100)) + of_space(1, *(prefixed(2, n) for n in range(1, 6)))

    assert told("v2", own, 2, epoch="2", capacity=3)[1:3] == ("serve", "NEEDLESS_RESYNC")


def test_ids_out_of_order_in_one_space_leave_the_greatest_as_its_high_water_mark() -> None:
    own = of_space(0, bare(1), bare(4), bare(3))

    assert told("v0", own, 4) == ("sync_required", "serve", "NEEDLESS_RESYNC", [])


def test_beyond_2_to_the_53rd_ids_stay_exact() -> None:
    base = 1876951040000000000
    own = of_space(0, bare(base + 1), bare(base + 3))
    others = of_space(0, bare(base + 2))

    assert told("v2", own, str(base + 1), others=others)[3] == [base + 2]


def test_what_came_after_the_instant_is_not_known_yet() -> None:
    own = of_space(0, bare(1, at=1), bare(2, at=2))

    found = compare("v2", own, 1, scope=WS, at=1_500_000)

    assert (found.given.ids, found.safe.answer) == ((), "serve")


def test_while_a_low_id_is_open_nobody_is_blamed_but_for_a_place_in_neither_life() -> None:
    own = [*of_space(0, prefixed(7, 200)), Seen(prefixed(7, 150, at=1), 0, is_stray=True)]
    quiet = [told("v2", own, cursor)[1:3] for cursor in (148, 149, 150, 199, 200)]
    after = [*own, *of_space(0, prefixed(7, 201, at=2))]
    served = [*of_space(0, bare(100), bare(200)), Seen(bare(150), 0, is_stray=True)]

    assert quiet == [("refuse", None), *[("ambiguous", None)] * 4]
    assert told("v0", served, 120) == ("replay", "ambiguous", "AMBIGUOUS_RESUME", [])
    assert told("v2", after, 201)[1:3] == ("serve", None)


KINDS = (
    *["publish"] * 12,
    *("restart", "silent_restart", "climb", "failover", "straggler"),
    *("junk", "frame", "hole", "cut_all", "swapped", "stray", "stray"),
)
STEP = st.tuples(
    st.sampled_from(KINDS),
    st.sampled_from(["bare", "prefixed"]),
    st.sampled_from([WS, WS, "ws-2"]),
    st.sampled_from(["both", "both", "both", "own", "other"]),
    st.sampled_from([0, 0, 1, 3, 30, 31]),
)
Steps = list[tuple[str, str, str, str, int]]


class Publisher:
    """A counter whose lives are known, and what two replicas hear of it."""

    def __init__(self, opaque: bool) -> None:
        self.history = History()
        self.opaque = opaque
        self.lives: list[tuple[int, int]] = [(1, 0)]

    def play(self, steps: Steps) -> History:
        for kind, form, scope, who, wait in steps:
            self.history.now += wait * SECOND
            self.change(kind, form, scope, who)
        return self.history

    def change(self, kind: str, form: str, scope: str, who: str) -> None:
        generation, last = self.lives[-1]
        if kind in ("restart", "climb"):
            self.lives.append(
                (1 + max(one for one, _ in self.lives), last if kind == "climb" else 0)
            )
        elif kind == "silent_restart":
            self.lives.append((generation, 0))
        elif kind == "failover":
            self.lives.append((max(1, generation - 1), max(0, last - 2)))
        elif kind in ("junk", "frame"):
            self.hear(self.record(kind, scope), -1, who)
        elif kind in ("hole", "cut_all"):
            self.hear(self.record(HOLE, scope if kind == "hole" else ""), -1, "own")
        elif kind == "stray":
            self.stray(form, scope, who)
        elif kind == "swapped":
            self.publish(form, scope, who, ahead=2)
            self.publish(form, scope, who, ahead=-1)
            self.lives[-1] = (generation, last + 2)
        else:
            self.publish(form, scope, who, space=-2 if kind == "straggler" else -1)

    def stray(self, form: str, scope: str, who: str) -> None:
        """Send an id below the newest, of which nothing tells what life of the counter it is of."""
        generation, last = self.lives[-1]
        known = self.history.own + self.history.other
        if last < 2 or not any(space == len(self.lives) - 1 for _, space in known):
            return
        epoch = (f"t{generation}" if self.opaque else str(generation)) if form == PREFIXED else None
        record = self.record(form, scope, epoch, 1 + len(known) % (last - 1))
        self.history.strays.add(record.place)
        self.hear(record, len(self.lives) - 1, who)

    def publish(self, form: str, scope: str, who: str, *, space: int = -1, ahead: int = 1) -> None:
        space = max(0, len(self.lives) + space)
        generation, last = self.lives[space]
        self.lives[space] = (generation, last + ahead)
        epoch = (f"t{generation}" if self.opaque else str(generation)) if form == PREFIXED else None
        self.hear(self.record(form, scope, epoch, last + ahead), space, who)

    def record(
        self, form: str, scope: str, epoch: str | None = None, id: int | None = None
    ) -> Record:
        place = (0, len(self.history.own) + len(self.history.other))
        names = ("i1", "activity", "r1", scope, form, epoch, id)
        return Record(self.history.now, *names, place=place)

    def hear(self, record: Record, space: int, who: str) -> None:
        if who != "other":
            self.history.own.append((record, space))
        if who != "own":
            self.history.other.append((record, space))


def differs_nowhere(version: str, steps: Steps, opaque: bool, capacity: int, later: int) -> None:
    history = Publisher(opaque).play(steps)
    history.now += later * SECOND
    simulation = Simulation(
        version,
        [Seen(*one, one[0].place in history.strays) for one in history.own],
        [Seen(*one, one[0].place in history.strays) for one in history.other],
        scope=WS,
        at=history.now,
        capacity=capacity,
    )

    for cursor, epoch, *rest in expected(version, history, WS, capacity):
        found = simulation.ask(cursor, epoch)
        missed = [(one.space, one.id) for one in found.missed]
        told = [found.given.kind, found.safe.answer, found.code, missed]
        assert told == rest, (cursor, epoch, found)


HISTORIES = (
    st.sampled_from(VERSIONS),
    st.lists(STEP, max_size=24),
    st.booleans(),
    st.sampled_from([3, 5, 1024]),
    st.sampled_from([0, 5]),
)


@settings(max_examples=300)
@given(*HISTORIES)
@example("v2", [("publish", "prefixed", WS, "both", 0)] * 6, False, 3, 5)
def test_nothing_differs_from_a_second_telling_but_the_three_codes(
    version: str, steps: Steps, opaque: bool, capacity: int, later: int
) -> None:
    differs_nowhere(version, steps, opaque, capacity, later)


@pytest.mark.slow
@pytest.mark.timeout(600)
@settings(max_examples=10_000)
@given(*HISTORIES)
def test_nothing_differs_on_ten_thousand_histories(
    version: str, steps: Steps, opaque: bool, capacity: int, later: int
) -> None:
    differs_nowhere(version, steps, opaque, capacity, later)
