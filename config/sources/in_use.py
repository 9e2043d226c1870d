"""What is watched already, whether a file names it or not."""

from __future__ import annotations

from events.integrations import tail_place
from events.queries import configured
from jobs.integrations import oban_place


def list_in_use(project_id: int) -> list[tuple[str, str]]:
    """List targets with the words for them: buses that are tailed or configured, Oban tables."""
    buses = [*tail_place.list_watched(project_id), *configured.list_configured(project_id)]
    named = sorted({f"{installation}/{bus}" for installation, bus in buses})
    tables = oban_place.list_instances(project_id)
    return [
        *((f"bus:{name}", f"the bus {name}") for name in named),
        *((f"source:oban/{name}", f"the Oban table {name}") for name in tables),
    ]
