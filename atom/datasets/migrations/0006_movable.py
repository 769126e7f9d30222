"""Datasets that are loaded from archives."""

from __future__ import annotations

from django.db import migrations, models

OPERATIONS = ("push", "merge", "revert", "cherry_pick", "edit", "load")


class Migration(migrations.Migration):
    """Adds fields, and the operation `load`."""

    dependencies = [
        ("datasets", "0005_version_layout"),
    ]

    operations = [
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
        migrations.AddConstraint(
            model_name="commitrequest",
            constraint=models.CheckConstraint(
                condition=models.Q(("operation__in", OPERATIONS)), name="commit_operation"
            ),
        ),
    ]
