"""Feeds: what arrived and is not in the log yet, and the read tables of spools and their gaps."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of

END = 40


class Arrival(models.Model):
    """An outbox: numbers of one spool that were handed over together, not yet in the log.

    Once a minute the follower turns them into `arrived` receipts of our own and takes them away.
    `began_at` is when number 1 happened, where it is among them: nothing was written before it.
    """

    id = models.BigAutoField(primary_key=True)
    project = project_of()
    spool = models.TextField()
    first_number = models.BigIntegerField()
    last_number = models.BigIntegerField()
    replayed = models.IntegerField()
    began_at = models.DateTimeField(null=True)
    at = models.DateTimeField()
    token = models.BigIntegerField(null=True)
    conflicts = models.IntegerField(default=0, db_default=0)

    class Meta:
        db_table = "arrival"
        indexes = [models.Index(fields=["at", "project"], name="arrival_by_time")]


class FeedSpool(models.Model):
    """One spool as receipt `leaf_index` left it, in force until `until_leaf`.

    All numbers and times are facts; what they come to at a clock is `ledger.domain.feeds`. `span`
    is how many binary digits the length of its time in force has, so that the rows in force at an
    earlier leaf are found without reading all later ones. A settled spool closed in order, and
    nothing of it is missing. Of what is in force now `span` is null, and 0 for what is settled, so
    that one column tells PostgreSQL how few are left to watch.
    """

    pk = models.CompositePrimaryKey("project_id", "spool", "leaf_index")
    project = project_of()
    spool = models.TextField()
    leaf_index = models.BigIntegerField()
    until_leaf = models.BigIntegerField(null=True)
    span = models.SmallIntegerField(null=True)
    is_settled = models.BooleanField()
    producer = models.TextField()
    token = models.BigIntegerField(null=True)
    source = models.TextField(blank=True)
    client = models.TextField(blank=True)
    is_numbered = models.BooleanField()
    first_at = models.DateTimeField()
    heard_at = models.DateTimeField()
    fed_at = models.DateTimeField(null=True)
    high = models.BigIntegerField()
    replayed = models.BigIntegerField()
    written = models.BigIntegerField(null=True)
    unsent = models.BigIntegerField(null=True)
    dropped = models.BigIntegerField()
    dropped_at = models.DateTimeField(null=True)
    waived = models.BigIntegerField()
    outcomes_lost = models.BigIntegerField()
    outcomes_waived = models.BigIntegerField()
    oldest_at = models.DateTimeField(null=True)
    expected = models.BigIntegerField()
    expected_since = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True)
    end = models.CharField(max_length=END, blank=True)
    skew_ms = models.BigIntegerField(null=True)
    marks = models.TextField()
    complete_until = models.DateTimeField(null=True)
    owners = models.TextField()
    declared = models.TextField(blank=True)
    disputes = models.TextField()
    disputed_at = models.DateTimeField(null=True)
    conflicts = models.BigIntegerField()

    class Meta:
        db_table = "feed_spool"
        indexes = [
            models.Index(fields=["project", "is_settled", "leaf_index"], name="feed_spool_settled"),
            models.Index(fields=["project", "span", "leaf_index"], name="feed_spool_in_force"),
            models.Index(fields=["project", "producer", "span"], name="feed_spool_of_producer"),
        ]


class FeedGap(models.Model):
    """Numbers of a spool that were missing from receipt `leaf_index` on, until `until_leaf`.

    `since` is when a later number had arrived, by our clock. A part that arrives ends the row and
    begins one for the rest. `closed_by` is `arrived` or `waived`.
    """

    pk = models.CompositePrimaryKey("project_id", "spool", "first_number", "leaf_index")
    project = project_of()
    spool = models.TextField()
    first_number = models.BigIntegerField()
    leaf_index = models.BigIntegerField()
    last_number = models.BigIntegerField()
    since = models.DateTimeField()
    until_leaf = models.BigIntegerField(null=True)
    until_at = models.DateTimeField(null=True)
    closed_by = models.CharField(max_length=8, blank=True)
    reason = models.TextField(blank=True)
    actor = models.TextField(blank=True)

    class Meta:
        db_table = "feed_gap"
        indexes = [
            models.Index(fields=["project", "until_leaf", "since"], name="feed_gap_open"),
            models.Index(fields=["project", "spool", "until_leaf"], name="feed_gap_of_spool"),
        ]


class FeedProducer(models.Model):
    """The settled spools of one host and program, summed up."""

    pk = models.CompositePrimaryKey("project_id", "producer")
    project = project_of()
    producer = models.TextField()
    spools = models.BigIntegerField()
    arrived = models.BigIntegerField()
    waived = models.BigIntegerField()
    first_at = models.DateTimeField()
    last_at = models.DateTimeField()

    class Meta:
        db_table = "feed_producer"
        indexes = [models.Index(fields=["project", "last_at"], name="feed_producer_by_time")]


class FeedToken(models.Model):
    """A token that handed in receipts: its first without a number, and its first that has one."""

    pk = models.CompositePrimaryKey("project_id", "token")
    project = project_of()
    token = models.BigIntegerField()
    unnumbered_leaf = models.BigIntegerField(null=True)
    numbered_leaf = models.BigIntegerField(null=True)

    class Meta:
        db_table = "feed_token"


class LateReceipt(models.Model):
    """A receipt that came more than a day after it happened, by its number in its spool.

    It was waiting in the spool if both its neighbours arrived too: then `in_order_leaf` is the
    `arrived` receipt by which that was so.
    """

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = project_of()
    leaf_index = models.BigIntegerField()
    spool = models.TextField()
    number = models.BigIntegerField()
    in_order_leaf = models.BigIntegerField(null=True)

    class Meta:
        db_table = "late_receipt"
        indexes = [models.Index(fields=["project", "spool", "number"], name="late_receipt_by_no")]
