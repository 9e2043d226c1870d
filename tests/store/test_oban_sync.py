"""Rounds over a real Oban table on a real PostgreSQL, with the ledger on either database."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import psycopg
import pytest
import time_machine
from django.db import connections

from access.rows import ProjectRow
from jobs.integrations import oban_loop, oban_place
from jobs.integrations.oban import Reader
from jobs.integrations.oban_loop import Session, Target
from jobs.integrations.oban_place import Place
from jobs.integrations.oban_writer import Tally
from jobs.models import ObanHole, ObanKnown, ObanSource
from ledger.models import Delivery, Receipt, ReceiptBody
from tests import factories, oban
from tests.databases import Database
from tests.oban import NOON, ObanDatabase
from tests.servers import Postgres

pytestmark = pytest.mark.slow


@dataclass
class Reading:
    """A table, the project that it is read into, and the clock."""

    oban: ObanDatabase
    clock: Any
    project: ProjectRow = field(default_factory=factories.make_project)
    said: list[str] = field(default_factory=list)
    session: Session | None = None

    @property
    def target(self) -> Target:
        table = self.oban
        return Target(self.project.id, "prod-1", table.dsn, table.schema, table.table)

    def go_round(self, seconds: float = 5) -> Tally:
        """Let time pass and go round."""
        self.pass_by(seconds)
        self.session = self.session or oban_loop.connect(self.target, self.said.append)
        return self.session.go_round()

    def pass_by(self, seconds: float) -> None:
        self.oban.now += timedelta(seconds=seconds)
        self.clock.move_to(self.oban.now)

    def start_over(self) -> None:
        """Forget all that the process knows, as a restart does."""
        if self.session is not None:
            self.session.close()
        self.session = None

    def receipts(self, kind: str = "") -> list[dict[str, Any]]:
        """Return the receipts that are stored, in order, without the spool's own lines."""
        ids = Receipt.objects.filter(project_id=self.project.id).order_by("id").values_list("id")
        raws = {one.id: bytes(one.raw) for one in ReceiptBody.objects.filter(id__in=ids)}
        bodies = [json.loads(raws[one]) for (one,) in ids]
        return [one for one in bodies
                if one.get("what") != "feed" and kind in ("", one["kind"])]  # fmt: skip

    def take(self, kind: str = "observe") -> list[dict[str, Any]]:
        """Return the receipts of a kind that came since the last time."""
        found = self.receipts(kind)
        new = found[self._taken.get(kind, 0) :]
        self._taken[kind] = len(found)
        return new

    _taken: dict[str, int] = field(default_factory=dict)


@pytest.fixture
def reading(shared_database: Database, postgresql: Postgres) -> Iterator[Reading]:
    """Give an empty table at migration 14, and a clock that stands still."""
    with oban.made(postgresql) as made, time_machine.travel(NOON, tick=False) as clock:
        made_reading = Reading(made, clock)
        yield made_reading
        made_reading.start_over()
    connections["default"].close()


