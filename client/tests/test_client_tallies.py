from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fakeledger import FakeLedger

import counterfoil
from counterfoil import names, tallies
from counterfoil.journal import Entry

SOURCE = {"system": "celery", "instance": "prod-1", "via": "signal"}


def tallied(ledger: FakeLedger) -> list[str]:
    return [row[1] for tally in ledger.of_kind("tally") for row in tally["data"]["jobs"]]


def tally(client: counterfoil.Client, *jobs: str, **given: Any) -> None:
    for job in jobs:
        client.outcome("mail.send", "mail", job, **{"ms": 12.4, "source": SOURCE, **given})


def test_ordinary_outcomes_become_one_receipt(
    client: counterfoil.Client, ledger: FakeLedger
) -> None:
    tally(client, "a", "b")
    client.outcome("mail.read", "mail", "c", "retried", 7, source=SOURCE)

    assert client.flush()

    [found] = ledger.of_kind("tally")
    assert found["source"] == SOURCE
    assert found["policy"] == client.policy.version
    assert found["counts"] == [
        {"task": "mail.read", "queue": "mail", "done": 0, "retried": 1}
        | {"ms": {"p50": 7, "p99": 7, "max": 7}},
        {"task": "mail.send", "queue": "mail", "done": 2, "retried": 0}
        | {"ms": {"p50": 12, "p99": 12, "max": 12}},
    ]
    rows = [row[:4] for row in found["data"]["jobs"]]
    assert rows[0] == ["mail.send", "a", "done", 12]
    assert rows[2] == ["mail.read", "c", "retried", 7]
    assert found["window"]["from"] <= found["window"]["to"] == found["occurred_at"]


def test_the_policy_is_told_before_the_first_outcome_and_once(
    client: counterfoil.Client, ledger: FakeLedger
) -> None:
    tally(client, "a", "b")

    client.flush()

    [policy] = ledger.of_kind("observe")
    assert policy["what"] == "policy"
    assert policy["version"] == client.policy.version
    assert policy["source"] == SOURCE
    assert policy["tally"] == ["*"]


def test_outcomes_of_several_processes_share_a_tally(
    make_client: Callable[..., counterfoil.Client], ledger: FakeLedger
) -> None:
    one, other = make_client(name="one"), make_client(name="other")
    tally(one, "a")
    tally(other, "b")
    tally(one, "c")

    one.flush()

    [found] = ledger.of_kind("tally")
    assert sorted(row[1] for row in found["data"]["jobs"]) == ["a", "b", "c"]


def test_each_source_has_tallies_of_its_own(client: counterfoil.Client, ledger: FakeLedger) -> None:
    tally(client, "a")
    tally(client, "b", source={"system": "celery", "instance": "prod-2"})

    client.flush()

    found = {t["source"]["instance"]: t["data"]["jobs"][0][1] for t in ledger.of_kind("tally")}
    assert found == {"prod-1": "a", "prod-2": "b"}


def test_a_tally_has_at_most_a_thousand_outcomes(
    client: counterfoil.Client, ledger: FakeLedger
) -> None:
    tally(client, *map(str, range(2500)))

    client.flush()

    sizes = [len(found["data"]["jobs"]) for found in ledger.of_kind("tally")]
    assert sizes == [1000, 1000, 500]
    assert Counter(tallied(ledger)) == Counter(map(str, range(2500)))


def test_outcomes_wait_for_ten_seconds_unless_there_are_enough(
    client: counterfoil.Client, ledger: FakeLedger
) -> None:
    tally(client, *map(str, range(1001)))

    client.forward_once(everything=False)

    assert len(tallied(ledger)) == 1000
    client.forward_once(everything=False)
    assert len(tallied(ledger)) == 1000


def test_outcomes_wait_for_nothing_when_all_who_write_have_ended(
    make_client: Callable[..., counterfoil.Client], ledger: FakeLedger
) -> None:
    client, other = make_client(), make_client(name="other")
    other.receipt("done")
    tally(client, "a")
    client.close()

    client.forward_once(everything=False)
    assert tallied(ledger) == []
    other.close()
    client.forward_once(everything=False)

    assert tallied(ledger) == ["a"]


def test_the_numbers_of_tallies_have_no_hole(
    client: counterfoil.Client, ledger: FakeLedger
) -> None:
    for job in "abc":
        tally(client, job)
        client.flush()

    [numbers] = [found for spool, found in ledger.numbers.items() if ":tallies-t-" in spool]
    assert sorted(numbers) == [1, 2, 3]


