"""`manage.py import` and `reconcile` on both databases: what is written, once, and what is not."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from django.core.management import ManagementUtility, call_command
from django.db import connection, connections

from kit import commands
from ledger import rebuild, store
from ledger.integrations import import_run
from ledger.models import Receipt, WatchedSpan
from ledger.registry import registry
from tests.desk import Desk, only_on

AT = "[2026-10-05 09:00:0{n},000: INFO/ForkPoolWorker-1]"
MAP = """
format = "csv"
[receipt]
kind = { from = "{state}", words = { OK = "done", ERR = "fail" } }
occurred_at = "{sent}"
job = { task = "payout.send", id = "{no}" }
subjects = [{ type = "payout", id = "{payout}" }]
"""
ROWS = [
    "no,payout,sent,state",
    "1,PO-1,2026-10-05T09:00:00Z,OK",
    "2,PO-2,2026-10-05T09:01:00Z,ERR",
    "3,PO-3,2026-10-05T09:02:00Z,OK",
]


@dataclass
class Said:
    code: int
    out: str
    err: str

    @property
    def counts(self) -> dict[str, int]:
        """Return the numbers of the summary: receipts that are new and on record, and faults."""
        found = re.search(r"receipts: ([\d,]+) [a-z ]+, ([\d,]+) on.* ([\d,]+) were set", self.out)
        assert found is not None, self.out
        numbers = [int(one.replace(",", "")) for one in found.groups()]
        return dict(zip(("new", "known", "aside"), numbers, strict=True))


@dataclass
class Bench:
    """A project, and a folder with files to bring into it."""

    desk: Desk
    folder: Path

    def write(self, name: str, *lines: str) -> Path:
        path = self.folder / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return path

    def run(self, *words: str, name: str = "import") -> Said:
        out, err = io.StringIO(), io.StringIO()
        code = 0
        try:
            call_command(
                name, f"--project={self.desk.project.slug}", *words, stdout=out, stderr=err
            )
        except SystemExit as left:
            code = int(left.code or 0)
        return Said(code, out.getvalue(), err.getvalue())

    def bring(self, *lines: str, to: str = "bank/prod-1", **given: str) -> Said:
        """Import lines by a map; gives what the command said."""
        chosen = given.get("map") or str(self.write("map.toml", MAP))
        path = self.write(given.get("file", "pay.csv"), *lines)
        words = given.get("words", "").split()
        return self.run(f"--source={to}", f"--map={chosen}", *words, str(path))

    def reconcile(self, *words: str) -> Said:
        self.desk.catch_up()
        return self.run("--subject=payout", *words, name="reconcile")

    def bodies(self) -> list[dict[str, Any]]:
        """Return what was imported, in the order of the log."""
        self.desk.catch_up()
        found = [json.loads(self.desk.raw(ref)) for _, ref in self.desk.leaves()]
        return [one for one in found if one.get("source", {}).get("via") == "import"]


@pytest.fixture
def bench(desk: Desk, tmp_path: Path) -> Bench:
    return Bench(desk, tmp_path)


def test_lines_become_receipts_and_the_import_is_one(bench: Bench) -> None:
    said = bench.bring(*ROWS)

    *receipts, noted = bench.bodies()
    assert (said.code, said.counts) == (0, {"new": 3, "known": 0, "aside": 0})
    assert [one["kind"] for one in receipts] == ["done", "fail", "done"]
    assert receipts[0]["source"] == {"system": "bank", "instance": "prod-1", "via": "import"}
    assert noted["what"] == "import"
    assert noted["import"] | {"sha256": "", "map_sha256": ""} == {
        "file": "pay.csv", "sha256": "", "bytes": 115, "map": "map", "map_sha256": "",
        "covers": "all", "lines": 3, "taken": 3, "left_out": 0, "told_live": 0, "set_aside": 0,
        "receipts": 3,
        "first_at": "2026-10-05T09:00:00.000000Z", "last_at": "2026-10-05T09:02:00.000000Z",
    }  # fmt: skip


def test_what_was_imported_is_never_more_than_reconstructed(bench: Bench) -> None:
    bench.bring(*ROWS)
    bench.desk.catch_up()

    levels = {one["level"] for one in bench.desk.read("receipts?q=source:bank/prod-1")["items"]}

    assert levels == {"reconstructed"}


def test_a_second_run_adds_nothing_at_all(bench: Bench) -> None:
    bench.bring(*ROWS)
    before = Receipt.objects.count()

    said = bench.bring(*ROWS)

    assert said.counts == {"new": 0, "known": 3, "aside": 0}
    assert "was in the log before" in said.out
    assert Receipt.objects.count() == before


def test_a_file_that_has_grown_adds_its_new_lines_and_one_that_was_renamed_none(
    bench: Bench,
) -> None:
    bench.bring(*ROWS[:3])

    grown = bench.bring(*ROWS)
    renamed = bench.bring(*ROWS, file="pay.csv.1")

    assert grown.counts == {"new": 1, "known": 2, "aside": 0}
    assert renamed.counts == {"new": 0, "known": 3, "aside": 0}


def test_two_equal_lines_of_a_file_are_two_receipts_however_it_is_cut(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = '[receipt]\nkind = "done"\njob.task = "{task}"\n'
    rows = ["task", "a", "b", "a", "a"]
    monkeypatch.setattr(import_run, "BATCH", 2)

    first = bench.bring(*rows, map=str(bench.write("t.toml", chosen)))
    monkeypatch.setattr(import_run, "BATCH", 3)
    again = bench.bring(*rows, "a", map=str(bench.write("t.toml", chosen)))

    assert first.counts == {"new": 4, "known": 0, "aside": 0}
    assert again.counts == {"new": 1, "known": 4, "aside": 0}


def test_the_same_line_of_another_source_is_another_receipt(bench: Bench) -> None:
    bench.bring(*ROWS)

    assert bench.bring(*ROWS, to="bank/prod-2").counts["new"] == 3


def test_lines_that_cannot_be_read_are_named_and_not_stored(bench: Bench) -> None:
    bad = ["4,PO-4,soon,OK", "5,PO-5,2026-10-05T09:00:00Z,SECRET-WORD", "6,PO-6"]

    said = bench.bring(*ROWS, *bad, words=f"--set-aside={bench.folder}/aside.ndjson")

    kept = [json.loads(line) for line in (bench.folder / "aside.ndjson").read_text().splitlines()]
    assert (said.code, said.counts) == (1, {"new": 3, "known": 0, "aside": 3})
    assert "pay.csv:7: has 2 fields, and there are 4 columns" in said.err
    assert [(one["line"], one["code"]) for one in kept] == [
        (5, "time"),
        (6, "word"),
        (7, "columns"),
    ]
    assert "SECRET-WORD" in kept[1]["raw"]
    noted = bench.bodies()[-1]
    assert noted["data"]["set_aside"] == [
        {"line": 5, "why": "time"}, {"line": 6, "why": "word"}, {"line": 7, "why": "columns"},
    ]  # fmt: skip
    assert "SECRET-WORD" not in json.dumps(bench.bodies())


def test_a_file_of_what_was_set_aside_is_never_written_over(bench: Bench) -> None:
    (bench.folder / "aside.ndjson").write_text("mine")

    with pytest.raises(commands.UsageError, match="cannot be written: File exists"):
        bench.bring(*ROWS, words=f"--set-aside={bench.folder}/aside.ndjson")


def test_what_makes_no_receipt_is_set_aside_with_the_reason(bench: Bench) -> None:
    chosen = '[receipt]\nkind = "{kind}"\nsubjects = [{type = "{type}", id = "x"}]\n'

    said = bench.bring("kind,type", "done,Bad Type", map=str(bench.write("t.toml", chosen)))

    assert said.counts == {"new": 0, "known": 0, "aside": 1}
    assert "pay.csv:2: makes no receipt: /subjects/0/type" in said.err
    assert bench.bodies() == []


def test_a_line_that_another_map_read_otherwise_is_set_aside_and_what_is_there_stays(
    bench: Bench,
) -> None:
    bench.bring(*ROWS)
    other = MAP.replace("payout.send", "payout.pay")

    said = bench.bring(*ROWS, map=str(bench.write("other.toml", other)))

    assert (said.code, said.counts) == (1, {"new": 0, "known": 0, "aside": 3})
    assert "is on record with other content, as another map read it" in said.err
    assert {one["job"]["task"] for one in bench.bodies()[:-1]} == {"payout.send"}


def test_ids_of_a_map_that_two_lines_share_are_one_receipt_or_set_aside(bench: Bench) -> None:
    chosen = '[receipt]\nkind = "done"\nid = "{no}"\njob.task = "{task}"\n'

    said = bench.bring("no,task", "1,a", "1,a", "1,b", map=str(bench.write("t.toml", chosen)))

    assert said.counts == {"new": 1, "known": 1, "aside": 1}


def test_a_dry_run_says_what_it_would_do_and_writes_nothing(bench: Bench) -> None:
    said = bench.bring(*ROWS, words="--dry-run")

    assert said.counts == {"new": 3, "known": 0, "aside": 0}
    assert "Nothing was written." in said.out
    assert '"kind":"done"' in said.out
    assert bench.bodies() == []


def test_a_run_that_breaks_off_is_not_noted_and_the_next_goes_on(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(import_run, "BATCH", 2)
    stores: list[int] = []
    append = store.append

    def fail_at_second(drafts: Any) -> Any:
        stores.append(len(drafts))
        if len(stores) == 2:
            raise KeyboardInterrupt
        return append(drafts)

    monkeypatch.setattr(store, "append", fail_at_second)
    with pytest.raises(KeyboardInterrupt):
        bench.bring(*ROWS)
    monkeypatch.setattr(store, "append", append)
    assert [one["kind"] for one in bench.bodies()] == ["done", "fail"]

    said = bench.bring(*ROWS)

    assert said.counts == {"new": 1, "known": 2, "aside": 0}
    assert bench.bodies()[-1]["what"] == "import"


def test_a_log_of_a_worker_becomes_what_its_jobs_did(bench: Bench) -> None:
    lines = [
        f"{AT} Task mail.send[j-1] received",
        f"{AT} Task mail.send[j-1] succeeded in 0.5s: None",
        f"{AT} Task mail.send[j-2] received",
        f"{AT} Task mail.send[j-2] raised unexpected: ValueError('4111 1111')",
        "Traceback (most recent call last):",
    ]

    said = bench.bring(
        *(line.format(n=n) for n, line in enumerate(lines)), to="celery/shop", file="w.log",
        map="celery-log", words="--zone=Europe/Berlin",
    )  # fmt: skip

    bench.desk.catch_up()
    assert said.counts == {"new": 4, "known": 0, "aside": 0}
    assert bench.desk.read("jobs/celery/shop/j-1")["verdict"]["code"] == "done"
    assert bench.desk.read("jobs/celery/shop/j-2")["verdict"]["code"].startswith("fail")
    assert "4111" not in json.dumps(bench.bodies())


def test_a_result_table_in_a_sqlite_file_is_read_as_it_is(bench: Bench) -> None:
    with closing(sqlite3.connect(bench.folder / "app.db")) as database:
        database.execute(
            "CREATE TABLE celery_taskmeta (id, task_id, status, result, date_done, traceback)"
        )
        database.execute(
            "INSERT INTO celery_taskmeta VALUES (1, 'j-1', 'SUCCESS', x'80', "
            "'2026-10-05 09:00:00.5', NULL)"
        )
        database.commit()
    words = ("--source=celery/shop", "--map=celery-taskmeta", str(bench.folder / "app.db"))

    first, again = bench.run(*words), bench.run(*words)

    assert (first.counts["new"], again.counts) == (1, {"new": 0, "known": 1, "aside": 0})
    (one, _) = bench.bodies()
    assert one["job"] == {"id": "j-1"}
    assert one["occurred_at"] == "2026-10-05T09:00:00.500000Z"


OBAN = {
    "id": 101, "state": "completed", "queue": "q", "worker": "W", "args": {"a": 1}, "errors": [],
    "attempt": 1, "max_attempts": 20, "inserted_at": "2026-10-05T09:00:00.5",
    "scheduled_at": "2026-10-05T09:00:00.5", "attempted_at": "2026-10-05T09:00:01",
    "completed_at": "2026-10-05T09:00:02", "attempted_by": ["n1"], "tags": [], "meta": {},
    "priority": 0,
}  # fmt: skip
COPY = """--
-- PostgreSQL database dump
--
COPY public.oban_jobs (id, state, queue, worker, args, errors, attempt, completed_at, tags) FROM stdin;
102\tdiscarded\tq\tW\t{"a": 1}\t{"{\\\\"at\\\\": \\\\"2026-10-05T09:00:00Z\\\\", \\\\"error\\\\": \\\\"no\\\\"}"}\t20\t\\N\t{a,"b c"}
\\.
"""  # noqa: E501


def test_a_backup_of_an_oban_table_becomes_rows_of_jobs(bench: Bench) -> None:
    rows = bench.bring(json.dumps(OBAN), to="oban/prod-1", file="o.ndjson", map="oban-jobs")
    dump = bench.bring(COPY.rstrip("\n"), to="oban/prod-1", file="o.sql", map="oban-jobs")

    assert rows.counts["new"] == dump.counts["new"] == 1
    receipts = [one for one in bench.bodies() if one["what"] == "row"]
    assert [one["job"]["id"] for one in receipts] == ["101", "102"]
    assert receipts[1]["data"]["row"]["tags"] == ["a", "b c"]
    assert receipts[1]["data"]["row"]["errors"] == [{"at": "2026-10-05T09:00:00Z", "error": "no"}]
    assert bench.desk.read("jobs/oban/prod-1/101")["verdict"]["code"] == "done"
    assert bench.desk.read("jobs/oban/prod-1/102")["verdict"]["code"] == "failed.exhausted"


def test_a_row_of_an_old_backup_does_not_overrule_a_newer_look(bench: Bench) -> None:
    older = {**OBAN, "state": "executing", "completed_at": None}
    bench.bring(json.dumps(OBAN), to="oban/prod-1", file="new.ndjson", map="oban-jobs")

    bench.bring(json.dumps(older), to="oban/prod-1", file="old.ndjson", map="oban-jobs")

    bench.desk.catch_up()
    assert bench.desk.read("jobs/oban/prod-1/101")["verdict"]["code"] == "done"


def test_what_is_no_row_of_the_table_is_set_aside(bench: Bench) -> None:
    said = bench.bring('{"id": 1}', to="oban/prod-1", file="o.ndjson", map="oban-jobs")

    assert said.counts["aside"] == 1
    assert "is no row of oban_jobs: it has no state, queue, worker, args" in said.err


def test_receipts_that_were_kept_come_in_under_their_own_ids_and_another_source(
    bench: Bench,
) -> None:
    line = {"id": "r-1", "kind": "done", "source": {"system": "x", "via": "client"}}

    bench.bring(json.dumps(line), file="old.ndjson", map="receipts")

    (one, _) = bench.bodies()
    assert (one["id"], one["source"]["system"], one["source"]["via"]) == ("r-1", "bank", "import")


def spans(bench: Bench) -> list[tuple[str, bool]]:
    bench.desk.catch_up()
    rows = WatchedSpan.objects.filter(project_id=bench.desk.project.id).order_by("leaf_index")
    return [(row.system, row.last_at is None) for row in rows]


def test_a_source_is_watched_from_its_first_receipt_and_for_the_time_of_an_import(
    bench: Bench,
) -> None:
    bench.bring(*ROWS)
    assert spans(bench) == [("bank", False)]

    for _ in range(2):
        bench.desk.post({"kind": "done", "source": {"system": "bank", "instance": "prod-1"}})

    assert spans(bench) == [("bank", False), ("bank", True)]
    found = bench.desk.read("subjects/payout/PO-1")
    assert found["watched_since"] == "2026-10-05T09:00:00.000000Z"


def test_lines_of_the_time_since_the_first_live_receipt_are_left_to_it(bench: Bench) -> None:
    bench.desk.post({"kind": "done", "source": {"system": "bank", "instance": "prod-1"}})
    bench.desk.catch_up()
    later = "4,PO-4,2999-01-01T00:00:00Z,OK"

    said = bench.bring(*ROWS, later)

    bench.desk.catch_up()
    live, imported = WatchedSpan.objects.filter(project_id=bench.desk.project.id).order_by(
        "leaf_index"
    )
    assert said.counts == {"new": 3, "known": 0, "aside": 0}
    assert ": 1 line of the time since; --overlap takes them too." in said.out
    assert imported.last_at == live.first_at
    assert bench.bring(*ROWS, later, words="--overlap").counts["new"] == 1


def test_a_producer_cannot_claim_an_import(bench: Bench) -> None:
    told = {"first_at": "2020-01-01T00:00:00Z", "last_at": "2026-01-01T00:00:00Z"}
    source = {"system": "bank", "instance": "prod-1", "via": "import"}

    bench.desk.post({"kind": "observe", "what": "import", "import": told, "source": source})

    assert spans(bench) == []


def test_a_file_of_a_part_does_not_count_as_watched_and_a_longer_time_can_be_told(
    bench: Bench,
) -> None:
    part = MAP.replace('format = "csv"', 'format = "csv"\ncovers = "some"')
    bench.bring(*ROWS, map=str(bench.write("part.toml", part)))
    assert spans(bench) == []

    bench.bring(*ROWS, words="--covers-from=2026-10-01 --covers-to=2026-11-01")

    bench.desk.catch_up()
    row = WatchedSpan.objects.get(project_id=bench.desk.project.id)
    assert row.first_at.isoformat() == "2026-10-01T00:00:00+00:00"
    assert row.last_at is not None
    assert row.last_at.isoformat() == "2026-11-01T00:00:00+00:00"


@pytest.mark.parametrize("batch", [1, 2_000])
def test_spans_are_built_again_to_the_same_rows(bench: Bench, batch: int) -> None:
    bench.bring(*ROWS)
    for system in ("a", "b", "a"):
        bench.desk.post({"kind": "done", "source": {"system": system, "instance": "1"}})
    bench.desk.post(b"{")
    bench.desk.catch_up()
    projectors = [one for one in registry.projectors if one.name == "watched"]

    report = rebuild.rebuild(projectors, apply=False, batch=batch)

    assert (report.differing, spans(bench)) == (0, [("bank", False), ("a", True), ("b", True)])


WINDOW = ("--from=2026-10-05T09:00:00Z", "--to=2026-10-05T09:02:00Z")


def test_a_list_of_what_was_imported_is_accounted_for_without_any_feed(bench: Bench) -> None:
    bench.bring(*ROWS)

    said = bench.reconcile(f"--expected={bench.write('e.csv', 'id', 'PO-1', 'PO-2')}", *WINDOW)

    assert said.code == 0
    assert "2 expected: 1 done, 0 in progress, 0 skipped, 0 cancelled, 1 failed" in said.out
    assert said.out.rstrip().endswith("Each of 2 has a record.")


def test_what_has_no_record_is_named_and_a_time_that_was_not_watched_is_not_judged(
    bench: Bench,
) -> None:
    bench.bring(*ROWS)
    expected = f"--expected={bench.write('e.csv', 'PO-1', 'PO-9')}"

    missing = bench.reconcile(expected, *WINDOW)
    before = bench.reconcile(expected, "--from=2026-10-05T08:00:00Z", WINDOW[1])

    assert missing.code == 1
    assert "nothing recorded: 1\n  PO-9\n" in missing.out
    assert before.code == 2
    assert "From 2026-10-05 08:00:00 UTC to 2026-10-05 09:00:00 UTC nothing was" in before.out


def test_json_and_csv_list_every_object_with_the_ref_that_says_so(bench: Bench) -> None:
    bench.bring(*ROWS)
    expected = f"--expected={bench.write('e.csv', 'PO-1', '=PO-9')}"

    found = json.loads(bench.reconcile(expected, "--json", *WINDOW).out)
    table = bench.reconcile(expected, "--csv", *WINDOW)

    by = bench.desk.read("receipts?q=subject:payout:PO-1")["items"][0]["ref"]
    assert [one["by"] for one in found["items"]] == [by, None]
    assert found["verdict"]["code"] == "unrecorded"
    assert table.out.splitlines()[2].startswith("payout,'=PO-9,nothing_recorded,")
    assert table.err.strip() == "1 of 2 has no record."


USAGE: dict[str, tuple[str, list[str]]] = {
    "no such map": ("import", ["--source=a/b", "--map=nothing-like-it", "x"]),
    "no source": ("import", ["--source=", "--map=celery-log", "x"]),
    "a source that is none": ("import", ["--source=a b", "--map=celery-log", "x"]),
    "no such zone": ("import", ["--source=a/b", "--map=celery-log", "--zone=Mars", "x"]),
    "a time that is none": ("import", ["--source=a/b", "--map=celery-log", "--covers-to=x", "x"]),
    "no files": ("import", ["--source=a/b", "--map=celery-log"]),
    "a type that is none": ("reconcile", ["--expected=x", "--subject=No Type"]),
    "a window that is none": ("reconcile", ["--expected=x", "--subject=a", "--from=noon"]),
    "two forms": ("reconcile", ["--expected=x", "--subject=a", "--json", "--csv"]),
}
NOT_READ: dict[str, tuple[str, list[str]]] = {
    "a file that is not there": ("import", ["--source=a/b", "--map=celery-log", "/no/such/file"]),
    "a list that is not there": ("reconcile", ["--expected=/no/such/file", "--subject=a"]),
}


def exit_code(project: str, name: str, words: list[str]) -> int:
    """Run as from the shell, and give the exit code."""
    with pytest.raises(SystemExit) as left:
        ManagementUtility(["manage.py", name, f"--project={project}", *words]).execute()
    return int(left.value.code or 0)


@only_on("sqlite")
@pytest.mark.parametrize("case", USAGE)
def test_wrong_options_are_3(bench: Bench, case: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code(bench.desk.project.slug, *USAGE[case]) == 3
    assert "Traceback" not in capfd.readouterr().err


@only_on("sqlite")
@pytest.mark.parametrize("case", NOT_READ)
def test_what_cannot_be_read_is_2(
    bench: Bench, case: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(bench.desk.project.slug, *NOT_READ[case]) == 2
    assert "No such file" in capfd.readouterr().err


@only_on("sqlite")
def test_a_map_that_does_not_fit_its_file_is_3(
    bench: Bench, capfd: pytest.CaptureFixture[str]
) -> None:
    chosen, file = bench.write("map.toml", MAP), bench.write("x.csv", "a,b", "1,2")

    code = exit_code(
        bench.desk.project.slug, "import", ["--source=a/b", f"--map={chosen}", str(file)]
    )

    assert code == 3
    assert "x.csv has no column state, sent, no, payout; it has a, b" in capfd.readouterr().err


@only_on("sqlite")
def test_a_list_that_cannot_be_read_is_3(bench: Bench, capfd: pytest.CaptureFixture[str]) -> None:
    file = bench.write("x.csv", "a,b", "1,2")

    code = exit_code(
        bench.desk.project.slug, "reconcile", [f"--expected={file}", "--subject=payout"]
    )

    assert code == 3
    assert "Which column has the ids?" in capfd.readouterr().err


@pytest.fixture
def stopped(bench: Bench) -> Iterator[None]:
    """Have a database that answers nothing."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    broken = connections["default"].settings_dict["NAME"]
    connections["default"].close()
    connections["default"].settings_dict["NAME"] = "/no/such/place/at/all.sqlite3"
    yield
    connections["default"].settings_dict["NAME"] = broken


@only_on("sqlite")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("import", ["--source=a/b", "--map=celery-log", "x"]),
        ("reconcile", ["--expected=x", "--subject=a"]),
    ],
)
def test_without_its_database_a_command_is_2(
    bench: Bench, stopped: None, name: str, words: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("any", name, words) == 2
    assert "the database cannot be used" in capfd.readouterr().err
