"""Which GPUs a node has and an attempt holds."""

import django.contrib.postgres.fields
from django.db import migrations, models


def _ids() -> django.contrib.postgres.fields.ArrayField:
    return django.contrib.postgres.fields.ArrayField(
        models.CharField(max_length=100), blank=True, default=list, size=None
    )


class Migration(migrations.Migration):
    dependencies = [("clusters", "0001_initial")]

    operations = [
        migrations.AddField("node", "gpu_ids", _ids()),
        migrations.AddField("reservation", "gpu_ids", _ids()),
    ]
