from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0023_unknown_jobs"),
    ]

    operations = [
        migrations.AddField(
            model_name="placement",
            name="looked_at",
            field=models.DateTimeField(null=True),
        ),
    ]
