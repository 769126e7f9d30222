"""Datasets that are loaded from archives, and deleted ones; what staging holds."""

from __future__ import annotations

from django.conf import settings
from django.db import migrations, models

from atom.core.migration_operations import Together

OPERATIONS = ("push", "merge", "revert", "cherry_pick", "edit", "write", "load")


class Migration(migrations.Migration):
    """Adds fields, and the operation `load`."""

    dependencies = [
        ("datasets", "0007_writers"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        Together(
            [
                migrations.AddField(
                    model_name="dataset",
                    name="loading",
                    field=models.CharField(blank=True, max_length=64),
                ),
                migrations.AddField(
                    model_name="version",
                    name="author_name",
                    field=models.CharField(blank=True, max_length=1000),
                ),
                migrations.RemoveConstraint(model_name="commitrequest", name="commit_operation"),
                migrations.AlterField(
                    model_name="commitrequest",
                    name="operation",
                    field=models.CharField(
                        choices=[(name, name) for name in OPERATIONS], default="push", max_length=20
                    ),
                ),
                migrations.AddField(
                    model_name="dataset", name="deleted_at", field=models.DateTimeField(null=True)
                ),
                migrations.AddField(
                    model_name="dataset",
                    name="deleted_by",
                    field=models.ForeignKey(
                        null=True,
                        on_delete=models.SET_NULL,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                migrations.AddField(
                    model_name="dataset", name="purged_at", field=models.DateTimeField(null=True)
                ),
                migrations.RemoveConstraint(model_name="dataset", name="dataset_name"),
                migrations.AddField(
                    model_name="garbagerun",
                    name="staged_count",
                    field=models.BigIntegerField(default=0),
                ),
                migrations.AddField(
                    model_name="garbagerun",
                    name="staged_bytes",
                    field=models.BigIntegerField(default=0),
                ),
            ]
        ),
        Together(
            [
                migrations.AddConstraint(
                    model_name="commitrequest",
                    constraint=models.CheckConstraint(
                        condition=models.Q(("operation__in", OPERATIONS)), name="commit_operation"
                    ),
                ),
                migrations.AddConstraint(
                    model_name="dataset",
                    constraint=models.UniqueConstraint(
                        condition=models.Q(("purged_at__isnull", True)),
                        fields=("project", "name"),
                        name="dataset_name",
                    ),
                ),
                migrations.AddConstraint(
                    model_name="dataset",
                    constraint=models.CheckConstraint(
                        condition=models.Q(
                            ("purged_at__isnull", True),
                            ("deleted_at__isnull", False),
                            _connector="OR",
                        ),
                        name="dataset_purged_after_deletion",
                    ),
                ),
            ]
        ),
    ]
