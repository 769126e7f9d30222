"""A run says with which saved view its data was chosen."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds the field."""

    dependencies = [
        ("jobs", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="runinput",
            name="view",
            field=models.CharField(blank=True, max_length=63),
        ),
    ]
