"""Whether the picture of an item is shown by tiles."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds a field."""

    dependencies = [
        ("labeling", "0008_label_transfers"),
    ]

    operations = [
        migrations.AddField(
            model_name="workitem",
            name="tiled",
            field=models.BooleanField(blank=True, null=True),
        ),
    ]
