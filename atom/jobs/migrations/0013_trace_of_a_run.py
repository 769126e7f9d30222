"""The trace that a run belongs to."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0012_run_comments")]

    operations = [
        migrations.AddField(
            model_name="run",
            name="trace_parent",
            field=models.CharField(blank=True, default="", max_length=55),
            preserve_default=False,
        ),
    ]
