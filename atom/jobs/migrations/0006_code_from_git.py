"""Code that is fetched from git, and the SSH servers whose key is known."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_s3_key_pairs"),
        ("jobs", "0005_secrets"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="CodeFetch",
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
                ("url", models.CharField(max_length=1000)),
                ("ref", models.CharField(blank=True, max_length=250)),
                ("secret", models.CharField(blank=True, max_length=100)),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("failed", "failed"),
                            ("fetching", "fetching"),
                            ("ready", "ready"),
                            ("waiting", "waiting"),
                        ],
                        default="waiting",
                        max_length=20,
                    ),
                ),
                ("failure_code", models.CharField(blank=True, max_length=50)),
                ("failure_text", models.TextField(blank=True)),
                ("facts", models.JSONField(default=dict)),
                ("claimed_until", models.DateTimeField(null=True)),
                ("finished_at", models.DateTimeField(null=True)),
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
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="code_fetches",
                        to="accounts.project",
                    ),
                ),
                (
                    "snapshot",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to="jobs.codesnapshot",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        fields=["project", "-created_at", "-id"],
                        name="jobs_codefe_project_2c29c5_idx",
                    ),
                    models.Index(
                        condition=models.Q(("state__in", ["waiting", "fetching"])),
                        fields=["created_at"],
                        name="code_fetch_open",
                    ),
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("state__in", ["failed", "fetching", "ready", "waiting"])
                        ),
                        name="code_fetch_state",
                    )
                ],
            },
        ),
        migrations.CreateModel(
            name="GitHost",
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
                ("name", models.CharField(max_length=300)),
                ("key", models.CharField(max_length=300)),
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
                "constraints": [
                    models.UniqueConstraint(fields=("project", "name"), name="git_host_name")
                ],
            },
        ),
    ]
