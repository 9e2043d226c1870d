"""Read tables of a bus's surroundings: its keys, its replicas, and what they count."""

from __future__ import annotations

from django.db import models

from events.models.buses import PUBLIC_ID
from ledger.models.log import project_of


class BusKey(models.Model):
    """A Redis key of an installation as it was from one sample on, until another differed.

    `until_leaf` is the sample that showed it otherwise, null for what stands. `seen_at` is the
    newest sample that showed it so, at `seen_leaf`. `ttl_s` is -1 for a key without an expiry and
    null where nobody asked; it is the first one seen, since it runs down by itself.
    """

    pk = models.CompositePrimaryKey(
        "project_id", "installation_id", "bus_name", "name", "leaf_index"
    )
    project = project_of()
    installation_id = models.CharField(max_length=PUBLIC_ID)
    bus_name = models.TextField()
    name = models.TextField()
    leaf_index = models.BigIntegerField()
    until_leaf = models.BigIntegerField(null=True)
    installation = models.TextField()
    role = models.TextField(blank=True)
    type = models.TextField(blank=True)
    value_class = models.TextField(blank=True)
    ttl_s = models.BigIntegerField(null=True)
    value = models.TextField(null=True)  # noqa: DJ001
    sampled_at = models.BigIntegerField()
    seen_at = models.BigIntegerField()
    seen_leaf = models.BigIntegerField()

    class Meta:
        db_table = "bus_key"


class BusSample(models.Model):
    """The newest sample of a bus's keys: the eviction policy, and who listens to its channels.

    `channels` is JSON: pairs of a channel and its subscribers, null where nobody asked.
    """

    pk = models.CompositePrimaryKey("project_id", "installation_id", "bus_name")
    project = project_of()
    installation_id = models.CharField(max_length=PUBLIC_ID)
    bus_name = models.TextField()
    installation = models.TextField()
    policy = models.TextField(blank=True)
    channels = models.TextField()
    sampled_at = models.BigIntegerField()
    leaf_index = models.BigIntegerField()

    class Meta:
        db_table = "bus_sample"


class BusReplica(models.Model):
    """A process of an installation, with what it last told of itself."""

    pk = models.CompositePrimaryKey("project_id", "installation_id", "replica")
    project = project_of()
    installation_id = models.CharField(max_length=PUBLIC_ID)
    replica = models.TextField()
    installation = models.TextField()
    phase = models.TextField(blank=True)
    heartbeat_phase = models.TextField(blank=True)
    namespace = models.TextField(blank=True)
    started_at = models.BigIntegerField(null=True)
    sampled_at = models.BigIntegerField()
    first_leaf = models.BigIntegerField()
    last_leaf = models.BigIntegerField()

    class Meta:
        db_table = "bus_replica"


class BusPhase(models.Model):
    """A phase of a roll that a replica was in, from one receipt on until the next row."""

    pk = models.CompositePrimaryKey("project_id", "installation_id", "replica", "leaf_index")
    project = project_of()
    installation_id = models.CharField(max_length=PUBLIC_ID)
    replica = models.TextField()
    leaf_index = models.BigIntegerField()
    at = models.BigIntegerField()
    phase = models.TextField(blank=True)
    heartbeat_phase = models.TextField(blank=True)

    class Meta:
        db_table = "bus_phase"


class BusMetric(models.Model):
    """A counter of a replica, once for each value; `name` has its labels as they were given."""

    pk = models.CompositePrimaryKey(
        "project_id", "installation_id", "replica", "name", "leaf_index"
    )
    project = project_of()
    installation_id = models.CharField(max_length=PUBLIC_ID)
    replica = models.TextField()
    name = models.TextField()
    leaf_index = models.BigIntegerField()
    at = models.BigIntegerField()
    value = models.FloatField()

    class Meta:
        db_table = "bus_metric"


class BusReset(models.Model):
    """A reset of its buffers that a replica told of, by the receipt and its place there.

    `reason` is the one name that all spellings of it have, `word` the spelling that came.
    """

    pk = models.CompositePrimaryKey("project_id", "leaf_index", "place")
    project = project_of()
    leaf_index = models.BigIntegerField()
    place = models.IntegerField()
    installation_id = models.CharField(max_length=PUBLIC_ID)
    installation = models.TextField()
    replica = models.TextField()
    at = models.BigIntegerField()
    reason = models.TextField()
    word = models.TextField()
    workspace = models.TextField(blank=True)
    fields = models.TextField()

    class Meta:
        db_table = "bus_reset"
        indexes = [
            models.Index(
                fields=["project", "installation_id", "at"], name="bus_reset_by_installation"
            ),
        ]


class BusHead(models.Model):
    """The newest head of a bus that was sampled at a node, of one epoch and channel."""

    pk = models.CompositePrimaryKey("project_id", "bus", "channel", "node", "epoch")
    project = project_of()
    bus = models.CharField(max_length=PUBLIC_ID)
    channel = models.TextField(blank=True)
    node = models.TextField(blank=True)
    epoch = models.TextField(blank=True)
    head = models.BigIntegerField(null=True)
    at = models.BigIntegerField()
    leaf_index = models.BigIntegerField()

    class Meta:
        db_table = "bus_head"
