"""Of how many files a version changed the labels; versions from before say nothing of it."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds a field."""

    dependencies = [("datasets", "0014_repacking")]

    operations = [
        migrations.AddField(
            model_name="version", name="labels_changed", field=models.BigIntegerField(null=True)
        ),
    ]
