"""The cast of three and the desk for tests of stores."""

from __future__ import annotations

from tests.cast import cast
from tests.desk import desk, desk_loop, shared_database

__all__ = ["cast", "desk", "desk_loop", "shared_database"]
