"""The rollout board: replicas, their phases, and their counters beside what to expect of them."""

from __future__ import annotations

from typing import Any

import pytest

from events.domain.records import SECOND
from events.domain.resets import REASONS, reason_of, reset_row
from events.domain.roll_counters import Growth, Sample, counter_of, growth_of
from events.domain.roll_phases import effective_flag, mix_of, state_of, version_of
from events.domain.rollout import Board, ReplicaFacts, board

MINUTE = 60 * SECOND
RESETS = "pad_event_sequence_resets_total"
GAPS = "pad_event_resume_gaps_total"
UP = "pad_redis_up"


def reset(reason: str) -> str:
    """Name the series of a reset reason."""
    return f'{RESETS}{{reason="{reason}"}}'


def series(*values: float, every: int = MINUTE, start: int = 0) -> list[Sample]:
    """Give samples, a minute apart unless told otherwise."""
    return [Sample(start + place * every, value) for place, value in enumerate(values)]


def replica(name: str, phase: str, *, version: str = "v2", **metrics: Any) -> ReplicaFacts:
    """Give a replica that knows an epoch, with growths by reason, and `gaps`."""
    told = {UP: series(1, 1)}
    for counter, grown in metrics.items():
        metric = GAPS if counter == "gaps" else reset(counter)
        told[metric] = grown if isinstance(grown, list) else series(0, grown)
    return ReplicaFacts(name, phase, version=version, knows_epoch=True, metrics=told)


def verdicts(made: Board, name: str) -> dict[str, str]:
    """Give the verdicts on a replica's counters that were sampled."""
    row = next(one for one in made.rows if one.replica == name)
    sampled = (one for one in row.cells if one.growth is not None and not one.is_absent)
    return {one.counter: one.judged.verdict for one in sampled}


@pytest.mark.parametrize(
    ("env", "file", "value", "warns"),
    [
        pytest.param(None, False, False, False, id="C56 unset, so the file's false"),
        pytest.param("", True, True, False, id="C56 empty, so the file's true"),
        pytest.param("true", False, True, False, id="C56 the environment wins"),
        pytest.param("false", True, False, False, id="C56 the environment wins against true"),
        pytest.param("T", False, True, False, id="as Go reads truths"),
        pytest.param("0", True, False, False, id="as Go reads falsehoods"),
        pytest.param("yes", False, False, True, id="C56 unreadable, so the file's, and a warning"),
        pytest.param("tRuE", True, True, True, id="Go reads no other case"),
    ],
)
def test_the_environment_beats_the_file(
    env: str | None, file: bool, value: bool, warns: bool
) -> None:
    found = effective_flag(env, file)

    assert (found.value, bool(found.warning)) == (value, warns)


@pytest.mark.parametrize(
    ("told", "state"),
    [
        ({"phase": "1"}, "S1"),
        ({"phase": "1", "knows_epoch": True}, "S1a"),
        ({"phase": "2"}, "S2"),
        ({"phase": "2", "knows_epoch": True}, "S2a"),
        ({"phase": "S0", "knows_epoch": True}, "S0"),
        ({"phase": "s1A"}, "S1a"),
        ({"version": "v0"}, "S0"),
        ({"version": "v1", "forms": ["bare"]}, "S1"),
        ({"version": "v1", "forms": ["bare", "prefixed"]}, "S2"),
        ({"forms": ["bare"]}, ""),
        ({}, ""),
    ],
)
def test_a_replica_s_state_is_told_by_its_line_its_version_or_what_it_writes(
    told: dict[str, Any], state: str
) -> None:
    assert state_of(**told)[0] == state


@pytest.mark.parametrize(
    ("states", "mix"),
    [
        (["S0", "S0"], "all_s0"),
        (["S0", "S1"], "s0_s1"),
        (["S1", "S1a"], "all_s1"),
        (["S1a", "S2"], "s1_s2"),
        (["S2", "S2a"], "all_s2"),
        (["S0", "S2"], "s0_s2"),
        (["S0", "S1", "S2a"], "s0_s2"),
        (["", "S1"], "all_s1"),
        ([""], "unknown"),
        ([], "unknown"),
    ],
)
def test_the_mix_of_phases_is_named(states: list[str], mix: str) -> None:
    assert mix_of(states) == mix


def test_an_epoch_on_the_wire_beside_an_old_replica_is_the_illegal_mix_already() -> None:
    assert mix_of(["S0", "S1"], is_prefixed_seen=True) == "s0_s2"
    assert mix_of(["S1"], is_prefixed_seen=True) == "all_s1"


def test_the_illegal_mix_is_told_of_the_replicas_that_make_it() -> None:
    made = board([replica("old", "S0", version="v0"), replica("mid", "1"), replica("new", "2")])

    assert made.is_illegal
    assert [row.verdict for row in made.rows if row.replica != "mid"] == ["illegal", "illegal"]
    assert [bool(row.sentence) for row in made.rows] == [True, False, True]


