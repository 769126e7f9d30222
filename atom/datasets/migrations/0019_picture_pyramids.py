"""Pyramids of tiles of large and deep pictures."""

from __future__ import annotations

import django.db.models.deletion
import django.db.models.functions.datetime
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    """Adds a table."""

    dependencies = [
        ("accounts", "0014_token_made_by"),
        ("datasets", "0018_uploads_of_labels"),
    ]

    operations = [
        migrations.CreateModel(
            name="PicturePyramid",
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
                ("digest", models.CharField(max_length=64)),
                ("pack", models.CharField(max_length=64)),
                ("offset", models.BigIntegerField()),
                ("size_bytes", models.BigIntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("cleared", "cleared"),
                            ("failed", "failed"),
                            ("making", "making"),
                            ("ready", "ready"),
                            ("waiting", "waiting"),
                        ],
                        default="waiting",
                        max_length=20,
                    ),
                ),
                ("progress", models.PositiveSmallIntegerField(default=0)),
                ("reason", models.CharField(blank=True, max_length=20)),
                ("facts", models.JSONField(default=dict)),
                ("stored_bytes", models.BigIntegerField(default=0)),
                (
                    "used_at",
                    models.DateTimeField(db_default=django.db.models.functions.datetime.Now()),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["project", "pack"], name="pyramid_pack"),
                    models.Index(fields=["used_at"], name="pyramid_used"),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["cleared", "failed", "making", "ready", "waiting"])
                        ),
                        name="pyramid_state",
                    ),
                    models.UniqueConstraint(fields=("project", "digest"), name="pyramid_digest"),
                ],
            },
        ),
    ]
