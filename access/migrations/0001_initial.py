from __future__ import annotations


import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
    ]

    operations = [
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('username', models.CharField(max_length=64, unique=True)),
                ('display_name', models.CharField(blank=True, default='', max_length=100)),
                ('is_active', models.BooleanField(default=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'abstract': False,
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('slug', models.CharField(max_length=40, unique=True)),
                ('name', models.CharField(max_length=100)),
                ('log_id', models.CharField(max_length=16, unique=True)),
                ('origin', models.CharField(max_length=255, unique=True)),
                ('created_at', models.DateTimeField()),
            ],
        ),
        migrations.CreateModel(
            name='Installation',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, primary_key=True, serialize=False)),
                ('installation_id', models.CharField(max_length=16, unique=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='access_installation_is_single')],
            },
        ),
        migrations.CreateModel(
            name='LoginFailure',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('account_hash', models.CharField(max_length=64)),
                ('address_hash', models.CharField(max_length=64)),
                ('at', models.DateTimeField(db_index=True)),
            ],
            options={
                'indexes': [models.Index(fields=['account_hash', 'at'], name='access_loginfailure_account')],
            },
        ),
        migrations.CreateModel(
            name='LoginLink',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('secret_hash', models.CharField(max_length=64, unique=True)),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField()),
                ('used_at', models.DateTimeField(blank=True, null=True)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='login_links', to=settings.AUTH_USER_MODEL)),
            ],
        ),
        migrations.CreateModel(
            name='ProjectSlug',
            fields=[
                ('slug', models.CharField(max_length=40, primary_key=True, serialize=False)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='slugs', to='access.project')),
            ],
        ),
        migrations.CreateModel(
            name='Member',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('role', models.CharField(max_length=16)),
                ('created_at', models.DateTimeField()),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='members', to='access.project')),
            ],
            options={
                'constraints': [models.UniqueConstraint(fields=('project', 'user'), name='access_member_once'), models.CheckConstraint(condition=models.Q(('role__in', ['viewer', 'auditor', 'operator', 'admin'])), name='access_member_role_is_known')],
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=100)),
                ('prefix', models.CharField(max_length=16)),
                ('secret_hash', models.CharField(max_length=64, unique=True)),
                ('scope', models.CharField(max_length=16)),
                ('source_system', models.CharField(blank=True, default='', max_length=64)),
                ('source_instance', models.CharField(blank=True, default='', max_length=64)),
                ('created_at', models.DateTimeField()),
                ('created_by', models.CharField(blank=True, default='', max_length=150)),
                ('expires_at', models.DateTimeField(blank=True, null=True)),
                ('revoked_at', models.DateTimeField(blank=True, null=True)),
                ('last_used_at', models.DateTimeField(blank=True, null=True)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='tokens', to='access.project')),
            ],
            options={
                'constraints': [models.CheckConstraint(condition=models.Q(('scope__in', ['ingest', 'read', 'operate', 'admin'])), name='access_token_scope_is_known')],
            },
        ),
        migrations.CreateModel(
            name='Action',
            fields=[
                ('id', models.BigAutoField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('actor_type', models.CharField(max_length=16)),
                ('actor_id', models.CharField(max_length=64)),
                ('actor_label', models.CharField(max_length=200)),
                ('verb', models.CharField(max_length=64)),
                ('target', models.CharField(max_length=300)),
                ('reason', models.TextField(blank=True, default='')),
                ('before', models.TextField(blank=True, default='')),
                ('after', models.TextField(blank=True, default='')),
                ('outcome', models.CharField(max_length=8)),
                ('drained_at', models.DateTimeField(blank=True, null=True)),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='actions', to='access.project')),
            ],
            options={
                'indexes': [models.Index(fields=['project', '-id'], name='access_action_newest'), models.Index(condition=models.Q(('drained_at__isnull', True)), fields=['project', 'id'], name='access_action_undrained')],
                'constraints': [models.CheckConstraint(condition=models.Q(('outcome__in', ['done', 'denied'])), name='access_action_outcome_is_known')],
            },
        ),
    ]
