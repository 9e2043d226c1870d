"""Tables of the ledger: `log` holds what is never changed, `reading` what can be rebuilt."""

from __future__ import annotations

from ledger.models.feeds import Arrival, FeedGap, FeedProducer, FeedSpool, FeedToken, LateReceipt
from ledger.models.log import (
    Delivery,
    DeliveryBody,
    DeliveryTail,
    Leaf,
    Pending,
    ProjectKey,
    Quarantine,
    Receipt,
    ReceiptBody,
    ReceiptKey,
    ReceiptVariant,
    TreeHead,
)
from ledger.models.reading import (
    Acknowledgement,
    Entry,
    EntrySubject,
    PointerEvent,
    PointerWait,
    ProjectorCursor,
    RollUp,
    SetAside,
)
from ledger.models.tallies import PolicyVersion, Tally, TallyJob, TaskSight
from ledger.models.watched import WatchedSpan

__all__ = [
    "Acknowledgement",
    "Arrival",
    "Delivery",
    "DeliveryBody",
    "DeliveryTail",
    "Entry",
    "EntrySubject",
    "FeedGap",
    "FeedProducer",
    "FeedSpool",
    "FeedToken",
    "LateReceipt",
    "Leaf",
    "Pending",
    "PointerEvent",
    "PointerWait",
    "PolicyVersion",
    "ProjectKey",
    "ProjectorCursor",
    "Quarantine",
    "Receipt",
    "ReceiptBody",
    "ReceiptKey",
    "ReceiptVariant",
    "RollUp",
    "SetAside",
    "Tally",
    "TallyJob",
    "TaskSight",
    "TreeHead",
    "WatchedSpan",
]