def test_journals_and_files_are_gone_when_all_has_been_sent(
    client: counterfoil.Client, spool: Path
) -> None:
    tally(client, "a")
    client.close()

    client.flush()

    found = [names.parse(path.name) for path in spool.iterdir()]
    assert [file for file in found if file is not None] == []


def test_a_line_that_cannot_be_read_is_sent_as_it_is(
    client: counterfoil.Client, ledger: FakeLedger, spool: Path
) -> None:
    tally(client, "a")
    [journal] = spool.glob("*-o-*.open")
    with journal.open("ab") as lines:
        lines.write(b'["mail.send", 12]\n')
    tally(client, "b")

    client.flush()

    assert tallied(ledger) == ["a", "b"]
    assert ledger.set_aside == [b'["mail.send", 12]']


def test_a_torn_last_line_of_a_dead_process_is_counted_as_lost(
    make_client: Callable[..., counterfoil.Client], ledger: FakeLedger, spool: Path
) -> None:
    writer = make_client(name="writer")
    tally(writer, "a")
    writer.close()
    [journal] = spool.glob("*-o-*.ready")
    with journal.open("ab") as lines:
        lines.write(b'["mail.send","ma')

    make_client().flush()

    [numbers] = [found for spool, found in ledger.numbers.items() if ":tallies-t-" in spool]
    assert sorted(numbers) == [2]
    assert tallied(ledger) == ["a"]
    [feed] = [f for f in ledger.feeds if ":tallies-t-" in f["spool"]]
    assert feed["dropped"] == 1
    assert feed["outcomes"] == {"waiting": 0, "oldest_s": None}


def test_a_journal_that_somebody_deleted_is_counted_as_a_loss(
    make_client: Callable[..., counterfoil.Client], ledger: FakeLedger, spool: Path
) -> None:
    writer = make_client(name="writer")
    tally(writer, "a")
    forwarder = make_client()
    forwarder.flush()
    for path in spool.glob("*-o-*"):
        path.unlink()

    forwarder.flush()

    state = json.loads((spool / "tallies.json").read_bytes())
    assert state["lost"] == 1


def test_a_long_name_is_kept_whole_in_a_receipt_of_its_own(
    client: counterfoil.Client, ledger: FakeLedger
) -> None:
    client.outcome("mail.send", "mail", "j" * 300, ms=3, source=SOURCE)

    client.flush()

    [found] = ledger.of_kind("done")
    assert found["job"]["id"] == "j" * 300
    assert ledger.of_kind("tally") == []


@pytest.mark.parametrize("ms", [float("nan"), float("inf"), -1.0, 10**400])
def test_a_duration_that_is_none_is_written_as_zero(
    client: counterfoil.Client, ledger: FakeLedger, ms: float
) -> None:
    client.outcome("mail.send", "mail", "a", ms=ms, source=SOURCE)

    client.flush()

    assert ledger.of_kind("tally")[0]["data"]["jobs"][0][:4] == ["mail.send", "a", "done", 0]


@pytest.mark.parametrize("sign", ["x", "é", "\U0001f600", "\x01", '"', "\ud800"])
def test_a_tally_fits_the_servers_bound_whatever_its_names(
    client: counterfoil.Client, ledger: FakeLedger, sign: str
) -> None:
    for number in range(1_000):
        client.outcome(f"{number}{sign * 250}", sign * 255, sign * 255, source=SOURCE)

    client.flush()

    assert sum(len(t["data"]["jobs"]) for t in ledger.of_kind("tally")) == 1_000
    assert max(len(raw) for raw in ledger.receipts.values()) < 1024 * 1024


def test_an_outcome_that_is_not_ordinary_is_refused(client: counterfoil.Client) -> None:
    with pytest.raises(counterfoil.CounterfoilError, match="done"):
        client.outcome("mail.send", "mail", "a", "failed")


def test_off_leaves_no_trace(
    make_client: Callable[..., counterfoil.Client], spool: Path, tmp_path: Path
) -> None:
    client = make_client(off=True, policy=tmp_path / "missing.json")

    tally(client, "a")
    client.announce(SOURCE)
    client.close()

    assert not spool.exists()


@pytest.mark.parametrize(
    ("count", "p50", "p99"), [(1, 1, 1), (2, 1, 2), (100, 50, 99), (101, 51, 100), (1000, 500, 990)]
)
def test_percentiles_are_by_nearest_rank(count: int, p50: int, p99: int) -> None:
    entries = [Entry("t", "q", str(n), "done", n, 0) for n in range(1, count + 1)]

    [found] = tallies.counts_of(entries)

    assert found["ms"] == {"p50": p50, "p99": p99, "max": count}
