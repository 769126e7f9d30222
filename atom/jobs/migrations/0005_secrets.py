"""Secrets of a project, and which of them a run gets."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_s3_key_pairs"),
        ("jobs", "0004_run_may_write"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="secrets",
            field=models.JSONField(default=list),
        ),
        migrations.CreateModel(
            name="ProjectSecret",
            fields=[
                (
                    "id",
                    models.UUIDField(
                        default=atom.core.ids.uuid7,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("created_at", models.DateTimeField(auto_now_add=True)),
                ("updated_at", models.DateTimeField(auto_now=True)),
                ("name", models.CharField(max_length=100)),
                ("encrypted_value", models.TextField()),
                ("description", models.CharField(blank=True, max_length=300)),
                ("set_at", models.DateTimeField()),
                ("last_used_at", models.DateTimeField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="secrets",
                        to="accounts.project",
                    ),
                ),
                (
                    "set_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="secret_name")
                ],
            },
        ),
    ]
