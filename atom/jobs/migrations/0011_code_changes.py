"""What a snapshot has that the commit it was taken at has not."""

import django.db.models.deletion
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0010_run_words"),
    ]

    operations = [
        migrations.CreateModel(
            name="CodeChanges",
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
                ("patch", models.TextField(blank=True)),
                ("truncated", models.BooleanField(default=False)),
                (
                    "snapshot",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="changes",
                        to="jobs.codesnapshot",
                    ),
                ),
            ],
            options={
                "abstract": False,
            },
        ),
    ]