@pytest.mark.parametrize(
    ("phases", "metrics", "expected"),
    [
        pytest.param("11", {"epoch_change": 0}, "ok", id="phase 1: no epoch change"),
        pytest.param("11", {"epoch_change": 1}, "unusual", id="phase 1: nobody writes epochs"),
        pytest.param("12", {"epoch_change": 1}, "ok", id="second roll: one a replica"),
        pytest.param("12", {"epoch_change": 2}, "unusual", id="second roll: not two"),
        pytest.param("22", {"epoch_change": 3}, "ok", id="phase 2: a handful"),
        pytest.param("22", {"epoch_change": 6}, "unusual", id="phase 2: more than a handful"),
        pytest.param(
            "22", {"epoch_change": series(0, 1, 2, 3, 4)}, "unusual", id="phase 2: a trickle"
        ),
        pytest.param("12", {"counter_backward": 40}, "ok", id="second roll: two publishers"),
        pytest.param("12", {"counter_backwards": 40}, "ok", id="its other spelling"),
        pytest.param("22", {"counter_backward": 2}, "ok", id="phase 2: about none"),
        pytest.param("22", {"counter_backward": 3}, "unusual", id="phase 2: an anomaly"),
        pytest.param(
            "22", {"counter_backward": series(0, 0, 1)}, "ok", id="phase 2: one late message"
        ),
        pytest.param("11", {"undecodable_message": 1}, "unusual", id="undecodable: none"),
        pytest.param("22", {"undecodable_message": 0}, "ok", id="undecodable: none came"),
        pytest.param("12", {"gaps": series(0, 9, 9, 9)}, "ok", id="gaps: a step that settles"),
        pytest.param(
            "12", {"gaps": series(*range(20))}, "unusual", id="gaps: a loop that does not settle"
        ),
        pytest.param("11", {"gaps": series(*range(20))}, "ok", id="gaps: the usual rate"),
        pytest.param(
            "22", {"epoch_regressed": 1}, "unusual", id="regressed without a change of epoch"
        ),
    ],
)
def test_a_counter_is_judged_by_the_phase(
    phases: str, metrics: dict[str, Any], expected: str
) -> None:
    made = board([replica("r1", phases[0], **metrics), replica("r2", phases[1])])

    assert list(verdicts(made, "r1").values()) == [expected]


def test_a_regression_beside_a_change_of_epoch_was_in_flight() -> None:
    made = board([replica("r1", "2", epoch_change=1, epoch_regressed=1)])

    assert verdicts(made, "r1") == {"epoch_change": "ok", "epoch_regressed": "ok"}


def test_a_replica_of_phase_1_that_saw_no_epoch_does_not_check_ids() -> None:
    unarmed = ReplicaFacts("r1", "1", version="v2", metrics={
        reset("counter_backward"): series(0, 1)
    })  # fmt: skip
    opaque = ReplicaFacts("r1", "1", version="v1", metrics=unarmed.metrics)

    assert verdicts(board([unarmed]), "r1") == {"counter_backward": "unusual"}
    assert verdicts(board([opaque]), "r1") == {"counter_backward": "ok"}


def test_the_oldest_version_has_none_of_these_counters() -> None:
    made = board([replica("r1", "S0", version="v0")])

    notes = {one.counter: one.judged.rule for one in made.rows[0].cells}
    assert notes["epoch_change"] == "not_counted"
    assert notes["resume_gaps"] == "no_samples"


def undecodable(version: str, sender_phase: str) -> str:
    """Give the rule on messages that a replica could not read, beside another in that phase."""
    other = ReplicaFacts("new", "2", heartbeat_phase=sender_phase, knows_epoch=True)
    made = board([replica("old", "2", version=version, undecodable_message=7), other])
    cell = next(one for one in made.rows[0].cells if one.counter == "undecodable_message")
    assert cell.judged.verdict == "unusual"
    return cell.judged.rule


def test_liveness_frames_that_come_too_early_are_named_as_the_cause() -> None:
    assert undecodable("v2", "2") == "frames_too_early"


def test_liveness_frames_are_not_blamed_where_nobody_sends_them_or_all_read_them() -> None:
    assert undecodable("v2", "1") == undecodable("v3", "2") == "none_expected"


def test_liveness_frames_that_nobody_failed_to_read_are_well() -> None:
    other = ReplicaFacts("new", "2", heartbeat_phase="2", knows_epoch=True)
    made = board([replica("old", "2", undecodable_message=0), other])

    assert verdicts(made, "old") == {"undecodable_message": "ok"}


def absent(made: Board) -> list[str]:
    """Name the counters that are 0 because they have no series."""
    return [one.counter for one in made.rows[0].cells if one.is_absent]


def test_a_reason_without_a_series_beside_its_siblings_never_rose() -> None:
    made = board([replica("r1", "2", epoch_change=1)])

    assert absent(made) == [
        "counter_backward", "epoch_regressed", "undecodable_message", "subscription_resumed",
    ]  # fmt: skip
    assert all(one.growth == Growth(0, 0, 0, 0) for one in made.rows[0].cells if one.is_absent)


