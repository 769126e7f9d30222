from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0005_registration"),
    ]

    operations = [
        migrations.AddField(
            model_name="cluster",
            name="identity",
            field=models.CharField(blank=True, max_length=64),
        ),
    ]
