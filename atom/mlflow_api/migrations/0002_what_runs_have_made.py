"""Which models a run says it has made, and the run that a model names, apart from its labels.

Both stood in other columns: what is there is carried over, so that old models read as before.
"""

import django.db.models.deletion
from django.db import migrations, models

# A model with this label had a run of its own.
_NAME_RUNS = """
UPDATE mlflow_api_loggedmodel SET source_run_id = replace(run_id::text, '-', '')
WHERE NOT labels ? 'atom.run_of_its_own';
UPDATE mlflow_api_loggedmodel SET labels = labels - 'atom.run_of_its_own'
WHERE labels ? 'atom.run_of_its_own';
INSERT INTO mlflow_api_modeloutput (run_id, logged_model_id, step)
SELECT run_id, id, step FROM mlflow_api_loggedmodel ORDER BY id;
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""
_LABEL_RUNS = """
UPDATE mlflow_api_loggedmodel model SET step = output.step
FROM mlflow_api_modeloutput output
WHERE output.logged_model_id = model.id AND output.run_id = model.run_id;
UPDATE mlflow_api_loggedmodel SET labels = labels || '{"atom.run_of_its_own": "true"}'
WHERE source_run_id <> replace(run_id::text, '-', '');
SET CONSTRAINTS ALL IMMEDIATE;
SET CONSTRAINTS ALL DEFERRED;
"""


class Migration(migrations.Migration):
    dependencies = [
        ("mlflow_api", "0001_initial"),
    ]

    operations = [
        migrations.AddField(
            model_name="loggedmodel",
            name="source_run_id",
            field=models.CharField(blank=True, default="", max_length=500),
            preserve_default=False,
        ),
        migrations.CreateModel(
            name="ModelOutput",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("step", models.BigIntegerField(default=0)),
                (
                    "logged_model",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="outputs",
                        to="mlflow_api.loggedmodel",
                    ),
                ),
                (
                    "run",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="model_outputs",
                        to="jobs.run",
                    ),
                ),
            ],
        ),
        migrations.AddConstraint(
            model_name="modeloutput",
            constraint=models.UniqueConstraint(
                fields=("run", "logged_model"), name="model_output_once"
            ),
        ),
        migrations.RunSQL(_NAME_RUNS, _LABEL_RUNS),
        migrations.RemoveField(model_name="loggedmodel", name="step"),
    ]
