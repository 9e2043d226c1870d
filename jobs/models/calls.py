"""Read tables of jobs and calls: what `jobs.projectors.calls` folds from the log."""

from __future__ import annotations

from django.db import models

from ledger.models.log import project_of


class Job(models.Model):
    """One job, folded from the receipts about it; `jobs.domain.state.Job` says what each is."""

    pk = models.CompositePrimaryKey("project_id", "name")
    project = project_of()
    name = models.TextField()
    system = models.TextField(blank=True)
    instance = models.TextField(blank=True)
    number = models.TextField()
    task = models.TextField(blank=True)
    queue = models.TextField(blank=True)
    state = models.TextField(blank=True)
    state_at = models.DateTimeField(null=True)
    level = models.CharField(max_length=13)
    attempt = models.BigIntegerField()
    max_attempts = models.BigIntegerField()
    errors = models.BigIntegerField()
    last_error = models.TextField(blank=True)
    inserted_at = models.DateTimeField(null=True)
    scheduled_at = models.DateTimeField(null=True)
    attempted_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)
    scope = models.TextField(blank=True)
    logical_scope = models.TextField(blank=True)
    invoke = models.TextField(blank=True)
    generation = models.TextField(blank=True)
    generation_number = models.BigIntegerField(null=True)
    element = models.TextField(blank=True)
    call_index = models.TextField(blank=True)
    handler = models.TextField(blank=True)
    type = models.TextField(blank=True)
    src = models.TextField(blank=True)
    ordinal = models.TextField(blank=True)
    send_id = models.TextField(blank=True)
    call = models.CharField(max_length=32, blank=True)
    key_digest = models.CharField(max_length=64, blank=True)
    key_leaf = models.BigIntegerField(null=True)
    window_s = models.FloatField(null=True)
    guards = models.TextField(blank=True)
    prev = models.TextField(blank=True)
    insert_leaf = models.BigIntegerField(null=True)
    row_leaf = models.BigIntegerField(null=True)
    row_at = models.DateTimeField(null=True)
    first_leaf = models.BigIntegerField()
    last_leaf = models.BigIntegerField()
    deleted_leaf = models.BigIntegerField(null=True)
    deleted_at = models.DateTimeField(null=True)
    deleted_level = models.CharField(max_length=13, blank=True)
    deferred_leaf = models.BigIntegerField(null=True)
    starts = models.BigIntegerField()
    deliveries = models.BigIntegerField()
    beginnings = models.TextField(blank=True, db_default="")
    tallied_leaf = models.BigIntegerField(null=True)
    revoke_leaf = models.BigIntegerField(null=True)
    verdict = models.CharField(max_length=40)
    rule = models.CharField(max_length=40)

    class Meta:
        db_table = "job"
        # None is partial: SQLite takes such an index only for a query that repeats its condition.
        indexes = [
            models.Index(fields=["project", "number"], name="job_by_number"),
            models.Index(fields=["project", "call"], name="job_by_call"),
            models.Index(fields=["project", "key_digest", "key_leaf"], name="job_by_key"),
            models.Index(fields=["project", "prev"], name="job_by_prev"),
            models.Index(fields=["project", "logical_scope", "invoke"], name="job_by_scope"),
            models.Index(fields=["project", "verdict", "last_leaf"], name="job_by_verdict"),
            models.Index(fields=["project", "state", "last_leaf"], name="job_by_state"),
            models.Index(fields=["project", "last_leaf"], name="job_by_last_leaf"),
        ]


class CallReceipt(models.Model):
    """A receipt about a call whose verdict depends on the jobs of the call."""

    pk = models.CompositePrimaryKey("project_id", "call", "leaf_index")
    project = project_of()
    call = models.CharField(max_length=32)
    leaf_index = models.BigIntegerField()
    kind = models.CharField(max_length=16)
    at = models.DateTimeField()
    scope = models.TextField(blank=True)
    number = models.BigIntegerField(null=True)
    job = models.TextField(blank=True)
    count = models.BigIntegerField(null=True)

    class Meta:
        db_table = "call_receipt"
        indexes = [models.Index(fields=["project", "leaf_index"], name="call_receipt_by_leaf")]
