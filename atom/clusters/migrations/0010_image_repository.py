"""Repositories of environments' images."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0009_cluster_quota"),
    ]

    operations = [
        migrations.AddField(
            model_name="clusterprofile",
            name="image_repository",
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.AddField(
            model_name="clusterprofile",
            name="encrypted_image_credentials",
            field=models.TextField(blank=True),
        ),
    ]
