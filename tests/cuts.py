"""The log of a project taken out of one database and put into another, whole or leaf by leaf."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import models

from access.models import ApiToken, Project, ProjectSlug
from ledger.models import (
    Delivery,
    DeliveryBody,
    DeliveryTail,
    Leaf,
    ProjectKey,
    Quarantine,
    Receipt,
    ReceiptBody,
    ReceiptKey,
    ReceiptVariant,
    TreeHead,
)

ACCESS = (Project, ProjectSlug, ApiToken)
LOG = (
    ProjectKey, Receipt, ReceiptBody, Leaf, TreeHead, Delivery, DeliveryBody, DeliveryTail,
    Quarantine, ReceiptKey, ReceiptVariant,
)  # fmt: skip


@dataclass
class Cut:
    """A log in memory, from which another database is filled."""

    rows: dict[type[models.Model], list[Any]]
    put: set[tuple[type[models.Model], object]] = field(default_factory=set)

    def fill(self) -> None:
        """Put everything into the default database."""
        for model in (*ACCESS, *LOG):
            self._insert(model, self.rows[model])

    def begin(self) -> None:
        """Put what no leaf tells into the default database: the project, its tokens, its key."""
        for model in (*ACCESS, ProjectKey):
            self._insert(model, self.rows[model])

    def grow(self, leaf: int, at: datetime) -> None:
        """Put leaf `leaf` there with all that belongs to it, and the deliveries until `at`.

        The leaf gets a head of its own if it has none, at the time of the head that covers it.
        """
        receipt = self._leaves()[leaf].receipt
        for model in (Receipt, ReceiptBody, Quarantine):
            self._insert(model, [one for one in self.rows[model] if one.pk == receipt])
        for model in (ReceiptKey, ReceiptVariant):
            self._insert(model, [one for one in self.rows[model] if one.receipt == receipt])
        self._insert(Leaf, [self._leaves()[leaf]])
        self._insert(TreeHead, [self.head(leaf)])
        self.deliver(leaf, at)

    def deliver(self, leaf: int, at: datetime) -> None:
        """Put the deliveries there that had come by `at` of what is in the log up to `leaf`."""
        known = {row.receipt for index, row in self._leaves().items() if index <= leaf}
        rows = self.rows[Delivery]
        self._insert(Delivery, [one for one in rows if one.at <= at and one.receipt in known])

    def head(self, leaf: int) -> TreeHead:
        """Give the first head that covers a leaf, of the size that ends with it."""
        covering = [one for one in self.rows[TreeHead] if one.size > leaf]
        first = min(covering, key=lambda one: one.size)
        return TreeHead(
            project_id=first.project_id,
            size=leaf + 1,
            root=first.root,
            edge=first.edge,
            committed_at=first.committed_at,
        )

    def last_leaf_at(self, at: datetime) -> int:
        """Give the last leaf whose head was committed at or before a time, -1 for none."""
        sizes = [one.size for one in self.rows[TreeHead] if one.committed_at <= at]
        return max(sizes, default=0) - 1

    def _leaves(self) -> dict[int, Leaf]:
        return {one.leaf_index: one for one in self.rows[Leaf]}

    def _insert(self, model: type[models.Model], rows: Iterable[Any]) -> None:
        fresh = [one for one in rows if (model, one.pk) not in self.put]
        self.put.update((model, one.pk) for one in fresh)
        model._default_manager.bulk_create(fresh)


def take() -> Cut:
    """Take the log and what it rests on out of the default database."""
    rows: dict[type[models.Model], list[Any]] = defaultdict(list)
    for model in (*ACCESS, *LOG):
        rows[model] = list(model._default_manager.all())
    return Cut(rows)
