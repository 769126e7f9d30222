"""Pictures of too many pixels are a kind of their own; reports from before have none of it."""

from __future__ import annotations

from django.db import migrations, models

_KINDS = (
    "unreadable",
    "too_large",
    "exact_duplicate",
    "near_duplicate",
    "leak",
    "tiny",
    "dark",
    "blurred",
)


class Migration(migrations.Migration):
    """Adds a choice; the column stays."""

    dependencies = [("cleaning", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="findingcount",
            name="kind",
            field=models.CharField(choices=[(kind, kind) for kind in _KINDS], max_length=20),
        ),
    ]
