"""Incidents in SQL: which findings open one, by the rule of `events.domain.sightings`."""

from __future__ import annotations

from events.domain.holes import SETTLE
from events.domain.sightings import ALONE

_ALONE = ", ".join(f"'{code}'" for code in ALONE)

COLUMNS = "bus, code, scope, epoch, event_id, lane, at, finding"
"""What a select must give for `OPENS` to be told of its rows."""
OPENS = (
    f"CASE WHEN code NOT IN ({_ALONE}) AND lane <> LAG(lane) OVER alike "
    f"AND at - LAG(at) OVER alike <= {SETTLE} THEN 0 ELSE 1 END"
)
"""1 for a finding that opens an incident, 0 for one more sighting of it; needs `ALIKE`."""
ALIKE = "WINDOW alike AS (PARTITION BY bus, code, scope, epoch, event_id ORDER BY at, finding)"
