from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

import pytest

from access import store as access_store
from access.rows import COMMAND_LINE
from ledger.models import TreeHead


@pytest.fixture
def make_head() -> Callable[[datetime], None]:
    """Commit a tree head at a moment."""

    def make(at: datetime) -> None:
        project = access_store.create_project(slug="acme", actor=COMMAND_LINE)
        TreeHead.objects.create(
            project_id=project.id, size=1, root=b"r" * 32, edge=b"", committed_at=at
        )

    return make
