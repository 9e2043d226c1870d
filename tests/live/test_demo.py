from __future__ import annotations

import pytest

from tests.running import Counterfoil
from tests.servers import Postgres

pytestmark = pytest.mark.slow


@pytest.mark.timeout(240)
def test_twelve_workers_under_fire_end_as_the_rig_counted(counterfoil: Counterfoil) -> None:
    printed = counterfoil.manage("demo", "--scenario", "1", "--url", counterfoil.url, "--seed", "3")

    lines = printed.splitlines()
    assert [line for line in lines if not line.startswith("ok")] == []
    assert any(line.startswith("ok     20 of 20 jobs are done") for line in lines)


def test_a_run_that_is_entered_again_is_judged_as_its_history_states(
    counterfoil: Counterfoil,
) -> None:
    printed = counterfoil.manage("demo", "--scenario", "3", "--url", counterfoil.url)

    assert "ok     17 of 17 receipts are judged right" in printed
    assert "ok     24 of 24 rows are judged right" in printed


def test_the_same_history_is_read_from_a_real_oban_table(
    counterfoil: Counterfoil, postgresql: Postgres
) -> None:
    counterfoil.environment["OBAN"] = postgresql.url

    printed = counterfoil.manage(
        "demo", "--scenario", "3", "--url", counterfoil.url, "--oban-dsn-env", "OBAN"
    )

    assert "a real Oban table was read: 24 new" in printed
    assert "ok     24 of 24 rows are judged right" in printed


def test_the_demo_says_what_to_do_when_no_server_answers(counterfoil: Counterfoil) -> None:
    with pytest.raises(AssertionError, match=r"No server answers at http://127\.0\.0\.1:9"):
        counterfoil.manage("demo", "--url", "http://127.0.0.1:9", "--project", "nowhere")
