from __future__ import annotations

from tests.architecture import ROOT
from tools.bootstrap import locks


def test_the_locks_pin_what_is_asked_for_with_hashes_and_without_an_address() -> None:
    assert list(locks.iter_faults(ROOT / "requirements")) == []
