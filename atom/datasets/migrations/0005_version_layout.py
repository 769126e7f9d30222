"""A version may be read from a newer layout of its manifest."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    """Adds the field."""

    dependencies = [
        ("datasets", "0004_operations"),
    ]

    operations = [
        migrations.AddField(
            model_name="version",
            name="layout",
            field=models.CharField(blank=True, max_length=64),
        ),
    ]
