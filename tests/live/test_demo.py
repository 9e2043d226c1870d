from __future__ import annotations

import pytest

from tests.running import Counterfoil

pytestmark = pytest.mark.slow


@pytest.mark.timeout(240)
def test_twelve_workers_under_fire_end_as_the_rig_counted(counterfoil: Counterfoil) -> None:
    printed = counterfoil.manage("demo", "--url", counterfoil.url, "--seed", "3")

    lines = printed.splitlines()
    assert [line for line in lines if not line.startswith("ok")] == []
    assert any(line.startswith("ok     20 of 20 jobs are done") for line in lines)


def test_the_demo_says_what_to_do_when_no_server_answers(counterfoil: Counterfoil) -> None:
    with pytest.raises(AssertionError, match=r"No server answers at http://127\.0\.0\.1:9"):
        counterfoil.manage("demo", "--url", "http://127.0.0.1:9", "--project", "nowhere")
