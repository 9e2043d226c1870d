"""How far the tails of buses have come: their own notes, which no rebuild makes again."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of


class BusTail(models.Model):
    """One tail of one bus, by the lane that it fills.

    `spool` and `next_number` number what it writes like a spool, `watched_to` is until when its
    stored segments reach, in microseconds since 1970, null before the first. `entry` is the last
    entry that it read of a stream, empty on a bus of channels.
    """

    project = project_of()
    installation = models.TextField()
    bus = models.TextField()
    replica = models.TextField()
    spool = models.CharField(max_length=200)
    next_number = models.BigIntegerField(default=1)
    watched_to = models.BigIntegerField(null=True)
    entry = models.CharField(max_length=64, blank=True)

    class Meta:
        db_table = "bus_tail"
        constraints = [
            models.UniqueConstraint(
                fields=["project", "installation", "bus", "replica"], name="bus_tail_lane"
            )
        ]
