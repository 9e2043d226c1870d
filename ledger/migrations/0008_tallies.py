"""Tallied outcomes, recording policies, and the ways in which receipts of tasks come."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

COLUMNS = (
    '"project_id" bigint NOT NULL, "job" bigint NOT NULL, "leaf_index" bigint NOT NULL, '
    'PRIMARY KEY ("project_id", "job", "leaf_index")'
)


def make_tally_job(apps, schema_editor):
    """On SQLite without row ids: they would put each row down twice, once in the key's index."""
    is_sqlite = schema_editor.connection.vendor == "sqlite"
    schema_editor.execute(
        f'CREATE TABLE "tally_job" ({COLUMNS})' + (" WITHOUT ROWID" if is_sqlite else "")
    )


def drop_tally_job(apps, schema_editor):
    schema_editor.execute('DROP TABLE "tally_job"')


class Migration(migrations.Migration):
    dependencies = [
        ("access", "0001_initial"),
        ("ledger", "0007_watched_span"),
    ]

    operations = [
        migrations.AddField(
            model_name="rollup",
            name="tallied",
            field=models.BigIntegerField(db_default=0),
        ),
        migrations.CreateModel(
            name="PolicyVersion",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "project_id",
                        "system",
                        "instance",
                        "leaf_index",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("system", models.TextField(blank=True)),
                ("instance", models.TextField(blank=True)),
                ("leaf_index", models.BigIntegerField()),
                ("receipt", models.UUIDField()),
                ("at", models.DateTimeField()),
                ("version", models.TextField(blank=True)),
                ("digest", models.CharField(max_length=64)),
                ("each", models.TextField()),
                ("tally", models.TextField()),
                ("never", models.TextField()),
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
                "db_table": "policy_version",
            },
        ),
        migrations.SeparateDatabaseAndState(
            state_operations=[
                migrations.CreateModel(
                    name="TallyJob",
                    fields=[
                        (
                            "pk",
                            models.CompositePrimaryKey(
                                "project_id",
                                "job",
                                "leaf_index",
                                blank=True,
                                editable=False,
                                primary_key=True,
                                serialize=False,
                            ),
                        ),
                        ("job", models.BigIntegerField()),
                        ("leaf_index", models.BigIntegerField()),
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
                        "db_table": "tally_job",
                    },
                ),
            ],
            database_operations=[
                migrations.RunPython(make_tally_job, drop_tally_job),
            ],
        ),
        migrations.CreateModel(
            name="Tally",
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
                ("system", models.TextField(blank=True)),
                ("instance", models.TextField(blank=True)),
                ("policy", models.TextField(blank=True)),
                ("from_at", models.DateTimeField(null=True)),
                ("to_at", models.DateTimeField()),
                ("done", models.BigIntegerField()),
                ("retried", models.BigIntegerField()),
                ("listed", models.BigIntegerField()),
                ("is_whole", models.BooleanField()),
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
                "db_table": "tally",
                "indexes": [
                    models.Index(
                        fields=["project", "system", "instance", "is_whole", "leaf_index"],
                        name="tally_by_source",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="TaskSight",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "project_id",
                        "name",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("name", models.CharField(max_length=17)),
                ("task", models.TextField()),
                ("system", models.TextField(blank=True)),
                ("instance", models.TextField(blank=True)),
                ("told", models.TextField(blank=True)),
                ("told_leaf", models.BigIntegerField(null=True)),
                ("seen", models.TextField()),
                ("skips", models.TextField()),
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
                "db_table": "task_sight",
                "indexes": [models.Index(fields=["project", "task"], name="task_sight_of_task")],
            },
        ),
    ]
