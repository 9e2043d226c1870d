"""What the ledger itself puts into the registry."""

from __future__ import annotations

from ledger.projectors.acknowledgements import AcknowledgementsProjector
from ledger.projectors.feeds import FeedsProjector
from ledger.projectors.late import LateProjector
from ledger.projectors.policies import PoliciesProjector
from ledger.projectors.receipts import ReceiptsProjector
from ledger.projectors.roll_ups import RollUpsProjector
from ledger.projectors.set_aside import SetAsideProjector
from ledger.projectors.sights import SightsProjector
from ledger.projectors.tallies import TalliesProjector
from ledger.projectors.watched import WatchedProjector
from ledger.queries import attention, feed_items, verdict_items
from ledger.registry import NavigationEntry, registry

NAVIGATION = (
    NavigationEntry("Receipts", "receipts", 10, also=("subjects",)),
    NavigationEntry("Tasks", "tasks", 20, under="Receipts"),
    NavigationEntry("Reconcile", "reconcile", 25, under="Receipts"),
    NavigationEntry("Set aside", "quarantine", 30, under="Receipts"),
    NavigationEntry("Producers", "producers", 28),
    NavigationEntry("Recording policies", "policies", 35, under="Producers"),
)


def register() -> None:
    """Register the ledger's projectors in the order in which they run."""
    registry.add_projector(TalliesProjector())
    registry.add_projector(PoliciesProjector())
    registry.add_projector(FeedsProjector())
    registry.add_projector(LateProjector())
    registry.add_projector(ReceiptsProjector())
    registry.add_projector(RollUpsProjector())
    registry.add_projector(SightsProjector())
    registry.add_projector(SetAsideProjector())
    registry.add_projector(AcknowledgementsProjector())
    registry.add_projector(WatchedProjector())
    registry.add_watched(*verdict_items.WATCHED)
    registry.add_attention(attention.pointer_items)
    registry.add_attention(verdict_items.verdict_items)
    registry.add_attention(attention.set_aside_items)
    registry.add_attention(attention.lag_items)
    registry.add_attention(feed_items.feed_items)
    registry.add_attention(attention.silent_token_items)
    for entry in NAVIGATION:
        registry.add_navigation(entry)
