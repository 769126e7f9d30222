"""A move keeps the image and the environment that it asks for until it happens."""

import django.db.models.deletion
from django.db import migrations, models

# Runs that move now have the new image already: it stays that of their next attempt.
_UNDER_WAY = """
UPDATE jobs_run SET move_image = image, move_runtime_id = runtime_id WHERE moving_since IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0025_environment_builds"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="move_image",
            field=models.CharField(blank=True, max_length=500),
        ),
        migrations.AddField(
            model_name="run",
            name="move_runtime",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="moves",
                to="jobs.runtime",
            ),
        ),
        migrations.RunSQL(_UNDER_WAY, migrations.RunSQL.noop),
    ]
