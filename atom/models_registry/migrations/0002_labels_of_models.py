"""Tags of models and versions, and numbers that no later version takes."""

from django.db import migrations, models

from atom.core.migration_operations import Together


class Migration(migrations.Migration):
    dependencies = [
        ("models_registry", "0001_initial"),
    ]

    operations = [
        Together(
            [
                migrations.AddField(
                    model_name="model",
                    name="labels",
                    field=models.JSONField(default=dict),
                ),
                migrations.AddField(
                    model_name="model",
                    name="numbers_used",
                    field=models.PositiveIntegerField(default=0),
                ),
                migrations.AddField(
                    model_name="modelversion",
                    name="labels",
                    field=models.JSONField(default=dict),
                ),
            ]
        ),
    ]
