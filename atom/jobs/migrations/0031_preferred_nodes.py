from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0030_gangs")]

    operations = [
        migrations.AddField(
            model_name="placement",
            name="preferred_nodes",
            field=models.JSONField(default=list),
        ),
    ]