@pytest.fixture
def without_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the sweep out, which in a table this small would find everything by itself."""
    monkeypatch.setattr(Reader, "_sweep", lambda *_: None)


@pytest.mark.parametrize("migration", [9, 11, 14])
def test_a_table_of_any_migration_is_read(
    shared_database: Database, postgresql: Postgres, migration: int
) -> None:
    with oban.made(postgresql, migration) as made, time_machine.travel(NOON, tick=False) as clock:
        reading = Reading(made, clock)
        number = made.insert(errors=[oban.error("boom")], tags=["a"], meta=None)

        reading.go_round()

        (receipt,) = reading.receipts()
        reading.start_over()
    assert receipt["job"]["id"] == str(number)
    assert receipt["job"]["inserted_at"] == "2026-10-05T11:59:00.000000Z"
    assert receipt["data"]["row"] == {
        "args": {"account": 9},
        "errors": [{"attempt": 1, "at": "2026-10-05T11:59:00Z", "error": "boom"}],
        "tags": ["a"],
        "priority": 0,
    }
    assert reading.said == []


def test_a_row_that_has_not_changed_is_not_sent_again(reading: Reading) -> None:
    reading.oban.insert()
    reading.go_round()

    tally = reading.go_round()

    assert tally.receipts == 0
    assert len(reading.receipts()) == 1


def test_each_state_that_is_seen_is_a_receipt(reading: Reading) -> None:
    number = reading.oban.insert()
    reading.go_round()
    reading.oban.change(number, state="executing", attempt=1, attempted_at=NOON)
    reading.go_round()
    reading.oban.complete(number)

    reading.go_round()

    assert [one["job"]["state"] for one in reading.receipts()] == [
        "available",
        "executing",
        "completed",
    ]


@pytest.mark.usefixtures("without_sweep")
def test_a_row_that_commits_late_under_an_older_id_is_read(reading: Reading) -> None:
    slow = reading.oban.other()
    late = reading.oban.insert(by=slow, state="completed", completed_at=NOON, attempted_at=NOON)
    soon = reading.oban.insert()
    reading.go_round()
    assert oban.states(reading.take()) == [(str(soon), "available")]

    reading.pass_by(10)
    slow.commit()
    reading.go_round()

    assert late < soon
    assert oban.states(reading.take()) == [(str(late), "completed")]
    assert not ObanHole.objects.filter(project_id=reading.project.id).exists()


def test_a_hole_is_gone_back_over_for_fifteen_minutes(reading: Reading) -> None:
    rolled_back = reading.oban.other()
    reading.oban.insert()
    hole = reading.oban.insert(by=rolled_back)
    reading.oban.insert()
    rolled_back.rollback()
    reading.go_round()
    held = ObanHole.objects.filter(project_id=reading.project.id)
    assert [(one.first_id, one.last_id) for one in held.all()] == [(hole, hole)]

    reading.go_round(14 * 60)
    still_held = held.count()
    reading.go_round(2 * 60)

    assert (still_held, held.count()) == (1, 0)


def test_holes_of_long_ago_are_not_gone_back_over(reading: Reading) -> None:
    old = NOON.replace(tzinfo=None) - timedelta(days=1)
    numbers = [reading.oban.insert(inserted_at=old, state="completed") for _ in range(3)]
    reading.oban.delete(numbers[1])

    reading.go_round()

    assert not ObanHole.objects.filter(project_id=reading.project.id).exists()


@pytest.mark.usefixtures("without_sweep")
def test_a_completed_row_that_somebody_retries_is_seen_whatever_its_id(reading: Reading) -> None:
    number = reading.oban.insert()
    reading.oban.complete(number)
    reading.oban.insert()
    reading.go_round()
    reading.take()

    reading.oban.change(
        number, state="available", completed_at=None, scheduled_at=NOON + timedelta(seconds=4)
    )
    tally = reading.go_round()

    (receipt,) = reading.take()
    assert receipt["job"]["state"] == "available"
    assert receipt["occurred_at"] == "2026-10-05T12:00:04.000000Z"
    assert tally.changes["retried"] == 1


def test_a_snooze_is_noticed_in_its_old_form(reading: Reading) -> None:
    number = reading.oban.insert(state="executing", attempt=1, attempted_at=NOON)
    reading.go_round()

    reading.oban.change(
        number, state="scheduled", max_attempts=21, scheduled_at=NOON + timedelta(hours=1)
    )
    tally = reading.go_round()

    assert tally.changes["snoozed"] == 1
    assert reading.receipts()[-1]["job"]["max_attempts"] == 21


def test_a_snooze_is_noticed_in_its_new_form(reading: Reading) -> None:
    number = reading.oban.insert(state="executing", attempt=1, attempted_at=NOON)
    reading.go_round()

    reading.oban.change(number, state="scheduled", attempt=0, meta={"snoozed": 1})
    tally = reading.go_round()

    assert tally.changes["snoozed"] == 1
    assert reading.receipts()[-1]["job"]["snoozed"] == 1


@pytest.mark.parametrize("state", ["available", "discarded"])
def test_a_rescue_is_noticed(reading: Reading, state: str) -> None:
    number = reading.oban.insert(state="executing", attempt=1, max_attempts=1, attempted_at=NOON)
    reading.go_round()

    reading.oban.change(number, state=state)
    tally = reading.go_round()

    assert tally.changes["rescued"] == 1


def test_a_cancel_is_noticed(reading: Reading) -> None:
    number = reading.oban.insert()
    reading.go_round()

    reading.oban.change(number, state="cancelled", cancelled_at=NOON)
    tally = reading.go_round()

    assert tally.changes["cancelled"] == 1


def test_a_rewritten_terminal_row_is_seen_within_the_hour(reading: Reading) -> None:
    number = reading.oban.insert()
    reading.oban.complete(number)
    reading.go_round()
    reading.take()

    reading.oban.change(number, args={"account": 10})
    tally = reading.go_round(60 * 60)

    assert reading.take()[0]["data"]["row"]["args"] == {"account": 10}
    assert tally.changes["rewritten"] == 1


def test_a_pruned_row_is_a_prune_receipt_within_the_hour(reading: Reading) -> None:
    numbers = [reading.oban.insert() for _ in range(3)]
    for number in numbers:
        reading.oban.complete(number)
    reading.go_round()

    reading.oban.delete(numbers[0], numbers[2])
    tally = reading.go_round(60 * 60)

    (receipt,) = reading.receipts("prune")
    assert receipt["jobs"] == {"count": 2, "ids": [str(numbers[0]), str(numbers[2])]}
    assert receipt["data"]["states_before"] == {str(n): "completed" for n in numbers[::2]}
    assert tally.pruned == 2


@pytest.mark.usefixtures("without_sweep")
def test_a_deleted_row_that_was_open_is_missed_in_the_next_round(reading: Reading) -> None:
    number = reading.oban.insert(state="executing", attempt=1, attempted_at=NOON)
    reading.go_round()

    reading.oban.delete(number)
    reading.go_round()

    (receipt,) = reading.receipts("prune")
    assert receipt["data"]["states_before"] == {str(number): "executing"}


def test_what_is_gone_is_told_once(reading: Reading) -> None:
    reading.oban.delete(reading.oban.insert())
    number = reading.oban.insert()
    reading.go_round()
    reading.oban.delete(number)

    for _ in range(3):
        reading.go_round(60 * 60)

    assert len(reading.receipts("prune")) == 1
    assert not ObanKnown.objects.filter(project_id=reading.project.id).exists()


def test_the_whole_table_is_gone_through_within_the_hour(reading: Reading) -> None:
    numbers = [reading.oban.insert(state="completed") for _ in range(700)]
    reading.go_round()
    reading.oban.delete(*numbers)

    for _ in range(12):
        reading.go_round(5 * 60)

    assert sum(one["jobs"]["count"] for one in reading.receipts("prune")) == 700
    assert not ObanKnown.objects.filter(project_id=reading.project.id).exists()


def test_a_row_that_ran_twice_between_two_rounds_is_counted_as_unseen(reading: Reading) -> None:
    number = reading.oban.insert(state="retryable", attempt=1, errors=[oban.error("a")])
    reading.go_round()

    reading.oban.change(
        number, state="retryable", attempt=3, errors=[oban.error("a", n) for n in (1, 2, 3)]
    )
    tally = reading.go_round()

    assert tally.unseen == 1
    assert "1 with steps that nobody saw" in tally.sentence()


def test_a_restarted_reader_goes_on_where_it_was(reading: Reading) -> None:
    reading.oban.insert()
    reading.go_round()
    reading.start_over()
    number = reading.oban.insert()

    tally = reading.go_round()

    assert tally.receipts == 1
    assert [one["job"]["id"] for one in reading.receipts()][1:] == [str(number)]


def test_a_second_reader_that_knows_nothing_replays(reading: Reading) -> None:
    for state in ("cancelled", "completed", "scheduled"):
        reading.oban.insert(state=state, scheduled_at=NOON + timedelta(seconds=60))
    reading.go_round()
    before = len(reading.receipts())
    forget(reading)

    tally = reading.go_round(120)

    assert tally.replayed == before == 3
    assert len(reading.receipts()) == before


def test_two_readers_at_once_store_nothing_twice(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading.oban.insert()
    first = oban_loop.connect(reading.target, reading.said.append)
    second = oban_loop.connect(reading.target, reading.said.append)
    tallies: list[Tally] = []
    lock = oban_place.lock

    def wait_for_first(place: Place) -> None:
        if place is second.reader.place and not tallies:
            tallies.append(first.go_round())
        lock(place)

    monkeypatch.setattr(oban_place, "lock", wait_for_first)
    tallies.append(second.go_round())

    first.close()
    second.close()
    assert [one.receipts for one in tallies] == [1, 0]
    assert numbers_of(reading) == [1]


def test_receipts_are_numbered_like_a_spool_without_a_hole(reading: Reading) -> None:
    for _ in range(3):
        reading.oban.insert()
    reading.go_round()
    reading.start_over()
    reading.oban.insert()
    reading.go_round()

    assert reading.session is not None
    reading.session.feed(Tally(), is_closed=True)

    assert numbers_of(reading) == [1, 2, 3, 4, 5]


def test_the_spool_says_how_much_it_wrote(reading: Reading) -> None:
    reading.oban.insert()

    oban_loop.run_once(reading.target, reading.said.append)

    raws = ReceiptBody.objects.filter(
        id__in=Receipt.objects.filter(project_id=reading.project.id).values("id")
    )
    (feed,) = (one for one in map(json.loads, (bytes(b.raw) for b in raws)) if "spool" in one)
    assert (feed["written"], feed["sent"], feed["dropped"]) == (1, {"count": 1}, 0)
    assert feed["closed"] is True
    assert feed["spool"].startswith("oban_sync/prod-1/")
    assert "Skips are not knowable from rows" in feed["data"]["cannot_know"][0]


def test_a_lost_connection_loses_nothing(reading: Reading) -> None:
    reading.oban.insert()
    reading.go_round()
    number = reading.oban.insert()
    end_reader(reading.oban)

    with pytest.raises(oban_loop.Unreachable):
        reading.go_round()
    reading.start_over()
    tally = reading.go_round()

    assert tally.receipts == 1
    assert reading.receipts()[-1]["job"]["id"] == str(number)


def test_a_batch_that_cannot_be_stored_is_read_again(
    reading: Reading, monkeypatch: pytest.MonkeyPatch
) -> None:
    reading.oban.insert()

    def fail(*_: object) -> None:
        raise RuntimeError("no room")

    with monkeypatch.context() as patch, pytest.raises(RuntimeError):
        patch.setattr("jobs.integrations.oban_place._save_known", fail)
        reading.go_round()
    reading.start_over()
    assert reading.receipts() == []

    assert reading.go_round().receipts == 1


def test_the_session_cannot_write(reading: Reading) -> None:
    reading.go_round()
    assert reading.session is not None
    connection = reading.session.reader.table._connection

    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        reading.oban.insert(by=connection)

    timeout = connection.execute("SHOW statement_timeout").fetchone()
    assert timeout == ("1min",)


def test_columns_that_are_not_obans_are_left_out_and_named(reading: Reading) -> None:
    reading.oban.run("ALTER TABLE {} ADD COLUMN partition_key text DEFAULT 'secret'")
    reading.oban.insert()

    reading.go_round()

    assert "secret" not in json.dumps(reading.receipts())
    assert reading.said == [
        "These columns are not Oban's own and are left out: partition_key.",
    ]


def test_columns_that_an_older_table_lacks_are_absent(reading: Reading) -> None:
    reading.oban.run("ALTER TABLE {} DROP COLUMN meta, DROP COLUMN cancelled_at, DROP COLUMN tags")
    reading.oban.insert()

    reading.go_round()

    (receipt,) = reading.receipts()
    assert not {"meta", "tags"} & receipt["data"]["row"].keys()
    assert reading.said == ["These columns are not in the table: cancelled_at, tags, meta."]


@pytest.mark.parametrize("comment", ["15", "8", "'Oban Pro'", "NULL"])
def test_an_unknown_migration_is_said_and_read_all_the_same(reading: Reading, comment: str) -> None:
    quoted = comment if comment == "NULL" else f"'{comment.strip(chr(39))}'"
    reading.oban.run(f"COMMENT ON TABLE {{}} IS {quoted}")
    reading.oban.insert()

    tally = reading.go_round()

    assert tally.receipts == 1
    assert len(reading.said) == 1
    assert "9 to 14 are known; the columns decide what is read." in reading.said[0]


ODD_ARGS = [[1, "two"], 5, "text", None, True, {}, {"a": "x" * 200_000}, {"t2b64": "AAAA"}]


def test_arguments_of_any_shape_do_not_stop_the_rest(reading: Reading) -> None:
    numbers = [reading.oban.insert(args={"placeholder": 1}) for _ in ODD_ARGS]
    for number, args in zip(numbers, ODD_ARGS, strict=True):
        reading.oban.run("UPDATE {} SET args = %s::jsonb WHERE id = %s", json.dumps(args), number)
    last = reading.oban.insert(tags=None, meta=None)

    reading.go_round()

    rows = {one["job"]["id"]: one["data"]["row"] for one in reading.receipts()}
    assert list(rows) == [str(number) for number in [*numbers, last]]
    assert [rows[str(number)].get("args") for number in numbers][:5] == ODD_ARGS[:5]
    assert list(rows[str(numbers[6])]["args"]) == ["cut"]
    assert rows[str(numbers[7])]["args"] == {"opaque": {"bytes": 3}}
    assert Receipt.objects.filter(project_id=reading.project.id, state="accepted").count() == 9


def test_of_arguments_too_long_to_be_brought_here_the_call_is_kept(reading: Reading) -> None:
    noise = random.Random(1).randbytes(300_000).hex()
    args = {"scope": "s", "invoke_id": "a", "macrostep": 3, "params": {"t2b64": noise}}
    reading.oban.insert(worker="StatifierOban.Invoke.Worker", args=args)

    reading.go_round()

    (receipt,) = reading.receipts()
    assert receipt["invoke"] == {"scope": "s", "id": "a", "generation": "3"}
    assert receipt["key"]["fields"]["macrostep"] == 3
    assert receipt["data"]["row"]["args"]["cut"]["stored_bytes"] > 300_000
    assert noise[:100] not in json.dumps(receipt)


def test_of_errors_too_long_to_be_brought_here_all_are_counted(reading: Reading) -> None:
    draw = random.Random(2)
    errors = [oban.error(draw.randbytes(20_000).hex(), n) for n in range(9)]
    reading.oban.insert(errors=[*errors, oban.error("x {:cancel, :shutdown}", 10)])

    reading.go_round()

    (receipt,) = reading.receipts()
    assert receipt["job"]["errors"] == 10
    assert receipt["job"]["last_error"] == "cancel"
    assert len(receipt["data"]["row"]["errors"]) == 3


def test_times_that_no_calendar_holds_are_absent(reading: Reading) -> None:
    reading.oban.insert(scheduled_at="infinity", state="scheduled")
    reading.oban.insert(inserted_at="-infinity", attempted_at="12000-01-01")

    reading.go_round()

    first, second = reading.receipts()
    assert "scheduled_at" not in first["job"]
    assert not {"inserted_at", "attempted_at"} & second["job"].keys()


def test_names_that_need_quotes_are_read(postgresql: Postgres, shared_database: Database) -> None:
    odd = oban.made(postgresql, schema='odd "schema"; --', table="Oban Jobs {}")
    with odd as made, time_machine.travel(NOON, tick=False) as clock:
        reading = Reading(made, clock)
        made.insert()

        tally = reading.go_round()

        reading.start_over()
    assert tally.receipts == 1


def test_a_table_that_vanishes_is_named_and_read_again_when_it_is_back(reading: Reading) -> None:
    reading.oban.insert()
    reading.go_round()
    reading.oban.run("ALTER TABLE {} RENAME TO elsewhere")

    with pytest.raises(oban_loop.Unreadable) as raised:
        reading.go_round()

    assert str(raised.value).startswith(f"There is no table {reading.oban.schema}.oban_jobs")
    reading.oban.connection.execute(
        f'ALTER TABLE "{reading.oban.schema}".elsewhere RENAME TO oban_jobs'.encode()
    )
    assert reading.go_round().receipts == 0
    assert reading.receipts("prune") == []


def test_another_schema_that_has_the_table_is_named(reading: Reading) -> None:
    wrong = Target(reading.project.id, "prod-1", reading.oban.dsn, "public", "oban_jobs")

    with pytest.raises(oban_loop.Unreadable) as raised:
        oban_loop.connect(wrong, reading.said.append)

    assert "There is no table public.oban_jobs; there is one in schema oban_" in str(raised.value)


def test_a_table_that_is_not_obans_is_refused(reading: Reading) -> None:
    reading.oban.run("ALTER TABLE {} DROP COLUMN worker")

    with pytest.raises(oban_loop.Unreadable) as raised:
        reading.go_round()

    assert "is no table of Oban's: it has no column worker." in str(raised.value)


def test_a_role_without_rights_gets_the_line_that_grants_them(reading: Reading) -> None:
    table = reading.oban
    table.connection.execute("DROP ROLE IF EXISTS looker")
    table.connection.execute("CREATE ROLE looker LOGIN")
    dsn = table.dsn.replace("//counterfoil@", "//looker@")
    target = Target(reading.project.id, "prod-1", dsn, table.schema, table.table)

    with pytest.raises(oban_loop.Unreadable) as raised:
        oban_loop.connect(target, reading.said.append)

    lines = str(raised.value).partition("This lets it: ")[2]
    assert lines == (
        f'GRANT USAGE ON SCHEMA "{table.schema}" TO "looker"; '
        f'GRANT SELECT ON "{table.schema}"."oban_jobs" TO "looker";'
    )
    table.connection.execute(lines.encode())
    table.insert()
    session = oban_loop.connect(target, reading.said.append)
    assert session.go_round().receipts == 1
    session.close()
    table.connection.execute("DROP OWNED BY looker")
    table.connection.execute("DROP ROLE looker")


def test_rows_that_a_policy_hides_do_not_seem_to_be_gone(reading: Reading) -> None:
    table = reading.oban
    table.connection.execute("DROP ROLE IF EXISTS filtered")
    table.connection.execute("CREATE ROLE filtered LOGIN")
    table.connection.execute(f"GRANT USAGE ON SCHEMA {table.schema} TO filtered".encode())
    table.run("GRANT SELECT ON {} TO filtered")
    table.run("ALTER TABLE {} ENABLE ROW LEVEL SECURITY")
    dsn = table.dsn.replace("//counterfoil@", "//filtered@")
    session = oban_loop.connect(
        Target(reading.project.id, "prod-1", dsn, table.schema, table.table), reading.said.append
    )

    with pytest.raises(oban_loop.Unreadable) as raised:
        session.go_round()

    assert "row-level security" in str(raised.value)
    session.close()
    table.connection.execute("DROP OWNED BY filtered")
    table.connection.execute("DROP ROLE filtered")


def test_one_instance_cannot_become_another_table(reading: Reading, postgresql: Postgres) -> None:
    reading.go_round()
    with oban.made(postgresql) as other:
        target = Target(reading.project.id, "prod-1", other.dsn, other.schema, other.table)

        with pytest.raises(oban_loop.Unreadable) as raised:
            oban_loop.connect(target, reading.said.append)

    assert "Give it another name with --instance." in str(raised.value)


def test_projects_keep_their_places_apart(reading: Reading) -> None:
    reading.oban.insert()
    reading.go_round()
    elsewhere = Reading(reading.oban, reading.clock)

    tally = elsewhere.go_round()

    elsewhere.start_over()
    assert tally.receipts == 1
    assert len(reading.receipts()) == len(elsewhere.receipts()) == 1


def test_many_rows_take_many_pages_and_none_is_left_out(reading: Reading) -> None:
    reading.oban.run(
        "INSERT INTO {} (worker, args) SELECT 'W', '{{}}' FROM generate_series(1, 11000)"
    )
    reading.oban.run("UPDATE {} SET state = 'completed' WHERE mod(id, 7) > 0")

    first, second = reading.go_round(), reading.go_round(60 * 60)

    assert (first.changes["new"], second.receipts) == (11_000, 0)
    assert Receipt.objects.filter(project_id=reading.project.id).count() == 11_000


def forget(reading: Reading) -> None:
    """Lose the reader's notes."""
    reading.start_over()
    for model in (ObanSource, ObanHole, ObanKnown):
        model.objects.filter(project_id=reading.project.id).delete()


def numbers_of(reading: Reading) -> list[int]:
    """Return the numbers that the spool gave."""
    rows = Delivery.objects.filter(project_id=reading.project.id).order_by("feed_number")
    return [number for number in rows.values_list("feed_number", flat=True) if number is not None]


def end_reader(table: ObanDatabase) -> None:
    """End the reader's session in the server, as an administrator may."""
    table.connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'counterfoil oban_sync'"
    )
