"""Read tables of buses and lanes: what stands in each of them now. Times are microseconds."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of

PUBLIC_ID = 17
"""The length of a public id: its letter and 80 bits in base 32."""


class BusInstallation(models.Model):
    """One installation that any receipt told of, by the public id of its name.

    `alias_of` is the name that a person said it also goes by, `since_leaf` the receipt that told
    of it first.
    """

    pk = models.CompositePrimaryKey("project_id", "installation")
    project = project_of()
    installation = models.CharField(max_length=PUBLIC_ID)
    name = models.TextField()
    alias_of = models.TextField(blank=True)
    alias_leaf = models.BigIntegerField(null=True)
    since_leaf = models.BigIntegerField()
    last_leaf = models.BigIntegerField()

    class Meta:
        db_table = "bus_installation"


class Bus(models.Model):
    """One bus of one installation, with all that its segments told so far.

    `settings` are those in force, as JSON with the defaults filled in; `settings_leaf` is the act
    that set them, null where nobody did. `from_at` and `to_at` are the first and last moment that
    our watching covers, `last_at` that of the newest message or frame. `refused` are rows that
    could not be read, `late` segments that came after a later one of their tail.
    """

    pk = models.CompositePrimaryKey("project_id", "bus")
    project = project_of()
    bus = models.CharField(max_length=PUBLIC_ID)
    installation_id = models.CharField(max_length=PUBLIC_ID)
    installation = models.TextField()
    name = models.TextField()
    profile = models.CharField(max_length=32)
    density = models.CharField(max_length=8)
    settings = models.TextField()
    settings_leaf = models.BigIntegerField(null=True)
    first_leaf = models.BigIntegerField()
    last_leaf = models.BigIntegerField()
    from_at = models.BigIntegerField()
    to_at = models.BigIntegerField()
    last_at = models.BigIntegerField(null=True)
    messages = models.BigIntegerField()
    frames = models.BigIntegerField()
    junk = models.BigIntegerField()
    refused = models.BigIntegerField()
    late = models.BigIntegerField()

    class Meta:
        db_table = "bus"
        indexes = [
            models.Index(fields=["project", "installation_id"], name="bus_by_installation"),
            models.Index(fields=["project", "last_leaf"], name="bus_by_last_leaf"),
        ]


class Lane(models.Model):
    """One replica's lane of a bus, with where it stands.

    `messages` numbers its messages: the next one gets this ordinal; those below `kept_from` are
    gone from `bus_message`. `space` is the ordinal of the ID space it is in, `epoch` and
    `high_water` are that one's. `frame_at` is the newest liveness frame, null where none came.
    """

    pk = models.CompositePrimaryKey("project_id", "lane")
    project = project_of()
    lane = models.CharField(max_length=PUBLIC_ID)
    bus = models.CharField(max_length=PUBLIC_ID)
    installation = models.TextField()
    bus_name = models.TextField()
    replica = models.TextField()
    profile = models.CharField(max_length=32)
    incarnation = models.CharField(max_length=64, blank=True)
    n = models.BigIntegerField(null=True)
    first_leaf = models.BigIntegerField()
    last_leaf = models.BigIntegerField()
    from_at = models.BigIntegerField()
    to_at = models.BigIntegerField()
    last_at = models.BigIntegerField(null=True)
    frame_at = models.BigIntegerField(null=True)
    messages = models.BigIntegerField()
    kept_from = models.BigIntegerField()
    segments = models.BigIntegerField()
    frames = models.BigIntegerField()
    junk = models.BigIntegerField()
    holes = models.BigIntegerField()
    refused = models.BigIntegerField()
    late = models.BigIntegerField()
    spaces = models.IntegerField()
    space = models.IntegerField(null=True)
    epoch = models.TextField(null=True)  # noqa: DJ001
    high_water = models.BigIntegerField(null=True)
    form = models.CharField(max_length=8, blank=True)

    class Meta:
        db_table = "bus_lane"
        indexes = [models.Index(fields=["project", "bus"], name="bus_lane_by_bus")]


class LaneStep(models.Model):
    """A lane as one segment left it, so that it can be read as of any leaf; columns as in `Lane`.

    `segment_from` and `segment_to` are the time that this segment covers.
    """

    pk = models.CompositePrimaryKey("project_id", "lane", "leaf_index")
    project = project_of()
    lane = models.CharField(max_length=PUBLIC_ID)
    leaf_index = models.BigIntegerField()
    segment_from = models.BigIntegerField()
    segment_to = models.BigIntegerField()
    profile = models.CharField(max_length=32)
    incarnation = models.CharField(max_length=64, blank=True)
    n = models.BigIntegerField(null=True)
    from_at = models.BigIntegerField()
    to_at = models.BigIntegerField()
    last_at = models.BigIntegerField(null=True)
    frame_at = models.BigIntegerField(null=True)
    messages = models.BigIntegerField()
    kept_from = models.BigIntegerField()
    segments = models.BigIntegerField()
    frames = models.BigIntegerField()
    junk = models.BigIntegerField()
    holes = models.BigIntegerField()
    refused = models.BigIntegerField()
    late = models.BigIntegerField()
    spaces = models.IntegerField()
    space = models.IntegerField(null=True)
    epoch = models.TextField(null=True)  # noqa: DJ001
    high_water = models.BigIntegerField(null=True)
    form = models.CharField(max_length=8, blank=True)

    class Meta:
        db_table = "bus_lane_step"
        indexes = [
            models.Index(fields=["project", "lane", "segment_to"], name="bus_lane_step_by_time")
        ]


class BusSpace(models.Model):
    """One ID space of a lane, in the order of birth. `epoch` is null where messages carry none.

    `kind` says how it began (`adopted`, `epoch`, `reset`, `incarnation`, `stray`), `parent` is the
    ordinal of the one before it, `switch_id` the greatest id of that one. A stray one that turned
    out to be a reset did so at `turned_leaf`; below it, it was what the three last columns say.
    """

    pk = models.CompositePrimaryKey("project_id", "lane", "ordinal")
    project = project_of()
    lane = models.CharField(max_length=PUBLIC_ID)
    ordinal = models.IntegerField()
    bus = models.CharField(max_length=PUBLIC_ID)
    epoch = models.TextField(null=True)  # noqa: DJ001
    kind = models.CharField(max_length=16)
    born_at = models.BigIntegerField()
    last_at = models.BigIntegerField()
    first = models.BigIntegerField(null=True)
    last = models.BigIntegerField(null=True)
    least = models.BigIntegerField(null=True)
    greatest = models.BigIntegerField(null=True)
    count = models.BigIntegerField()
    parent = models.IntegerField(null=True)
    switch_id = models.BigIntegerField(null=True)
    born_leaf = models.BigIntegerField()
    last_leaf = models.BigIntegerField()
    turned_leaf = models.BigIntegerField(null=True)
    was_kind = models.CharField(max_length=16, blank=True, db_default="")
    was_born_at = models.BigIntegerField(null=True)
    was_first = models.BigIntegerField(null=True)

    class Meta:
        db_table = "bus_space"
        indexes = [models.Index(fields=["project", "bus", "born_at"], name="bus_space_by_bus")]


class BusState(models.Model):
    """Where the detectors stand, as JSON: of one bus, or of all together under the empty name."""

    pk = models.CompositePrimaryKey("project_id", "bus")
    project = project_of()
    bus = models.CharField(max_length=PUBLIC_ID, blank=True)
    state = models.TextField()

    class Meta:
        db_table = "bus_state"


class BusSetting(models.Model):
    """What a person set of a bus or an installation, once for each act.

    `subject` is the public id of the target, `data` the members of the act as JSON.
    """

    pk = models.CompositePrimaryKey("project_id", "subject", "leaf_index")
    project = project_of()
    subject = models.CharField(max_length=PUBLIC_ID)
    leaf_index = models.BigIntegerField()
    verb = models.CharField(max_length=16)
    target = models.TextField()
    data = models.TextField()
    at = models.BigIntegerField()
    actor = models.TextField(blank=True)

    class Meta:
        db_table = "bus_setting"
