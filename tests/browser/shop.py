"""The hour of a Celery shop that tests/data tells, moved so that it ended just now."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "data" / "celery_shop.ndjson"
ENDED = datetime.fromisoformat("2026-10-05T12:00:00+00:00")
PROJECT = "shop"


def bodies(now: datetime) -> list[dict[str, Any]]:
    """Give the receipts with all their times moved by as much."""
    moved: list[dict[str, Any]] = [
        json.loads(line, object_hook=lambda one: _moved(one, now))
        for line in DATA.read_text().splitlines()
    ]
    return moved


def _moved(one: dict[str, Any], now: datetime) -> dict[str, Any]:
    return {
        name: _later(value, now) if name in ("occurred_at", "from", "to") else value
        for name, value in one.items()
    }


def _later(text: str, now: datetime) -> str:
    return (datetime.fromisoformat(text) + (now - ENDED)).isoformat()
