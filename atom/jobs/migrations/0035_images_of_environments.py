"""Environments that are images."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0034_when_to_start"),
    ]

    operations = [
        migrations.AddField(
            model_name="runtime",
            name="repository",
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.AddField(
            model_name="runtime",
            name="owner",
            field=models.UUIDField(null=True),
        ),
        migrations.AddField(
            model_name="runtime",
            name="content_digest",
            field=models.CharField(blank=True, db_index=True, max_length=64),
        ),
        migrations.AddField(
            model_name="runtime",
            name="pushed_image",
            field=models.CharField(blank=True, max_length=400),
        ),
        migrations.AddField(
            model_name="runtime",
            name="pushed_runner",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="runtime",
            name="image_failure",
            field=models.JSONField(default=dict),
        ),
        migrations.AddField(
            model_name="environmentbuild",
            name="base_image",
            field=models.CharField(blank=True, max_length=400),
        ),
    ]
