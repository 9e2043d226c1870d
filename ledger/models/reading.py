"""Read tables: what the projectors made of the log; each can be rebuilt to the same dump."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of

TEXT = 255


class ProjectorCursor(models.Model):
    """How far a projector is in a project's log; also the lock between two derivers."""

    pk = models.CompositePrimaryKey("projector", "project_id")
    projector = models.CharField(max_length=40)
    project = project_of()
    next_leaf = models.BigIntegerField()
    rules_version = models.IntegerField()

    class Meta:
        db_table = "projector_cursor"


class Entry(models.Model):
    """One receipt as lists show it, with what its pointer has come to so far.

    `pointer_state` is clockless: "waiting" reads as pending before `due_at` and dangling after,
    and the verdict then reads as `verdict_when_due`.
    """

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = project_of()
    leaf_index = models.BigIntegerField()
    receipt = models.UUIDField(unique=True)
    kind = models.CharField(max_length=16)
    word = models.CharField(max_length=TEXT)
    state = models.CharField(max_length=12)
    token = models.BigIntegerField(null=True)
    id_text = models.TextField()
    id_key = models.TextField()
    masked_id = models.TextField(blank=True)
    occurred_at = models.DateTimeField(null=True)
    received_at = models.DateTimeField()
    happened_at = models.DateTimeField()
    system = models.TextField(blank=True)
    instance = models.TextField(blank=True)
    job = models.TextField(blank=True)
    job_number = models.TextField(blank=True)
    task = models.TextField(blank=True)
    queue = models.TextField(blank=True)
    scope = models.TextField(blank=True)
    invoke = models.TextField(blank=True)
    generation = models.TextField(blank=True)
    recipe = models.TextField(blank=True)
    key_digest = models.CharField(max_length=64, blank=True)
    reason = models.TextField(blank=True)
    rule = models.TextField(blank=True)
    actor = models.TextField(blank=True)
    trace = models.CharField(max_length=32, blank=True)
    level = models.CharField(max_length=13)
    verdict = models.CharField(max_length=40)
    verdict_when_due = models.CharField(max_length=40)
    pointer_text = models.TextField(blank=True)
    pointer_state = models.CharField(max_length=20, blank=True)
    outcome = models.CharField(max_length=10, blank=True)
    due_at = models.DateTimeField(null=True)
    target = models.BigIntegerField(null=True)
    terminal = models.BigIntegerField(null=True)
    derived_from = models.UUIDField(null=True)

    class Meta:
        db_table = "entry"
        indexes = [
            models.Index(fields=["project", "happened_at", "leaf_index"], name="entry_by_time"),
            models.Index(fields=["project", "id_key"], name="entry_by_id"),
            models.Index(
                fields=["project", "masked_id"],
                name="entry_by_masked_id",
                condition=~models.Q(masked_id=""),
            ),
            models.Index(
                fields=["project", "job", "leaf_index"],
                name="entry_by_job",
                condition=~models.Q(job=""),
            ),
            models.Index(
                fields=["project", "job_number", "leaf_index"],
                name="entry_by_job_number",
                condition=~models.Q(job_number=""),
            ),
            models.Index(
                fields=["project", "key_digest", "leaf_index"],
                name="entry_by_key",
                condition=~models.Q(key_digest=""),
            ),
            models.Index(
                fields=["project", "task", "leaf_index"],
                name="entry_by_task",
                condition=~models.Q(task=""),
            ),
            models.Index(
                fields=["project", "scope", "leaf_index"],
                name="entry_by_scope",
                condition=~models.Q(scope=""),
            ),
            models.Index(
                fields=["project", "pointer_state", "leaf_index", "due_at"],
                name="entry_by_pointer",
                condition=~models.Q(pointer_state=""),
            ),
            models.Index(
                fields=["project", "verdict", "leaf_index"],
                name="entry_by_verdict",
            ),
            models.Index(fields=["project", "token", "leaf_index"], name="entry_by_token"),
            models.Index(
                fields=["project", "trace"], name="entry_by_trace", condition=~models.Q(trace="")
            ),
        ]


