"""A run of a person's own command may ask to write the project's datasets."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0003_input_delivery"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="may_write",
            field=models.BooleanField(default=False),
        ),
    ]
