"""Notes, a star and a revision of a run, and for how long it has run."""

from django.db import migrations, models

from atom.core.migration_operations import Together


class Migration(migrations.Migration):
    dependencies = [("jobs", "0007_tracked_runs")]

    operations = [
        Together(
            [
                migrations.AddField(
                    model_name="run",
                    name="notes",
                    field=models.TextField(blank=True, default=""),
                    preserve_default=False,
                ),
                migrations.AddField(
                    model_name="run",
                    name="starred",
                    field=models.BooleanField(default=False),
                ),
                migrations.AddField(
                    model_name="run",
                    name="revision",
                    field=models.PositiveIntegerField(default=0),
                ),
                migrations.AddField(
                    model_name="run",
                    name="ran_s",
                    field=models.FloatField(default=0),
                ),
                migrations.AddField(
                    model_name="run",
                    name="running_since",
                    field=models.DateTimeField(null=True),
                ),
            ]
        ),
    ]
