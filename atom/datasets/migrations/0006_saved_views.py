"""Questions about a dataset are saved under a name."""

from __future__ import annotations

import django.core.validators
import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    """Adds the table."""

    dependencies = [
        ("datasets", "0005_version_layout"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="SavedView",
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
                (
                    "name",
                    models.CharField(
                        max_length=63,
                        validators=[
                            django.core.validators.RegexValidator(
                                "^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$",
                                "Use 1 to 63 lower-case letters, digits, dots, dashes and "
                                "underscores.",
                            )
                        ],
                    ),
                ),
                ("where", models.TextField(blank=True)),
                ("prefix", models.TextField(blank=True)),
                ("splits", models.JSONField(default=list)),
                (
                    "created_by",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "dataset",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="saved_views",
                        to="datasets.dataset",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("dataset", "name"), name="saved_view_name"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("prefix", ""), ("splits", []), ("where", ""), _negated=True
                        ),
                        name="saved_view_asks",
                    ),
                ],
            },
        ),
    ]
