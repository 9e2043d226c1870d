"""The cast of three for tests over HTTP."""

from __future__ import annotations

from tests.cast import cast

__all__ = ["cast"]
