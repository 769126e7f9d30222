"""Runs that a program elsewhere reports, and experiments that group runs."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import atom.core.ids
from atom.core.migration_operations import Together


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0002_s3_key_pairs"),
        ("jobs", "0006_code_from_git"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Experiment",
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
                ("name", models.CharField(max_length=500)),
                ("labels", models.JSONField(default=dict)),
                ("archived_at", models.DateTimeField(null=True)),
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
                        related_name="experiments",
                        to="accounts.project",
                    ),
                ),
            ],
        ),
        Together(
            [
                migrations.AddField(
                    model_name="run",
                    name="archived_at",
                    field=models.DateTimeField(null=True),
                ),
                migrations.AddField(
                    model_name="run",
                    name="labels",
                    field=models.JSONField(default=dict),
                ),
                migrations.AddField(
                    model_name="run",
                    name="logged_parameters",
                    field=models.JSONField(default=dict),
                ),
                migrations.AddField(
                    model_name="run",
                    name="origin",
                    field=models.CharField(
                        choices=[("atom", "atom"), ("mlflow", "mlflow")],
                        default="atom",
                        max_length=20,
                    ),
                ),
                migrations.AddField(
                    model_name="run",
                    name="experiment",
                    field=models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.RESTRICT,
                        related_name="runs",
                        to="jobs.experiment",
                    ),
                ),
            ]
        ),
        Together(
            [
                migrations.AddConstraint(
                    model_name="run",
                    constraint=models.CheckConstraint(
                        condition=models.Q(("origin__in", ("atom", "mlflow"))), name="run_origin"
                    ),
                ),
                migrations.AddConstraint(
                    model_name="experiment",
                    constraint=models.UniqueConstraint(
                        fields=("project", "name"), name="experiment_name"
                    ),
                ),
            ]
        ),
    ]
