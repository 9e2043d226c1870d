"""The cast of three, the desk, and a house that reads buses, for tests over HTTP."""

from __future__ import annotations

import pytest

from tests.cast import cast
from tests.desk import Desk, desk, desk_loop, shared_database
from tests.http.events_house import House

__all__ = ["cast", "desk", "desk_loop", "shared_database"]


@pytest.fixture
def house(desk: Desk) -> House:
    """Give a project with a person and a program that read about buses."""
    return House(desk)
