"""Maps of imports: what they take out of a line, and what they say of a bad map or a bad line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ledger.domain.canonical import Number, canonical_text
from ledger.domain.import_maps import BadMap, LineFault, Map, read_map
from ledger.domain.import_values import ABSENT, find_time, read_text
from ledger.integrations import import_shelf

LINE = {"no": "7", "state": "OK", "sent": "2026-10-05 09:00:00", "empty": "", "blank": None}


def the_map(receipt: str, top: str = "") -> Map:
    return read_map(f'{top}\n[receipt]\nkind = "done"\n{receipt}', "mine")


def made(receipt: str, record: dict[str, Any] | None = None, top: str = "") -> dict[str, Any]:
    (found,) = the_map(receipt, top).make(LINE if record is None else record)
    found.pop("kind")
    plain: dict[str, Any] = json.loads(canonical_text(found, without=()))
    return plain


VALUES: dict[str, tuple[str, dict[str, Any]]] = {
    "a column": ('job.id = "{no}"', {"job": {"id": "7"}}),
    "a text with a column": ('job.id = "order-{no}"', {"job": {"id": "order-7"}}),
    "braces": ('data.x = "{{{no}}}"', {"data": {"x": "{7}"}}),
    "a constant": ('job.task = "payout.send"', {"job": {"task": "payout.send"}}),
    "constants that are no text": ("data = {a = 1, b = true}", {"data": {"a": 1, "b": True}}),
    "an empty column": ('job = {id = "{empty}", task = "t"}', {"job": {"task": "t"}}),
    "a null": ('job = {id = "{blank}", task = "t"}', {"job": {"task": "t"}}),
    "a member of nothing": ('job.id = "{empty}"', {}),
    "a column that may be lacking": ('job.id = "{none?}"', {}),
    "an item of a list": (
        'subjects = [{type = "payout", id = "{no}"}]',
        {"subjects": [{"type": "payout", "id": "7"}]},
    ),
    "half an item of a list": ('subjects = [{type = "payout", id = "{empty}"}]', {}),
    "words": ('reason = {from = "{state}", words = {OK = "fine"}}', {"reason": "fine"}),
    "a word that is left": (
        'reason = {from = "{state}", words = {X = "y"}, otherwise = "as_is"}',
        {"reason": "OK"},
    ),
    "a word that is dropped": (
        'reason = {from = "{state}", words = {X = "y"}, otherwise = "absent"}',
        {},
    ),
    "a number": ('took_ms = {from = "{no}", scale = 1000, add = 0.5}', {"took_ms": 7500}),
    "a time in UTC": ('occurred_at = "{sent}"', {"occurred_at": "2026-10-05T09:00:00.000000Z"}),
    "no time": ('occurred_at = "{empty}"', {}),
}


@pytest.mark.parametrize("case", VALUES)
def test_a_value_is_taken(case: str) -> None:
    receipt, wanted = VALUES[case]

    assert made(receipt) == wanted


def test_a_time_is_read_in_the_zone_of_the_map_of_the_value_or_of_the_command() -> None:
    receipt = (
        'occurred_at = "{sent}"\ndata.at = {from = "{sent}", time = true, zone = "Asia/Tokyo"}'
    )
    text = f'zone = "Europe/Berlin"\n[receipt]\nkind = "done"\n{receipt}'

    (own,) = read_map(text, "mine").make(LINE)
    (given_,) = read_map(text, "mine", "America/New_York").make(LINE)

    assert own["occurred_at"] == "2026-10-05T07:00:00.000000Z"
    assert own["data"]["at"] == "2026-10-05T00:00:00.000000Z"
    assert given_["occurred_at"] == "2026-10-05T13:00:00.000000Z"


def test_a_path_leads_into_a_json_line_and_keeps_numbers_as_sent() -> None:
    record = {"job": {"id": Number("12"), "ok": True}, "a.b": "whole"}

    found = made('key.fields = {n = "{job.id}", t = "no {job.id}", w = "{a.b}"}', record)

    assert found == {"key": {"fields": {"n": 12, "t": "no 12", "w": "whole"}}}


def test_a_column_that_holds_json_is_looked_into() -> None:
    receipt = 'error.type = {from = "{result}", inside = "exc.type"}'

    assert made(receipt, {"result": '{"exc": {"type": "ValueError"}}'}) == {
        "error": {"type": "ValueError"}
    }
    assert made(receipt, {"result": "gAWV"}) == {}
    assert made(receipt, {"result": '{"exc": "ValueError"}'}) == {}


FAULTS = {
    "word": 'reason = {from = "{state}", words = {X = "y"}}',
    "time": 'occurred_at = "{state}"',
    "number": 'took_ms = {from = "{state}", number = true}',
}


@pytest.mark.parametrize("code", FAULTS)
def test_a_line_that_the_map_does_not_provide_for_is_set_aside(code: str) -> None:
    with pytest.raises(LineFault) as raised:
        the_map(FAULTS[code]).make(LINE)

    assert raised.value.code == code
    assert "OK" in str(raised.value)


BAD_MAPS: dict[str, tuple[str, str]] = {
    "no TOML": ("[", "it is no TOML"),
    "nothing": ("", "give one of [receipt], [[rule]], rows and whole = true"),
    "two ways": ('rows = "x"\nwhole = true', "give one of"),
    "an unknown member": ('[receipt]\nkind = "done"\n[colour]', "has colour"),
    "no kind": ('[receipt]\nreason = "x"', "without a kind"),
    "a kind that is none": ('[receipt]\nkind = "finished"', "'finished' is no kind"),
    "a source": ('[receipt]\nkind = "done"\nsource = {system = "x"}', "--source"),
    "an open brace": ('[receipt]\nkind = "done"\nreason = "{no"', "not closed"),
    "a date": ('[receipt]\nkind = "done"\noccurred_at = 2026-01-01', "write a date in quotes"),
    "an infinity": ('[receipt]\nkind = "done"\nn = inf', "no text, number"),
    "no such zone": ('zone = "Mars"\n[receipt]\nkind = "done"', "no time zone 'Mars'"),
    "a zone that is a path": ('zone = "../etc/passwd"\n[receipt]\nkind = "done"', "no time zone"),
    "a form of no time": (
        '[receipt]\nkind = "done"\noccurred_at = {from = "{a}", time = "hh:mm"}',
        "'hh:mm' is no form of a time",
    ),
    "a pattern that is none": (
        'format = "text"\n[[rule]]\npattern = "("\nreceipt.kind = "done"',
        "pattern:",
    ),
    "a text without a pattern": (
        'format = "text"\n[[rule]]\nreceipt.kind = "done"',
        "needs a pattern",
    ),
    "a format that is none": ('format = "xml"\n[receipt]\nkind = "done"', "format is one of"),
    "a long delimiter": ('delimiter = "::"\n[receipt]\nkind = "done"', "delimiter is one"),
    "words that are no table": (
        '[receipt]\nkind = {from = "{a}", words = "x"}',
        "words is missing or no table",
    ),
    "a rule that is no list": ('rule = 1', "rule is no list"),
    "a member of a rule": ('[[rule]]\nif = "x"\nreceipt.kind = "done"', "has if"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_MAPS)
def test_a_bad_map_is_refused_in_words(case: str) -> None:
    text, told = BAD_MAPS[case]

    with pytest.raises(BadMap) as raised:
        read_map(text, "mine")

    assert told in str(raised.value)


def test_every_rule_that_matches_makes_a_receipt() -> None:
    text = """
    [[rule]]
    receipt = {kind = "enqueue"}
    [[rule]]
    has = ["sent"]
    when = {state = ["OK", "FINE"]}
    receipt = {kind = "done"}
    [[rule]]
    has = ["empty"]
    receipt = {kind = "fail"}
    """

    found = read_map(text, "mine").make(LINE)

    assert [one["kind"] for one in found] == ["enqueue", "done"]


def test_the_digest_of_a_map_changes_with_its_text_and_its_zone() -> None:
    text = '[receipt]\nkind = "done"'

    digests = {read_map(text, "a").digest, read_map(text, "a", "Asia/Tokyo").digest,
               read_map(text + "\n", "a").digest}  # fmt: skip

    assert len(digests) == 3
    assert read_map(text, "another name").digest in digests


@pytest.mark.parametrize(
    ("text", "form", "wanted"),
    [
        ("2026-10-05T09:00:00+02:00", "rfc3339", "2026-10-05T07:00:00+00:00"),
        ("2026-10-05 09:00:00,123", "rfc3339", "2026-10-05T09:00:00.123000+00:00"),
        ("1790000000", "unix", "2026-09-21T14:13:20+00:00"),
        ("1790000000.25", "unix", "2026-09-21T14:13:20.250000+00:00"),
        ("1790000000123", "unix_ms", "2026-09-21T14:13:20.123000+00:00"),
        ("-1", "unix", "1969-12-31T23:59:59+00:00"),
        ("05.10.2026", "%d.%m.%Y", "2026-10-05T00:00:00+00:00"),
        ("1e400", "unix", None),
        ("NaN", "unix", None),
        ("0001-01-01T00:00:00+14:00", "rfc3339", None),
        ("31.02.2026", "%d.%m.%Y", None),
    ],
)
def test_a_time_is_read_by_its_form(text: str, form: str, wanted: str | None) -> None:
    from datetime import UTC

    at = find_time(text, [form], UTC)

    assert (at and at.isoformat()) == wanted


@given(st.text(max_size=40))
def test_any_text_is_a_template_or_is_refused(text: str) -> None:
    try:
        template = read_text(text)
    except ValueError:
        return

    found = template.read(dict.fromkeys(template.columns, "x"))
    assert found is ABSENT or isinstance(found, str)


@given(st.dictionaries(st.text(max_size=5), st.one_of(st.none(), st.text(), st.booleans())))
def test_a_line_makes_a_receipt_or_is_set_aside_whatever_is_in_it(record: dict[str, Any]) -> None:
    for name in import_shelf.shipped():
        chosen = import_shelf.load_map(name)
        try:
            found = chosen.make(record)
        except LineFault:
            continue
        for one in found:
            assert canonical_text(one, without=())


def log(text: str) -> list[dict[str, Any]]:
    return import_shelf.load_map("celery-log").make({"line": text})


AT = "[2026-10-05 09:00:00,123: INFO/ForkPoolWorker-1]"
LOG: dict[str, tuple[str, str, dict[str, Any]]] = {
    "received": (f"{AT} Task a.b[id-1] received", "deliver", {}),
    "received by 4.x": (f"{AT} Received task: a.b[id-1]  ETA:[2026-10-05 09:01]", "deliver", {}),
    "received by 4.x, plainly": (f"{AT} Received task: a.b[id-1]  ", "deliver", {}),
    "succeeded": (f"{AT} Task a.b[id-1] succeeded in 0.25s: {{'card': 4111}}", "done", {}),
    "succeeded quickly": (f"{AT} Task a.b[id-1] succeeded in 3.1e-05s: None", "done", {}),
    "raised": (f"{AT} Task a.b[id-1] raised unexpected: ValueError('4111')", "fail",
               {"reason": "failed", "error": {"type": "ValueError"}}),
    "raised as expected": (f"{AT} Task a.b[id-1] raised expected: Gone()", "fail",
                           {"reason": "failed", "error": {"type": "Gone"}}),
    "over its time": (f"{AT} Hard time limit (30s) exceeded for a.b[id-1]", "fail",
                      {"reason": "time_limit", "error": {"type": "TimeLimitExceeded"}}),
    "retried": (f"{AT} Task a.b[id-1] retry: Retry in 10s: OSError('4111')", "retry",
                {"error": {"type": "OSError"}}),
    "retried at a time": (f"{AT} Task a.b[id-1] retry: Retry at 2026-10-05 9:10:00: OSError()",
                          "retry",
                        {"error": {"type": "OSError"}}),
    "ignored": (f"{AT} Task a.b[id-1] ignored", "skip", {}),
    "done before": (f"{AT} Task a.b[id-1] Task already completed successfully.", "skip",
                    {"reason": "redelivery", "original": {"job": "id-1"}}),
    "rejected": (f"{AT} Task a.b[id-1] reject requeue=False: no", "discard",
                 {"reason": "rejected"}),
    "rejected and requeued": (f"{AT} Task a.b[id-1] reject requeue=True: later", "retry",
                              {"reason": "requeued"}),
    "revoked": (f"{AT} Discarding revoked task: a.b[id-1]", "revoke", {"reason": "effected"}),
}  # fmt: skip


@pytest.mark.parametrize("case", LOG)
def test_a_line_of_a_workers_log_is_read(case: str) -> None:
    line, kind, more = LOG[case]

    (found,) = log(line)

    assert found["kind"] == kind
    assert found["occurred_at"] == "2026-10-05T09:00:00.123000Z"
    assert found["job"] == {"task": "a.b", "id": "id-1"}
    assert {name: found[name] for name in more} == more
    assert "4111" not in json.dumps(found, default=str)


@pytest.mark.parametrize(
    "line",
    [
        " -------------- celery@w1 v5.7.0 (dawn-chorus)",
        "Traceback (most recent call last):",
        "ValueError: Task a.b[id-1] succeeded in 1s",
        f"{AT} Connected to redis://localhost:6379//",
        f"{AT} Task a.b[id-1] succe",
        f"{AT} Soft time limit (3s) exceeded for a.b[id-1]",
        "",
    ],
)
def test_a_line_that_says_nothing_of_a_task_is_left_out(line: str) -> None:
    assert log(line) == []


def test_a_task_that_is_not_registered_is_a_discard_without_a_number() -> None:
    (found,) = log(f"{AT} Received unregistered task of type 'a.gone'.")

    assert (found["kind"], found["reason"], found["job"]) == (
        "discard", "unknown_task", {"task": "a.gone"},
    )  # fmt: skip


def test_a_revoke_that_was_asked_for_is_one() -> None:
    (found,) = log("[2026-10-05 09:00:00,123: INFO/MainProcess] Tasks flagged as revoked: id-1")

    assert (found["kind"], found["reason"], found["job"]) == ("revoke", "asked", {"id": "id-1"})


ROW = {"task_id": "id-1", "date_done": "2026-10-05 09:00:00.5", "name": "a.b", "retries": "2",
       "queue": "q", "worker": "w1", "result": "gAWV"}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "kind"),
    [("SUCCESS", "done"), ("FAILURE", "fail"), ("RETRY", "retry"), ("REVOKED", "revoke"),
     ("REJECTED", "discard"), ("IGNORED", "skip"), ("STARTED", "start"), ("PENDING", None)],
)  # fmt: skip
def test_a_row_of_a_result_table_is_read_by_its_state(status: str, kind: str | None) -> None:
    found = import_shelf.load_map("celery-taskmeta").make({**ROW, "status": status})

    assert [one["kind"] for one in found] == ([kind] if kind else [])
    for one in found:
        job: dict[str, Any] = json.loads(canonical_text(one["job"], without=()))
        assert job == {"task": "a.b", "id": "id-1", "queue": "q", "attempt": 3}
        assert "gAWV" not in json.dumps(one, default=str)


def test_a_row_of_django_celery_results_tells_the_type_of_its_error_alone() -> None:
    result = json.dumps({"exc_type": "ValueError", "exc_message": ["4111"]})
    row = {"task_id": "id-1", "task_name": "a.b", "status": "FAILURE", "result": result,
           "date_done": "2026-10-05 09:00:00+02"}  # fmt: skip

    (found,) = import_shelf.load_map("django-celery-results").make(row)

    assert found["error"] == {"type": "ValueError"}
    assert found["occurred_at"] == "2026-10-05T07:00:00.000000Z"
    assert "4111" not in json.dumps(found)
