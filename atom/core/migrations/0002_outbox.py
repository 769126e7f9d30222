"""What happened in a project, written with the change itself, until it was handed on."""

from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0001_initial"),
    ]

    operations = [
        migrations.CreateModel(
            name="OutboxEvent",
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
                ("project_id", models.UUIDField()),
                ("kind", models.CharField(max_length=60)),
                ("data", models.JSONField(default=dict)),
                ("at", models.DateTimeField(auto_now_add=True)),
                ("taken_at", models.DateTimeField(null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["at"], name="core_outbox_at_014f06_idx"),
                    models.Index(
                        condition=models.Q(("taken_at", None)), fields=["id"], name="outbox_open"
                    ),
                ],
            },
        ),
    ]
