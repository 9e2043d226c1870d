"""The cast of three for tests of stores."""

from __future__ import annotations

from tests.cast import cast

__all__ = ["cast"]
