"""How often uploads and commit requests were tried without coming to an end, and since when."""

from __future__ import annotations

from django.db import migrations, models

from atom.core.migration_operations import Together


class Migration(migrations.Migration):
    """Adds fields."""

    dependencies = [("datasets", "0011_activity_of_earlier_events")]

    operations = [
        Together(
            [
                migrations.AddField(
                    model_name="commitrequest",
                    name="tried_since",
                    field=models.DateTimeField(null=True),
                ),
                migrations.AddField(
                    model_name="commitrequest",
                    name="tries",
                    field=models.PositiveIntegerField(default=0),
                ),
                migrations.AddField(
                    model_name="upload",
                    name="tried_since",
                    field=models.DateTimeField(null=True),
                ),
                migrations.AddField(
                    model_name="upload",
                    name="tries",
                    field=models.PositiveIntegerField(default=0),
                ),
            ]
        ),
    ]
