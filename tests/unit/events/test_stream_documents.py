"""Documents of `evaluate stream`: what is taken, and what is refused with its place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.domain.evaluate_stream import BadStream, evaluate
from ledger.registry import registry
from tests.unit.events.stream_cast import E1, Body, judge, message, told

GOOD = message(1, "7", 5)


def document(**members: Any) -> Body:
    return {"buses": {"b": {"density": "dense", "profile": "v2"}}, "records": [GOOD], **members}


def with_record(**members: Any) -> Body:
    return document(records=[GOOD, {**GOOD, **members}])


BAD: dict[str, tuple[Any, str]] = {
    "null": (None, "send {"),
    "a list": ([document()], "send {"),
    "buses in a list": (document(buses=[]), "buses: send an object"),
    "a bus that is none": (document(buses={"b": 7}), "buses.b: send"),
    "a profile that is none": (document(buses={"b": {"profile": "v9"}}), "buses.b.profile: no"),
    "a density that is none": (document(buses={"b": {"density": 1}}), "buses.b.density: send"),
    "records in an object": (document(records={}), "records: send a list"),
    "a record that is none": (document(records=[7]), "records[0]: send an object"),
    "no time": (with_record(observed_at=None), "records[1].observed_at: send a time"),
    "a time in words": (with_record(observed_at="noon"), "records[1].observed_at: send a time"),
    "a truth as a time": (with_record(observed_at=True), "records[1].observed_at: send a time"),
    "no number as a time": (with_record(observed_at=float("nan")), "records[1].observed_at"),
    "a time beyond all": (with_record(observed_at=10**400), "records[1].observed_at"),
    "no form": (with_record(form=None), "records[1].form: send one of bare"),
    "a form that is none": (with_record(form="xml"), "records[1].form: send one of bare"),
    "a form in a list": (with_record(form=["bare"]), "records[1].form: send one of bare"),
    "no id": (with_record(id=None), "records[1].id: send a whole number"),
    "an id in words": (with_record(id="1e+14"), "records[1].id: send a whole number"),
    "an id with a point": (with_record(id=1.5), "records[1].id: send a whole number"),
    "an id with a space": (with_record(id=" 5"), "records[1].id: send a whole number"),
    "an id of another script": (with_record(id="\u0665"), "records[1].id: send a whole number"),
    "an endless id": (with_record(id="9" * 5_000), "records[1].id: send a whole number"),
    "an epoch in a list": (with_record(epoch=[7]), "records[1].epoch: send an epoch"),
    "a truth as an epoch": (with_record(epoch=True), "records[1].epoch: send an epoch"),
    "a replica that is none": (with_record(replica=7), "records[1].replica: send a text"),
    "a source that is none": (with_record(source="disk"), "records[1].source: send one of live"),
    "a head that is none": (document(heads=[7]), "heads[0]: send an object"),
    "a head in words": (
        document(heads=[{"sampled_at": 1, "bus": "b", "head": "many"}]),
        "heads[0].head: send a whole number",
    ),
    "a window of one": (document(maintenance=[[1]]), "maintenance[0]: send [from, to]"),
    "an end in words": (document(maintenance=[[1, "x"]]), "maintenance[0][1]: send a time"),
    "an alias of one": (document(aliases=[["i1"]]), "aliases[0]: send two names"),
    "an end that is none": (document(until="soon"), "until: send a time"),
}  # fmt: skip


@pytest.mark.parametrize(("bad", "says"), BAD.values(), ids=list(BAD))
def test_a_bad_document_is_refused_with_its_place(bad: Any, says: str) -> None:
    with pytest.raises(BadStream) as refused:
        evaluate(bad)

    assert says in str(refused.value)


def test_a_body_nested_without_end_is_refused() -> None:
    body: Any = []
    for _ in range(200_000):
        body = [body]

    with pytest.raises(BadStream, match="nested too deeply"):
        evaluate(with_record(body=body))


def test_the_kind_is_registered_for_the_command() -> None:
    assert registry.evaluations["stream"] is evaluate


def test_an_empty_history_has_no_findings_and_no_spaces() -> None:
    assert evaluate({}) == {"findings": [], "spaces": []}


def test_ids_beyond_the_numbers_of_javascript_are_exact() -> None:
    ids = [1_876_951_040_000_000_001, 1_876_951_040_000_000_003]

    answer = judge(told(*((None, one) for one in ids), start=1_790_000_000))

    assert [one["id"] for one in answer["findings"]] == ["1876951040000000002"]
    assert (answer["spaces"][0]["first"], answer["spaces"][0]["last"]) == tuple(map(str, ids))


def test_ids_and_epochs_may_be_sent_as_numbers() -> None:
    record = {**GOOD, "id": 5, "epoch": 7}

    assert evaluate(document(records=[record])) == evaluate(document())


def test_a_space_is_told_with_its_lane_and_its_birth() -> None:
    (space,) = judge(told((E1, 803), (E1, 804), start=5))["spaces"]

    members = ("installation", "bus", "replica", "epoch", "first", "last", "count", "kind")
    assert [space[name] for name in members] == [*("i1", "b", "r1", E1, "803", "804", 2, "adopted")]
    assert (space["born_at"], space["last_at"]) == (5, 6)


def test_a_finding_has_the_members_of_the_contract() -> None:
    (finding,) = judge(told((E1, 4), (E1, 6)))["findings"]

    wanted = {"code", "severity", "at", "installation", "bus", "lane", "epoch", "id", "sentence"}
    assert wanted | {"rule"} <= finding.keys()


def test_records_told_lane_by_lane_are_judged_by_their_times() -> None:
    lanes = [told((E1, 1), (E1, 2), (E1, 3), replica=one) for one in ("r1", "r2")]
    woven = [one for pair in zip(*lanes, strict=True) for one in pair]

    assert judge([*lanes[0], *lanes[1]])["findings"] == judge(woven)["findings"]


def test_a_lane_whose_clock_steps_back_keeps_its_order_of_arrival() -> None:
    assert judge([message(9, E1, 1), message(5, E1, 2), message(10, E1, 3)])["findings"] == []


def test_a_bus_that_is_not_described_has_the_defaults_of_its_name() -> None:
    records = [
        message(at, "7", number, bus=bus)
        for bus in ("activity", "watch")
        for at, number in ((0, 5), (1, 9))
    ]

    found = evaluate({"records": records, "until": 99})["findings"]

    assert [(one["bus"], one["code"]) for one in found] == [("watch", "GAP")]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from([*GOOD, "buses", "records", "heads", "until", "maintenance"]),
                inner,
                max_size=6,
            )
        ),
        max_leaves=20,
    )
)
def test_any_document_is_answered_or_refused(given_document: Any) -> None:
    try:
        answer = evaluate(given_document)
    except BadStream:
        return

    json.dumps(answer)
