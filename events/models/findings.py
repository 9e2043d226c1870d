"""Read tables of findings, answers really given, and buffers as instances dumped them."""

from __future__ import annotations

from django.db import models

from events.models.buses import PUBLIC_ID
from ledger.models.log import project_of


class BusFinding(models.Model):
    """One finding of a detector (`origin` `stream` or `cross`), of an answer, or of a key.

    It holds from `due_at` on; one that can never hold has no row. There is a row for each form of
    it, in force from `leaf_index` on until `until_leaf`, which is null for what stands.
    `opened_leaf` is the receipt that first brought it out. `space` is the ordinal of the ID space
    it happened in, -1 for none. `facts` are JSON.
    """

    pk = models.CompositePrimaryKey("project_id", "finding", "leaf_index")
    project = project_of()
    finding = models.CharField(max_length=PUBLIC_ID)
    origin = models.CharField(max_length=8)
    code = models.CharField(max_length=32)
    severity = models.CharField(max_length=8)
    at = models.BigIntegerField()
    due_at = models.BigIntegerField()
    closed_at = models.BigIntegerField(null=True)
    bus = models.CharField(max_length=PUBLIC_ID)
    lane = models.CharField(max_length=PUBLIC_ID, blank=True)
    installation = models.TextField()
    bus_name = models.TextField()
    replica = models.TextField(blank=True)
    scope = models.TextField(blank=True)
    space = models.IntegerField()
    epoch = models.TextField(null=True)  # noqa: DJ001
    # As text: a finding may be about an id beyond 64 bits.
    event_id = models.TextField(null=True)  # noqa: DJ001
    rule = models.TextField()
    facts = models.TextField()
    leaf_index = models.BigIntegerField()
    until_leaf = models.BigIntegerField(null=True)
    opened_leaf = models.BigIntegerField()

    class Meta:
        db_table = "bus_finding"
        indexes = [
            models.Index(fields=["project", "bus", "at", "finding"], name="bus_finding_by_bus"),
            models.Index(
                fields=["project", "bus", "code", "at", "finding"], name="bus_finding_by_code"
            ),
            models.Index(fields=["project", "severity", "due_at"], name="bus_finding_by_severity"),
        ]


class BusResume(models.Model):
    """An answer really given to a resume, beside that of the rule for the lane as it was.

    `given` is the answer as the instance reported it, `answer` and `rule` are the rule's. `code`
    is empty where they agree. `missed` lists the first 100 ids as JSON texts, `missed_count` all
    that we know of. `epoch` to `boundaries` are the lane as it was at that leaf; `is_partial` says
    that what we kept does not reach back to the cursor.
    """

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = project_of()
    leaf_index = models.BigIntegerField()
    bus = models.CharField(max_length=PUBLIC_ID)
    lane = models.CharField(max_length=PUBLIC_ID)
    installation = models.TextField()
    bus_name = models.TextField()
    replica = models.TextField()
    channel = models.TextField(blank=True)
    at = models.BigIntegerField()
    cursor = models.TextField()
    cursor_epoch = models.TextField(null=True)  # noqa: DJ001
    given = models.TextField()
    served = models.BigIntegerField(null=True)
    first = models.TextField(null=True)  # noqa: DJ001
    last = models.TextField(null=True)  # noqa: DJ001
    answer = models.CharField(max_length=16)
    rule = models.TextField()
    code = models.CharField(max_length=32, blank=True)
    missed_count = models.BigIntegerField()
    missed = models.TextField()
    epoch = models.TextField(null=True)  # noqa: DJ001
    floor = models.BigIntegerField(null=True)
    high_water = models.BigIntegerField(null=True)
    is_cold = models.BooleanField()
    boundaries = models.TextField()
    is_partial = models.BooleanField()

    class Meta:
        db_table = "bus_resume"
        indexes = [
            models.Index(fields=["project", "bus", "leaf_index"], name="bus_resume_by_bus"),
            models.Index(fields=["project", "lane", "at"], name="bus_resume_by_lane"),
        ]


class BusBuffer(models.Model):
    """A replay buffer as its instance dumped it. `ids` lists the newest as JSON texts."""

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = project_of()
    leaf_index = models.BigIntegerField()
    bus = models.CharField(max_length=PUBLIC_ID)
    lane = models.CharField(max_length=PUBLIC_ID)
    installation = models.TextField()
    bus_name = models.TextField()
    replica = models.TextField()
    channel = models.TextField(blank=True)
    at = models.BigIntegerField()
    epoch = models.TextField(null=True)  # noqa: DJ001
    floor = models.TextField(null=True)  # noqa: DJ001
    high_water = models.TextField(null=True)  # noqa: DJ001
    capacity = models.BigIntegerField(null=True)
    count = models.BigIntegerField()
    ids = models.TextField()

    class Meta:
        db_table = "bus_buffer"
        indexes = [
            models.Index(fields=["project", "lane", "at"], name="bus_buffer_by_lane"),
        ]
