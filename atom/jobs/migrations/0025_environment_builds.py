"""An environment may be built in a cluster, in an image, and kept as an archive."""

import django.db.models.deletion
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0014_token_made_by"),
        ("clusters", "0005_registration"),
        ("jobs", "0024_placement_looks"),
    ]

    operations = [
        migrations.AddField(
            model_name="runtime",
            name="archive_bytes",
            field=models.BigIntegerField(default=0),
        ),
        migrations.AddField(
            model_name="runtime",
            name="archive_key",
            field=models.CharField(blank=True, max_length=300),
        ),
        migrations.AddField(
            model_name="runtime",
            name="archive_sha256",
            field=models.CharField(blank=True, max_length=64),
        ),
        migrations.AddField(
            model_name="runtime",
            name="image",
            field=models.CharField(blank=True, max_length=500),
        ),
        migrations.AlterField(
            model_name="runtime",
            name="python",
            field=models.CharField(blank=True, max_length=20),
        ),
        migrations.AlterField(
            model_name="placement",
            name="cluster",
            field=models.ForeignKey(
                on_delete=django.db.models.deletion.PROTECT,
                related_name="%(class)ss",
                to="clusters.cluster",
            ),
        ),
        migrations.CreateModel(
            name="EnvironmentBuild",
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
                ("namespace", models.CharField(max_length=63)),
                ("job_uid", models.CharField(blank=True, max_length=64)),
                ("spec_sha256", models.CharField(blank=True, max_length=64)),
                ("observed", models.JSONField(default=dict)),
                ("observed_at", models.DateTimeField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                ("removed_at", models.DateTimeField(null=True)),
                ("number", models.PositiveIntegerField()),
                ("identity", models.JSONField(default=dict)),
                ("token_hash", models.CharField(blank=True, db_index=True, max_length=64)),
                ("sent", models.JSONField(default=dict)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="%(class)ss",
                        to="clusters.cluster",
                    ),
                ),
                (
                    "project",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="+",
                        to="accounts.project",
                    ),
                ),
                (
                    "runtime",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="builds",
                        to="jobs.runtime",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("removed_at", None)),
                        fields=["cluster"],
                        name="build_not_removed",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("ended_at", None)),
                        fields=("runtime",),
                        name="build_open",
                    ),
                    models.UniqueConstraint(fields=("runtime", "number"), name="build_number"),
                ],
            },
        ),
    ]
