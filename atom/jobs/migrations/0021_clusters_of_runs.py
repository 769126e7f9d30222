"""A run may choose a cluster and an image; a placement is a run in a cluster that starts it."""

import django.db.models.deletion
from django.db import migrations, models

import atom.core.ids


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0005_registration"),
        ("jobs", "0020_ranks"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="cluster",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="runs",
                to="clusters.cluster",
            ),
        ),
        migrations.AddField(
            model_name="run",
            name="image",
            field=models.CharField(blank=True, max_length=500),
        ),
        migrations.CreateModel(
            name="Placement",
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
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="placements",
                        to="clusters.cluster",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="placements",
                        to="jobs.run",
                    ),
                ),
            ],
        ),
        migrations.AddField(
            model_name="attempt",
            name="placed_in",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="attempts",
                to="jobs.placement",
            ),
        ),
        migrations.AddIndex(
            model_name="placement",
            index=models.Index(
                condition=models.Q(("removed_at", None)),
                fields=["cluster"],
                name="placement_not_removed",
            ),
        ),
        migrations.AddConstraint(
            model_name="placement",
            constraint=models.UniqueConstraint(
                condition=models.Q(("ended_at", None)), fields=("run",), name="placement_open"
            ),
        ),
    ]
