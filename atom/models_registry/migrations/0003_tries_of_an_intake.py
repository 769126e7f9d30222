"""When a finished run is looked at again after a failure."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("models_registry", "0002_labels_of_models"),
    ]

    operations = [
        migrations.AddField(
            model_name="runintake",
            name="next_try_at",
            field=models.DateTimeField(null=True),
        ),
    ]
