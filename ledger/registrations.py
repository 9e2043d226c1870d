"""What the ledger itself puts into the registry."""

from __future__ import annotations

from ledger.projectors.acknowledgements import AcknowledgementsProjector
from ledger.projectors.receipts import ReceiptsProjector
from ledger.projectors.roll_ups import RollUpsProjector
from ledger.projectors.set_aside import SetAsideProjector
from ledger.registry import NavigationEntry, registry


def register() -> None:
    """Register the ledger's projectors in the order in which they run."""
    registry.add_projector(ReceiptsProjector())
    registry.add_projector(RollUpsProjector())
    registry.add_projector(SetAsideProjector())
    registry.add_projector(AcknowledgementsProjector())
    registry.add_navigation(NavigationEntry("Receipts", "receipts", 10))
