"""What comes of comparing the catalogue with the bucket."""

from __future__ import annotations

import django.db.models.deletion
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    """Adds the table."""

    dependencies = [
        ("accounts", "0013_addresses_proven_before"),
        ("datasets", "0012_tries"),
    ]

    operations = [
        migrations.CreateModel(
            name="CatalogueCheck",
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
                ("after", models.UUIDField(null=True)),
                ("dataset_count", models.BigIntegerField(default=0)),
                ("version_count", models.BigIntegerField(default=0)),
                ("pack_count", models.BigIntegerField(default=0)),
                ("difference_count", models.BigIntegerField(default=0)),
                ("differences", models.JSONField(default=list)),
                ("finished_at", models.DateTimeField(null=True)),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="catalogue_checks",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "finished_at"], name="catalogue_check_last")
                ],
                "constraints": [
                    models.UniqueConstraint(
                        fields=("project",),
                        condition=models.Q(("finished_at", None)),
                        name="catalogue_check_once",
                    )
                ],
            },
        ),
    ]
