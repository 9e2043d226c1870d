"""The ledger's own tables: append-only by trigger, written by `ledger.store` and `sequence`.

They hold keyed hashes, never readable text of a producer, but for the bodies, the copies that
deliveries keep, and the reasons why something was set aside (design, section 5).
"""

from __future__ import annotations

from django.db import models

HASH_BYTES = 32


def project_of() -> models.ForeignKey[models.Model, models.Model]:
    """Give the column for the project of a row."""
    # No constraint: on PostgreSQL each insert would lock the project's row for a check that the
    # token has made already.
    return models.ForeignKey(
        "access.Project",
        on_delete=models.PROTECT,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )


class ProjectKey(models.Model):
    """The secret under which a project's hashes are keyed; deleting it shreds the project."""

    project = models.OneToOneField(
        "access.Project", on_delete=models.PROTECT, primary_key=True, related_name="+"
    )
    key = models.BinaryField(max_length=HASH_BYTES)

    class Meta:
        db_table = "project_key"


class Receipt(models.Model):
    """One immutable statement, by its keyed hashes; its primary key is what `ref` spells."""

    id = models.UUIDField(primary_key=True)
    project = project_of()
    kind = models.CharField(max_length=16)
    state = models.CharField(max_length=12)
    received_at = models.DateTimeField()
    id_key = models.BinaryField(max_length=HASH_BYTES)
    id_source = models.CharField(max_length=6)
    masked_id = models.BinaryField(max_length=HASH_BYTES, null=True)
    pointer = models.BinaryField(max_length=HASH_BYTES, null=True)
    subjects = models.BinaryField()
    fingerprint = models.BinaryField(max_length=HASH_BYTES)
    length = models.BigIntegerField()
    commitment = models.CharField(max_length=43)
    stub_commitment = models.CharField(max_length=43, blank=True)
    token = models.ForeignKey(
        "access.ApiToken",
        on_delete=models.PROTECT,
        null=True,
        db_constraint=False,
        db_index=False,
        related_name="+",
    )
    derived_from = models.UUIDField(null=True)

    class Meta:
        db_table = "receipt"
        indexes = [
            models.Index(
                fields=["derived_from"],
                name="receipt_sent_through_again",
                condition=models.Q(derived_from__isnull=False),
            ),
        ]


class ReceiptKey(models.Model):
    """The dedupe guard: the first content that came under an id."""

    pk = models.CompositePrimaryKey("project_id", "id_key")
    project = project_of()
    id_key = models.BinaryField(max_length=HASH_BYTES)
    fingerprint = models.BinaryField(max_length=HASH_BYTES)
    receipt = models.UUIDField()

    class Meta:
        db_table = "receipt_key"


class ReceiptVariant(models.Model):
    """Every other content that came under an id."""

    pk = models.CompositePrimaryKey("project_id", "id_key", "fingerprint")
    project = project_of()
    id_key = models.BinaryField(max_length=HASH_BYTES)
    fingerprint = models.BinaryField(max_length=HASH_BYTES)
    receipt = models.UUIDField()

    class Meta:
        db_table = "receipt_variant"


class ReceiptBody(models.Model):
    """The bytes as sent and their salt; the only ledger table that rows may leave."""

    id = models.UUIDField(primary_key=True)
    raw = models.BinaryField()
    salt = models.BinaryField(max_length=HASH_BYTES)
    headers = models.TextField(blank=True)

    class Meta:
        db_table = "receipt_body"


class Pending(models.Model):
    """A receipt that has no leaf yet."""

    receipt = models.UUIDField(primary_key=True)
    project = project_of()

    class Meta:
        db_table = "pending"
        indexes = [models.Index(fields=["project", "receipt"], name="pending_in_order")]


class Leaf(models.Model):
    """A receipt's place in its project's log; record and hash never change (RFC 6962)."""

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = project_of()
    leaf_index = models.BigIntegerField()
    receipt = models.UUIDField(unique=True)
    record = models.BinaryField()
    hash = models.BinaryField(max_length=HASH_BYTES)

    class Meta:
        db_table = "leaf"


class TreeHead(models.Model):
    """The tree after a batch: its root, its right edge, and when it was committed."""

    pk = models.CompositePrimaryKey("project_id", "size")
    project = project_of()
    size = models.BigIntegerField()
    root = models.BinaryField(max_length=HASH_BYTES)
    edge = models.BinaryField()
    committed_at = models.DateTimeField()

    class Meta:
        db_table = "tree_head"
        indexes = [models.Index(fields=["project", "committed_at"], name="tree_head_by_time")]


class Delivery(models.Model):
    """One attempt to hand over a receipt: when, by which token, what was answered."""

    id = models.UUIDField(primary_key=True)
    project = project_of()
    receipt = models.UUIDField()
    at = models.DateTimeField()
    outcome = models.CharField(max_length=12)
    token = models.BigIntegerField(null=True)
    bytes_differ = models.BooleanField()
    feed_spool = models.CharField(max_length=255, blank=True)
    feed_number = models.BigIntegerField(null=True)
    sent = models.TextField(blank=True)

    class Meta:
        db_table = "delivery"
        indexes = [models.Index(fields=["receipt", "id"], name="delivery_of_receipt")]


class DeliveryBody(models.Model):
    """The bytes of a delivery that said the same in other bytes; they go with the body."""

    delivery = models.UUIDField(primary_key=True)
    raw = models.BinaryField()

    class Meta:
        db_table = "delivery_body"


class DeliveryTail(models.Model):
    """How many deliveries of one receipt came after those that have a row of their own."""

    receipt = models.UUIDField(primary_key=True)
    more = models.BigIntegerField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "delivery_tail"


class Quarantine(models.Model):
    """Why a receipt was set aside when it came, by which version of the validator."""

    receipt = models.UUIDField(primary_key=True)
    reasons = models.TextField()
    validator = models.CharField(max_length=8)

    class Meta:
        db_table = "quarantine"
