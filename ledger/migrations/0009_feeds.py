"""Feeds: the outbox of arrivals, and the read tables of spools, gaps and late receipts."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0001_initial"),
        ("ledger", "0008_tallies"),
    ]

    operations = [
        migrations.CreateModel(
            name="FeedToken",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "project_id",
                        "token",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("token", models.BigIntegerField()),
                ("first_leaf", models.BigIntegerField(null=True)),
                ("numbered_leaf", models.BigIntegerField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="access.project",
                    ),
                ),
            ],
            options={
                "db_table": "feed_token",
            },
        ),
        migrations.CreateModel(
            name="Arrival",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("spool", models.TextField()),
                ("first_number", models.BigIntegerField()),
                ("last_number", models.BigIntegerField()),
                ("replayed", models.IntegerField()),
                ("at", models.DateTimeField()),
                ("token", models.BigIntegerField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="access.project",
                    ),
                ),
            ],
            options={
                "db_table": "arrival",
                "indexes": [models.Index(fields=["at", "project"], name="arrival_by_time")],
            },
        ),
        migrations.CreateModel(
            name="FeedGap",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "project_id",
                        "spool",
                        "first_number",
                        "leaf_index",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("spool", models.TextField()),
                ("first_number", models.BigIntegerField()),
                ("leaf_index", models.BigIntegerField()),
                ("last_number", models.BigIntegerField()),
                ("since", models.DateTimeField()),
                ("until_leaf", models.BigIntegerField(null=True)),
                ("until_at", models.DateTimeField(null=True)),
                ("closed_by", models.CharField(blank=True, max_length=8)),
                ("reason", models.TextField(blank=True)),
                ("actor", models.TextField(blank=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="access.project",
                    ),
                ),
            ],
            options={
                "db_table": "feed_gap",
                "indexes": [
                    models.Index(fields=["project", "until_leaf", "since"], name="feed_gap_open"),
                    models.Index(
                        fields=["project", "spool", "until_leaf"], name="feed_gap_of_spool"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="FeedProducer",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "project_id",
                        "producer",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("producer", models.TextField()),
                ("spools", models.BigIntegerField()),
                ("arrived", models.BigIntegerField()),
                ("waived", models.BigIntegerField()),
                ("first_at", models.DateTimeField()),
                ("last_at", models.DateTimeField()),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="access.project",
                    ),
                ),
            ],
            options={
                "db_table": "feed_producer",
                "indexes": [
                    models.Index(fields=["project", "last_at"], name="feed_producer_by_time")
                ],
            },
        ),
        migrations.CreateModel(
            name="FeedSpool",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "project_id",
                        "spool",
                        "leaf_index",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("spool", models.TextField()),
                ("leaf_index", models.BigIntegerField()),
                ("until_leaf", models.BigIntegerField(null=True)),
                ("span", models.SmallIntegerField(null=True)),
                ("is_settled", models.BooleanField()),
                ("producer", models.TextField()),
                ("token", models.BigIntegerField(null=True)),
                ("source", models.TextField(blank=True)),
                ("client", models.TextField(blank=True)),
                ("is_numbered", models.BooleanField()),
                ("first_at", models.DateTimeField()),
                ("heard_at", models.DateTimeField()),
                ("fed_at", models.DateTimeField(null=True)),
                ("high", models.BigIntegerField()),
                ("replayed", models.BigIntegerField()),
                ("written", models.BigIntegerField(null=True)),
                ("unsent", models.BigIntegerField(null=True)),
                ("dropped", models.BigIntegerField()),
                ("waived", models.BigIntegerField()),
                ("oldest_at", models.DateTimeField(null=True)),
                ("expected", models.BigIntegerField()),
                ("expected_since", models.DateTimeField(null=True)),
                ("closed_at", models.DateTimeField(null=True)),
                ("end", models.CharField(blank=True, max_length=40)),
                ("skew_ms", models.BigIntegerField(null=True)),
                ("marks", models.TextField()),
                ("complete_until", models.DateTimeField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="access.project",
                    ),
                ),
            ],
            options={
                "db_table": "feed_spool",
                "indexes": [
                    models.Index(
                        fields=["project", "until_leaf", "is_settled"], name="feed_spool_now"
                    ),
                    models.Index(
                        fields=["project", "is_settled", "leaf_index"], name="feed_spool_settled"
                    ),
                    models.Index(
                        fields=["project", "span", "leaf_index"], name="feed_spool_in_force"
                    ),
                    models.Index(
                        fields=["project", "producer", "until_leaf"], name="feed_spool_of"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LateReceipt",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "project_id",
                        "leaf_index",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("leaf_index", models.BigIntegerField()),
                ("spool", models.TextField()),
                ("number", models.BigIntegerField()),
                ("has_before", models.BooleanField()),
                ("has_after", models.BooleanField()),
                ("in_order_leaf", models.BigIntegerField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        db_constraint=False,
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="access.project",
                    ),
                ),
            ],
            options={
                "db_table": "late_receipt",
                "indexes": [
                    models.Index(fields=["project", "spool", "number"], name="late_receipt_by_no")
                ],
            },
        ),
    ]
