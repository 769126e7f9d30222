from __future__ import annotations

from typing import Any

from django.db import migrations, models
from django.db.models import F


def fill(apps: Any, schema_editor: Any) -> None:
    """Fill in how runs asked for accelerators until now; the next check writes the truth."""
    accelerators = apps.get_model("clusters", "NodeAccelerator").objects
    accelerators.filter(kind__contains="/").update(resource=F("kind"))
    accelerators.exclude(kind__contains="/").update(resource="nvidia.com/gpu")


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0006_cluster_identity"),
    ]

    operations = [
        migrations.AddField(
            model_name="nodeaccelerator",
            name="resource",
            field=models.CharField(blank=True, default="", max_length=317),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="nodeaccelerator",
            name="label_name",
            field=models.CharField(blank=True, default="", max_length=317),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="nodeaccelerator",
            name="label_value",
            field=models.CharField(blank=True, default="", max_length=63),
            preserve_default=False,
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
