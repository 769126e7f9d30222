"""Failed runs by their end: the overview asks for those of late."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0013_trace_of_a_run")]

    operations = [
        migrations.AddIndex(
            model_name="run",
            index=models.Index(
                condition=models.Q(("state", "failed")),
                fields=["project", "-finished_at"],
                name="run_failed_lately",
            ),
        ),
    ]
