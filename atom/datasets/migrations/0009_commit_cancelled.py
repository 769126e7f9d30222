"""Commit requests tell how far they are, and can be cancelled until their branch moves."""

from __future__ import annotations

from django.db import migrations, models

from atom.core.migration_operations import Together

STATES = ("building", "cancelled", "conflict", "failed", "pending", "published")
CANCELLABLE = ("push", "merge", "revert", "cherry_pick", "edit")


class Migration(migrations.Migration):
    """Adds fields, and the state `cancelled`."""

    dependencies = [("datasets", "0008_movable")]

    operations = [
        Together(
            [
                migrations.AddField(
                    model_name="commitrequest",
                    name="stage",
                    field=models.CharField(blank=True, default="", max_length=20),
                    preserve_default=False,
                ),
                migrations.AddField(
                    model_name="commitrequest",
                    name="rows_done",
                    field=models.BigIntegerField(default=0),
                ),
                migrations.AddField(
                    model_name="commitrequest",
                    name="rows_total",
                    field=models.BigIntegerField(default=0),
                ),
                migrations.AddField(
                    model_name="commitrequest",
                    name="committing",
                    field=models.BooleanField(default=False),
                ),
                migrations.RemoveConstraint(model_name="commitrequest", name="commit_state"),
                migrations.AlterField(
                    model_name="commitrequest",
                    name="state",
                    field=models.CharField(
                        choices=[(name, name) for name in STATES], default="pending", max_length=20
                    ),
                ),
            ]
        ),
        Together(
            [
                migrations.AddConstraint(
                    model_name="commitrequest",
                    constraint=models.CheckConstraint(
                        condition=models.Q(("state__in", list(STATES))), name="commit_state"
                    ),
                ),
                migrations.AddConstraint(
                    model_name="commitrequest",
                    constraint=models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "cancelled"), _negated=True),
                            models.Q(
                                ("committing", False),
                                ("operation__in", CANCELLABLE),
                                ("write_job__isnull", True),
                                ("writer__isnull", True),
                            ),
                            _connector="OR",
                        ),
                        name="commit_cancelled_before_move",
                    ),
                ),
            ]
        ),
    ]
