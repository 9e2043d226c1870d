"""The key lab: what another key would have made of attempts that are told here one by one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.domain.because import because, duration
from jobs.domain.fields import SEPARATOR, Shape
from jobs.domain.lab import Result, simulate
from jobs.domain.recipes import RUN_AGAIN, Recipe, Row

S = 1_000_000
INVOKE = ("scope", "invoke_id", "macrostep")


@dataclass
class Told:
    """A history in the making: shapes by number, and rows in order."""

    shapes: dict[int, Shape] = field(default_factory=dict)
    rows: list[Row] = field(default_factory=list)

    def attempt(self, outcome: str, at: float, values: dict[str, Any], **more: Any) -> Told:
        """Add an attempt; a run completes one second later unless told otherwise."""
        ends = {"state": "c", "ended": at + 1, "gone": None} | {
            name: more.pop(name) for name in ("state", "ended", "gone") if name in more
        }
        shape = Shape(names=tuple(values), **{"own": len(values), **more})
        number = next((n for n, one in self.shapes.items() if one == shape), len(self.shapes))
        self.shapes[number] = shape
        packed = SEPARATOR.join(str(value) for value in values.values())
        gone = None if ends["gone"] is None else int(ends["gone"] * S)
        self.rows.append((len(self.rows), int(at * S), number, packed, outcome, ends["state"],
                          int(ends["ended"] * S), gone))  # fmt: skip
        return self

    def ran(self, at: float, values: dict[str, Any], **more: Any) -> Told:
        return self.attempt("r", at, values, **more)

    def skipped(self, at: float, values: dict[str, Any], **more: Any) -> Told:
        return self.attempt("s", at, values, **more)

    def under(self, recipe: Recipe) -> Result:
        return simulate(recipe, self.shapes, self.rows)


def call(macrostep: int, scope: str = "e1", **more: Any) -> dict[str, Any]:
    return {"scope": scope, "invoke_id": "resolve", "macrostep": macrostep, **more}


def told_in(result: Result) -> list[tuple[int, str, str, str]]:
    return [(one.leaf, one.was, one.now, one.rule) for one in result.flips(50)]


def test_the_two_part_key_would_have_lost_the_reentry_and_names_its_holder() -> None:
    history = Told().ran(0, call(2)).skipped(5, call(2)).ran(60, call(5))

    result = history.under(Recipe(("scope", "invoke_id")))

    assert (result.would_run, result.would_skip, result.lost) == (1, 2, 1)
    (flip,) = result.flips(10)
    assert (flip.leaf, flip.was, flip.now, flip.holder) == (2, "ran", "skipped", 0)
    assert flip.differs == (("macrostep", "5", "2"),)
    assert because(flip, Recipe(("scope", "invoke_id")), "n{}".format, None) == (
        "n0 had taken the same scope and invoke_id 1 min before; "
        "it differs in macrostep (2 there, 5 here)."
    )


def test_a_new_generation_runs_under_the_key_that_has_it() -> None:
    history = Told().ran(0, call(1)).ran(60, call(2))

    assert told_in(history.under(Recipe(INVOKE))) == []


def test_a_recorded_skip_across_generations_would_have_run() -> None:
    history = Told().ran(0, call(1)).skipped(60, call(2))

    assert told_in(history.under(Recipe(INVOKE))) == [(1, "skipped", "ran", "none")]


@pytest.mark.parametrize("fields", [("job", "file", "n"), ("job", "file")])
def test_of_two_versions_of_a_recipe_either_alone_would_have_skipped_the_second(
    fields: tuple[str, ...],
) -> None:
    same = {"job": "report", "file": "a", "n": 1}
    history = (
        Told()
        .ran(0, same, own=3, recipe="report", version="1")
        .ran(60, same, own=2, recipe="report", version="2")
    )

    result = history.under(Recipe(fields))

    assert told_in(result) == [(1, "ran", "skipped", "held")]
    assert (result.across_recipes, result.lost) == (1, 0)
    assert "versions of one, never met" in because(result.flips(1)[0], Recipe(fields), str, None)


def test_as_recorded_the_two_versions_never_meet() -> None:
    same = {"job": "report", "file": "a", "n": 1}
    history = Told().ran(0, same, own=3, version="1").ran(60, same, own=2, version="2")

    assert told_in(history.under(Recipe())) == []


def test_as_recorded_two_rules_of_the_same_fields_never_meet() -> None:
    history = Told().ran(0, {"k": 1}, recipe="a").ran(60, {"k": 1}, recipe="b")

    assert told_in(history.under(Recipe())) == []


WINDOWS = [
    (None, []),
    (60.0, []),
    (59.0, [(1, "skipped", "ran", "window")]),
    (0.0, [(1, "skipped", "ran", "window")]),
]


@pytest.mark.parametrize(("window", "flips"), WINDOWS)
def test_a_window_lets_run_what_comes_later_than_it(window: float | None, flips: list[Any]) -> None:
    history = Told().ran(0, {"k": 1}).skipped(60, {"k": 1})

    assert told_in(history.under(Recipe(("k",), window))) == flips


def test_what_would_have_run_holds_the_key_from_then_on() -> None:
    history = Told().ran(0, {"k": 1}).skipped(60, {"k": 1}).ran(70, {"k": 1})

    result = history.under(Recipe(("k",), 30.0))

    assert told_in(result) == [(1, "skipped", "ran", "window"), (2, "ran", "skipped", "held")]
    assert result.assumed == 1


ENDS = [
    ("completed does not block", {"state": "c"}, frozenset("i"), "block", "state"),
    ("completed blocks", {"state": "c"}, frozenset("ic"), "block", ""),
    ("still in flight then", {"state": "c", "ended": 99}, frozenset("i"), "block", ""),
    ("cancelled does not block", {"state": "x"}, frozenset("icf"), "block", "state"),
    ("failed blocks", {"state": "f"}, None, "block", ""),
    ("failed may run again", {"state": "f"}, None, RUN_AGAIN, "policy"),
    ("completed and run again", {"state": "c"}, None, RUN_AGAIN, ""),
    ("its row was deleted", {"gone": 30}, None, "block", "deleted"),
    ("its row was deleted later", {"gone": 61}, None, "block", ""),
    ("a guard that outlasts rows", {"gone": 30}, frozenset("icfxd"), "block", ""),
]


@pytest.mark.parametrize(("ends", "states", "policy", "rule"), [case[1:] for case in ENDS],
                         ids=[case[0] for case in ENDS])  # fmt: skip
def test_the_state_of_the_original_decides(
    ends: dict[str, Any], states: frozenset[str] | None, policy: str, rule: str
) -> None:
    history = Told().ran(0, {"k": 1}, **ends).skipped(60, {"k": 1})

    found = told_in(history.under(Recipe(("k",), None, states, policy)))

    assert found == ([(1, "skipped", "ran", rule)] if rule else [])


def test_the_recorded_window_and_states_are_taken_where_none_are_given() -> None:
    kept = Told().ran(0, {"k": 1}, window_s=300.0).skipped(60, {"k": 1}, window_s=300.0)
    over = Told().ran(0, {"k": 1}, blocking="i").skipped(60, {"k": 1}, blocking="i")

    assert told_in(kept.under(Recipe())) == []
    assert told_in(over.under(Recipe())) == [(1, "skipped", "ran", "state")]


def test_what_lacks_a_field_is_counted_apart_and_holds_nothing() -> None:
    history = Told().ran(0, {"scope": "a"}).ran(1, call(1)).ran(2, {"scope": "a"})

    result = history.under(Recipe(("scope", "macrostep")))

    assert result.lacking == {"macrostep": 2}
    assert (result.would_run, result.would_skip, result.attempts) == (1, 0, 3)


@pytest.mark.parametrize(("outcome", "reason"), [("w", "by_rule"), ("l", "lock_contended")])
def test_what_no_key_decided_is_not_judged(outcome: str, reason: str) -> None:
    history = Told().ran(0, {"k": 1}).attempt(outcome, 1, {"k": 1})

    result = history.under(Recipe(("k",)))

    assert (result.unjudged, told_in(result)) == ({reason: 1}, [])


@pytest.mark.parametrize(
    ("recipe", "meet"),
    [
        (Recipe(("k",)), False),
        (Recipe(("k",), across_tasks=True), True),
        (Recipe(("k", "task"), across_tasks=True), False),
    ],
)
def test_tasks_meet_only_when_asked_to(recipe: Recipe, meet: bool) -> None:
    history = Told().ran(0, {"k": 1}, task="mail").ran(1, {"k": 1}, task="report")

    assert bool(told_in(history.under(recipe))) is meet


def test_attempts_of_two_sources_never_meet() -> None:
    history = Told().ran(0, {"k": 1}, source="oban/a").ran(1, {"k": 1}, source="oban/b")

    assert told_in(history.under(Recipe(("k",)))) == []


def test_samples_are_capped_of_both_directions_while_counts_are_exact() -> None:
    history = Told()
    for number in range(30):
        history.ran(number, {"k": 1, "n": number})
        history.skipped(number, {"k": 2 + number, "n": 0})

    result = history.under(Recipe(("k",)))

    assert (result.to_skip, result.to_run) == (29, 30)
    assert [len({one.was for one in result.flips(n)}) for n in (4, 50)] == [2, 2]
    assert [len(result.flips(n)) for n in (0, 4, 50)] == [0, 4, 50]


@pytest.mark.parametrize(
    ("micros", "said"),
    [(5, "under a second"), (61 * S, "1 min 1 s"), (90_000 * S, "1 day 1 h"),
     (172_800 * S, "2 days"), (3_600 * S, "1 h")],
)  # fmt: skip
def test_a_length_of_time_is_said_in_two_units(micros: int, said: str) -> None:
    assert duration(micros) == said


ATTEMPTS = st.lists(
    st.tuples(
        st.sampled_from("rslw"),
        st.integers(0, 9),
        st.dictionaries(st.sampled_from("abc"), st.integers(0, 2), min_size=1),
        st.sampled_from("icfx"),
    ),
    max_size=40,
)
RECIPES = st.builds(
    Recipe,
    st.lists(st.sampled_from("abc"), unique=True).map(tuple),
    st.none() | st.integers(0, 20).map(float),
    st.none() | st.sets(st.sampled_from("icfxd")).map(frozenset),
    st.sampled_from(["block", RUN_AGAIN]),
    st.booleans(),
)


@given(ATTEMPTS, RECIPES)
def test_every_attempt_is_run_skipped_or_left_unjudged(attempts: Any, recipe: Recipe) -> None:
    history, at = Told(), 0
    for outcome, wait, values, state in attempts:
        at += wait
        history.attempt(outcome, at, dict(sorted(values.items())), state=state)

    result = history.under(recipe)

    unjudged = sum(result.unjudged.values())
    assert result.would_run + result.would_skip + unjudged == result.attempts == len(attempts)
    assert result.to_skip <= result.would_skip
    assert result.to_run <= result.would_run


@given(ATTEMPTS, RECIPES)
def test_a_history_that_a_guard_told_itself_has_no_flips(attempts: Any, recipe: Recipe) -> None:
    history, at = Told(), 0
    for _, wait, values, state in attempts:
        at += wait
        values = dict(sorted(values.items()))
        asked = Told(dict(history.shapes), list(history.rows)).ran(at, values, state=state)
        would_run = asked.under(recipe).would_run > history.under(recipe).would_run
        is_judged = set(recipe.fields) <= set(values)
        history.attempt("r" if would_run or not is_judged else "s", at, values, state=state)

    assert told_in(history.under(recipe)) == []
