from __future__ import annotations

from typing import Any

from django.db import migrations, models


def fill(apps: Any, schema_editor: Any) -> None:
    """Keep what the Jobs of open placements asked for until now."""
    placements = apps.get_model("jobs", "Placement").objects
    for placement in placements.filter(ended_at=None, run__gpus__gt=0).select_related("run"):
        placement.accelerators = {"nvidia.com/gpu": placement.run.gpus}
        placement.save(update_fields=["accelerators"])


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0027_pod_profiles"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="accelerator",
            field=models.CharField(blank=True, default="", max_length=100),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="run",
            name="move_accelerator",
            field=models.CharField(blank=True, default="", max_length=100),
            preserve_default=False,
        ),
        migrations.AddField(
            model_name="placement",
            name="accelerators",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="placement",
            name="node_selector",
            field=models.JSONField(default=dict),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop),
    ]
