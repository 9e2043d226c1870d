"""The desk for tests of the API document."""

from __future__ import annotations

from tests.desk import desk, desk_loop, shared_database

__all__ = ["desk", "desk_loop", "shared_database"]
