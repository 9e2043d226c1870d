from __future__ import annotations

from contextlib import closing
from pathlib import Path

import httpx
import pytest

from tests.running import Counterfoil

pytestmark = pytest.mark.slow


def test_a_first_start_makes_a_ledger_and_a_way_in(counterfoil: Counterfoil) -> None:
    with httpx.Client(follow_redirects=True) as browser:
        answer = browser.get(counterfoil.login_link)

    assert answer.status_code == 200


def test_a_second_server_on_the_same_folder_says_who_has_it(counterfoil: Counterfoil) -> None:
    with pytest.raises(AssertionError, match=r"A server runs on .* already"):
        counterfoil.manage("up", "--no-demo")


def test_a_port_in_use_is_named(counterfoil: Counterfoil, tmp_path: Path) -> None:
    other = Counterfoil(tmp_path / "data")

    with pytest.raises(AssertionError, match=f"port {counterfoil.port}: Address already in use"):
        other.manage("up", "--no-demo", "--port", str(counterfoil.port))


def test_ctrl_c_ends_it_with_zero_and_a_start_after_a_kill_is_ready(tmp_path: Path) -> None:
    with closing(Counterfoil(tmp_path / "data")) as server:
        server.start()
        server.kill()
        server.start()

        assert server.stop() == 0
