from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fakeledger import FakeLedger

import counterfoil


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in list(os.environ):
        if name.startswith("COUNTERFOIL_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


@pytest.fixture
def ledger() -> Iterator[FakeLedger]:
    made = FakeLedger()
    yield made
    made.close()


@pytest.fixture
def spool(tmp_path: Path) -> Path:
    return tmp_path / "spool"


@pytest.fixture
def make_client(spool: Path, ledger: FakeLedger) -> Iterator[Callable[..., counterfoil.Client]]:
    made: list[counterfoil.Client] = []

    def make(**settings: Any) -> counterfoil.Client:
        given = {"spool": spool, "url": ledger.url, "token": ledger.token, "send": False}
        client = counterfoil.Client(counterfoil.from_env(**{**given, **settings}))
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()


@pytest.fixture
def client(make_client: Callable[..., counterfoil.Client]) -> counterfoil.Client:
    return make_client()
