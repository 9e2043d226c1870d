"""Read tables of messages: one narrow row each, and the roll-ups that a timeline is drawn from."""

from __future__ import annotations

from django.db import models

from events.models.buses import PUBLIC_ID
from ledger.models.log import project_of


class BusSegment(models.Model):
    """What one segment added to one ID space of its lane.

    Space -1 has what belongs to none: frames, junk, and messages whose id is none. A segment of
    holes alone has no row. `first_ordinal` is the lowest ordinal of its messages in the lane.
    """

    pk = models.CompositePrimaryKey("project_id", "lane", "leaf_index", "space")
    project = project_of()
    lane = models.CharField(max_length=PUBLIC_ID)
    leaf_index = models.BigIntegerField()
    space = models.IntegerField()
    from_at = models.BigIntegerField()
    to_at = models.BigIntegerField()
    first = models.BigIntegerField(null=True)
    last = models.BigIntegerField(null=True)
    least = models.BigIntegerField(null=True)
    greatest = models.BigIntegerField(null=True)
    count = models.BigIntegerField()
    first_ordinal = models.BigIntegerField()
    last_ordinal = models.BigIntegerField()

    class Meta:
        db_table = "bus_segment"
        indexes = [
            models.Index(fields=["project", "lane", "from_at"], name="bus_segment_by_time"),
        ]


class BusMinute(models.Model):
    """What one minute added to one ID space of a lane; `minute` is when it began."""

    pk = models.CompositePrimaryKey("project_id", "lane", "minute", "space")
    project = project_of()
    lane = models.CharField(max_length=PUBLIC_ID)
    minute = models.BigIntegerField()
    space = models.IntegerField()
    first = models.BigIntegerField(null=True)
    last = models.BigIntegerField(null=True)
    least = models.BigIntegerField(null=True)
    greatest = models.BigIntegerField(null=True)
    count = models.BigIntegerField()

    class Meta:
        db_table = "bus_minute"


class BusMessage(models.Model):
    """One message of a lane, by its ordinal there; the body is read from its segment.

    Ordinals go by the order in which segments came into the log. `form` is the first letter of the
    record's form; `space` is -1 and `id` null for frames, junk, and ids beyond 64 bits.
    """

    pk = models.CompositePrimaryKey("project_id", "lane", "ordinal")
    project = project_of()
    lane = models.CharField(max_length=PUBLIC_ID)
    ordinal = models.BigIntegerField()
    at = models.BigIntegerField()
    space = models.IntegerField()
    id_number = models.BigIntegerField(null=True, db_column="id")
    scope = models.TextField(blank=True)
    form = models.CharField(max_length=1)
    length = models.BigIntegerField()
    fingerprint = models.CharField(max_length=16, blank=True)
    leaf_index = models.BigIntegerField()
    place = models.IntegerField()

    class Meta:
        db_table = "bus_message"
        indexes = [
            models.Index(
                fields=["project", "lane", "scope", "ordinal"], name="bus_message_by_scope"
            ),
        ]


class BusHole(models.Model):
    """A time in which we did not watch a lane, by the segment and the place in it that tell so."""

    pk = models.CompositePrimaryKey("project_id", "lane", "leaf_index", "place")
    project = project_of()
    lane = models.CharField(max_length=PUBLIC_ID)
    leaf_index = models.BigIntegerField()
    place = models.IntegerField()
    bus = models.CharField(max_length=PUBLIC_ID)
    from_at = models.BigIntegerField()
    to_at = models.BigIntegerField()
    why = models.TextField(blank=True)

    class Meta:
        db_table = "bus_hole"
        indexes = [models.Index(fields=["project", "bus", "from_at"], name="bus_hole_by_bus")]
