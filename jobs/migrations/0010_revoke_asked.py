"""Who asked first that a job be revoked."""

from __future__ import annotations

from django.db import migrations
from django.db.models import BigIntegerField


class Migration(migrations.Migration):
    dependencies = [("jobs", "0009_beginnings")]

    operations = [migrations.AddField("job", "revoke_leaf", BigIntegerField(null=True))]
