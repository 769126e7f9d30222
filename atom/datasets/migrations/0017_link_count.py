"""How many links a version has; those from before are counted when they are read."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds a field."""

    dependencies = [("datasets", "0016_labels_of_folders")]

    operations = [
        migrations.AddField(
            model_name="version", name="link_count", field=models.BigIntegerField(null=True)
        ),
    ]