class EntrySubject(models.Model):
    """A business object that a receipt names."""

    pk = models.CompositePrimaryKey("project_id", "type", "subject", "leaf_index")
    project = project_of()
    type = models.CharField(max_length=32)
    subject = models.TextField()
    leaf_index = models.BigIntegerField()

    class Meta:
        db_table = "entry_subject"
        indexes = [models.Index(fields=["project", "leaf_index"], name="entry_subject_by_leaf")]


class PointerEvent(models.Model):
    """What the pointer of receipt `leaf_index` came to when receipt `at_leaf` had arrived."""

    pk = models.CompositePrimaryKey("project_id", "leaf_index", "at_leaf")
    project = project_of()
    leaf_index = models.BigIntegerField()
    at_leaf = models.BigIntegerField()
    pointer_state = models.CharField(max_length=20)
    outcome = models.CharField(max_length=10, blank=True)
    due_at = models.DateTimeField(null=True)
    target = models.BigIntegerField(null=True)
    terminal = models.BigIntegerField(null=True)
    verdict = models.CharField(max_length=40)
    verdict_when_due = models.CharField(max_length=40)
    level = models.CharField(max_length=13)

    class Meta:
        db_table = "pointer_event"
        indexes = [models.Index(fields=["project", "at_leaf"], name="pointer_event_by_arrival")]


class PointerWait(models.Model):
    """A name that the pointer of a receipt was looked up by: its arrival asks again."""

    pk = models.CompositePrimaryKey("project_id", "name_kind", "name", "leaf_index")
    project = project_of()
    name_kind = models.CharField(max_length=6)
    name = models.TextField()
    leaf_index = models.BigIntegerField()

    class Meta:
        db_table = "pointer_wait"
        indexes = [models.Index(fields=["project", "leaf_index"], name="pointer_wait_by_leaf")]


class RollUp(models.Model):
    """How many receipts of one kind, task, queue, source and reason happened in five minutes.

    `tallied` counts the outcomes that stand in tallies and have no receipt of their own.
    """

    pk = models.CompositePrimaryKey("project_id", "bucket_at", "facets")
    project = project_of()
    bucket_at = models.DateTimeField()
    # Stands in the key for the six texts below, which together may be too long for an index row.
    facets = models.CharField(max_length=17)
    kind = models.CharField(max_length=16)
    task = models.TextField(blank=True)
    queue = models.TextField(blank=True)
    system = models.TextField(blank=True)
    instance = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    count = models.BigIntegerField()
    tallied = models.BigIntegerField(db_default=0)

    class Meta:
        db_table = "roll_up"


class SetAside(models.Model):
    """A receipt that was set aside: open, sent through again, or closed by a person."""

    pk = models.CompositePrimaryKey("project_id", "leaf_index")
    project = project_of()
    leaf_index = models.BigIntegerField()
    receipt = models.UUIDField()
    received_at = models.DateTimeField()
    code = models.CharField(max_length=40)
    redriven_leaf = models.BigIntegerField(null=True)
    closed_leaf = models.BigIntegerField(null=True)
    closed_reason = models.TextField(blank=True)
    is_open = models.BooleanField()

    class Meta:
        db_table = "set_aside"
        indexes = [
            models.Index(fields=["project", "is_open", "leaf_index"], name="set_aside_open"),
            models.Index(fields=["project", "receipt"], name="set_aside_by_receipt"),
        ]


class Acknowledgement(models.Model):
    """The newest word of a person on one attention item."""

    pk = models.CompositePrimaryKey("project_id", "item")
    project = project_of()
    item = models.CharField(max_length=40)
    leaf_index = models.BigIntegerField()
    facts = models.CharField(max_length=64)
    reason = models.TextField()
    actor = models.TextField()
    at = models.DateTimeField()
    until = models.DateTimeField(null=True)

    class Meta:
        db_table = "acknowledgement"
