"""Names of phases over a timeline: none lies on another, and what loses events can be read."""

from __future__ import annotations

from events.domain.phase_labels import LETTER, Span, names_of

LEFT, RIGHT = 100, 1_000
MIX = "S0 and S1 and S2, which loses events"


def told(*spans: Span) -> dict[str, tuple[float, float]]:
    return {one.text: (one.x, one.end) for one in names_of(spans, LEFT, RIGHT)}


def test_a_name_stands_at_the_left_of_its_span() -> None:
    assert told(Span(200, 400, "S2a", "plain"))["S2a"][0] == 203


def test_a_name_that_does_not_fit_is_shortened_and_then_left_out() -> None:
    assert list(told(Span(200, 260, "bare, all", "plain"))) == ["bare, all"]
    assert list(told(Span(200, 230, "bare, all", "plain"))) == ["bare"]
    assert told(Span(200, 220, "bare, all", "plain")) == {}


def test_an_illegal_mix_is_named_however_narrow_it_is() -> None:
    found = told(
        Span(100, 300, "S0", "plain"), Span(300, 310, MIX, "bad"), Span(310, 900, "S2a", "plain")
    )

    assert set(found) == {"S0", MIX, "S2a"}
    assert found["S2a"][0] > found[MIX][1] > found[MIX][0] > found["S0"][1]


def test_an_illegal_mix_at_the_edge_is_named_within_the_drawing() -> None:
    begin, end = told(Span(990, 1_000, MIX, "bad"))[MIX]

    assert end <= RIGHT
    assert round(end - begin) == round(len(MIX) * LETTER)


def test_a_span_that_began_earlier_is_named_at_the_edge() -> None:
    assert told(Span(-500, 400, "S0", "plain"))["S0"][0] == LEFT + 3