def test_a_version_has_no_reasons_that_came_after_it() -> None:
    made = board([replica("r1", "S1", version="v1", gaps=1)])

    assert absent(made) == ["epoch_change", "counter_backward", "subscription_resumed"]


@pytest.mark.parametrize("version", [None, "generic"])
def test_of_a_version_that_is_not_known_nothing_counts_as_absent(version: str | None) -> None:
    known = {GAPS: series(0, 1)}

    assert absent(board([ReplicaFacts("r1", version=version, metrics=known)])) == []


@pytest.mark.parametrize(
    ("told", "version"),
    [
        (("2", "1"), "generation+hb"),
        (("1",), "generation"),
        (("2", "", "bare"), "generation"),
        (("S0",), "bare"),
        (("s0", "", "generation"), "bare"),
        (("S1", "", "v1"), "opaque"),
        (("", "", "bare"), "bare"),
        (("", "", "watch"), None),
        (("",), None),
    ],
)
def test_a_version_is_told_by_the_startup_line_else_by_what_its_lane_reads(
    told: tuple[str, ...], version: str | None
) -> None:
    assert version_of(*told) == version


def test_a_replica_without_samples_is_not_known_to_be_well() -> None:
    made = board([ReplicaFacts("r1", "2")])

    assert made.rows[0].verdict == "unknown"
    assert all(one.judged.expected or one.judged.note for one in made.rows[0].cells)


def test_a_replica_that_told_nothing_is_not_judged_by_a_phase() -> None:
    made = board([replica("r1", "", epoch_change=9)])

    assert (made.mix, verdicts(made, "r1")) == ("unknown", {"epoch_change": "unknown"})


@pytest.mark.parametrize(
    ("samples", "growth"),
    [
        (series(5, 5), Growth(0, 0, 0, 5)),
        (series(5, 7), Growth(2, 1, 0, 7)),
        (series(5, 2), Growth(2, 1, 1, 2)),
        (series(5, 0, 1), Growth(1, 1, 1, 1)),
        (series(1, start=MINUTE), Growth(1, 1, 0, 1)),
    ],
)
def test_counters_rise_and_start_again_with_their_process(
    samples: list[Sample], growth: Growth
) -> None:
    assert growth_of(samples, 0, 10 * MINUTE) == growth


def test_a_rise_that_is_over_has_settled() -> None:
    rising = series(*range(20))

    assert growth_of(rising, 0, 20 * MINUTE) == Growth(19, 19, 0, 19, is_lasting=True)
    assert growth_of(rising, 0, 40 * MINUTE) == Growth(19, 19, 0, 19, is_lasting=False)


@pytest.mark.parametrize(
    ("name", "counter"),
    [
        (GAPS, "resume_gaps"),
        (reset("counter_backwards"), "counter_backward"),
        (f'{RESETS}{{instance="a",reason="epoch_change"}}', "epoch_change"),
        (f'{RESETS}{{other_reason="epoch_change"}}', None),
        (reset("someday"), None),
        (RESETS, None),
        ('pad_watchevents_sequence_resets_total{reason="epoch_change"}', None),
    ],
)
def test_series_are_known_by_their_names_and_labels(name: str, counter: str | None) -> None:
    assert counter_of(name) == counter


@pytest.mark.parametrize(
    ("word", "fields", "floor", "epochs"),
    [
        ("counter_backwards", {"high_water_mark": "200", "id": "150"}, "raised", (None, None)),
        ("epoch_change", {"previous_epoch": "7", "new_epoch": "8"}, "cleared", ("7", "8")),
        ("epoch_regressed", {"message_epoch": "4", "current_epoch": "5"}, "kept", ("5", "4")),
        ("epoch_regressed", {"previous_epoch": "5", "new_epoch": "4"}, "cleared", ("5", "4")),
        ("undecodable_message", {"channel_workspace": "ws-1"}, "none", (None, None)),
    ],
)
def test_a_reset_says_what_became_of_the_floor(
    word: str, fields: dict[str, str], floor: str, epochs: tuple[str | None, str | None]
) -> None:
    row = reset_row(word, fields)

    assert (row.is_known, row.floor, (row.old_epoch, row.new_epoch)) == (True, floor, epochs)
    assert row.meaning and row.expected


def test_the_two_spellings_of_a_reason_are_one() -> None:
    assert reason_of("counter_backwards") == reason_of("counter_backward") == "counter_backward"
    assert reset_row("counter_backwards", {"id": "150"}).id == 150


def test_a_reason_that_nobody_told_us_of_is_kept_as_it_is() -> None:
    row = reset_row("solar_flare", {"id": "x"}, "ws-9")

    assert (row.reason, row.is_known, row.scope, row.id) == ("solar_flare", False, "unknown", None)
    assert (row.workspace, "solar_flare" in REASONS) == ("ws-9", False)
