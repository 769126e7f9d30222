"""Programs that log by MLflow may register the same files several times."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("models_registry", "0003_tries_of_an_intake"),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name="modelversion",
            name="model_version_once",
        ),
        migrations.AddIndex(
            model_name="modelversion",
            index=models.Index(
                fields=["model", "run", "artifact_path"], name="model_version_files"
            ),
        ),
    ]
