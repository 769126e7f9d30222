"""An attempt is made by ranks: each has a node, an identity, a heartbeat and a token of its own."""

import django.db.models.deletion
from django.db import migrations, models

import atom.core.ids

# Attempts until now had one process; those that are open go on under their token.
_FILL = """
INSERT INTO jobs_rank (id, created_at, updated_at, attempt_id, number, node_id, identity,
                       token_hash, token_expires_at, heartbeat_at, exit_code, signal, ended_at)
SELECT gen_random_uuid(), created_at, updated_at, id, 0, node_id,
       CASE WHEN supervisor_pid IS NULL THEN '{}'::jsonb
            ELSE jsonb_build_object('pid', supervisor_pid, 'start_ticks', supervisor_start_ticks)
       END,
       token_hash, token_expires_at, heartbeat_at, exit_code, signal, finished_at
FROM jobs_attempt;
SET CONSTRAINTS ALL IMMEDIATE;
"""
_CLUSTERS = """
UPDATE jobs_attempt SET cluster_id = node.cluster_id
FROM clusters_node node WHERE node.id = jobs_attempt.node_id;
SET CONSTRAINTS ALL IMMEDIATE;
"""
_TAKE_BACK = """
UPDATE jobs_attempt SET
    supervisor_pid = (rank.identity ->> 'pid')::integer,
    supervisor_start_ticks = (rank.identity ->> 'start_ticks')::bigint,
    token_hash = rank.token_hash,
    token_expires_at = rank.token_expires_at,
    heartbeat_at = rank.heartbeat_at
FROM jobs_rank rank
WHERE rank.attempt_id = jobs_attempt.id AND rank.number = 0;
SET CONSTRAINTS ALL IMMEDIATE;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0004_reservation_rank"),
        ("jobs", "0019_values_of_diverged_metrics"),
    ]

    operations = [
        migrations.CreateModel(
            name="Rank",
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
                ("number", models.PositiveIntegerField(default=0)),
                ("identity", models.JSONField(default=dict)),
                ("token_hash", models.CharField(blank=True, db_index=True, max_length=64)),
                ("token_expires_at", models.DateTimeField(null=True)),
                ("heartbeat_at", models.DateTimeField(null=True)),
                ("exit_code", models.IntegerField(null=True)),
                ("signal", models.IntegerField(null=True)),
                ("ended_at", models.DateTimeField(null=True)),
                (
                    "attempt",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="ranks",
                        to="jobs.attempt",
                    ),
                ),
                (
                    "node",
                    models.ForeignKey(
                        null=True,
                        on_delete=django.db.models.deletion.SET_NULL,
                        related_name="+",
                        to="clusters.node",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("attempt", "number"), name="rank_number")
                ],
            },
        ),
        migrations.AddField(
            model_name="attempt",
            name="cluster",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.SET_NULL,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
        migrations.RunSQL(_CLUSTERS, migrations.RunSQL.noop),
        migrations.RunSQL(_FILL, _TAKE_BACK),
        migrations.RemoveField(model_name="attempt", name="heartbeat_at"),
        migrations.RemoveField(model_name="attempt", name="supervisor_pid"),
        migrations.RemoveField(model_name="attempt", name="supervisor_start_ticks"),
        migrations.RemoveField(model_name="attempt", name="token_expires_at"),
        migrations.RemoveField(model_name="attempt", name="token_hash"),
    ]
