"""The summaries of runs name metrics whose last value is NaN or infinite."""

from django.db import migrations

# Runs whose last value of a metric is NaN or infinite had no such key in their summary.
_FILL = """
UPDATE jobs_run SET metrics_summary = metrics_summary || diverged.words
FROM (
    SELECT run_id, jsonb_object_agg(key, word) AS words
    FROM (
        SELECT DISTINCT ON (series.run_id, series.key)
               series.run_id, series.key, series.last::text AS word
        FROM jobs_metricseries series
        JOIN jobs_attempt attempt ON attempt.id = series.attempt_id
        JOIN jobs_run run ON run.id = series.run_id
        WHERE series.kind = 'user' AND series.last IN ('NaN', 'Infinity', '-Infinity')
          AND NOT run.metrics_summary ? series.key
        ORDER BY series.run_id, series.key, attempt.number DESC
    ) AS of_last_attempts
    GROUP BY run_id
) AS diverged
WHERE jobs_run.id = diverged.run_id
"""
_EMPTY = """
UPDATE jobs_run SET metrics_summary = (
    SELECT coalesce(jsonb_object_agg(key, value), '{}'::jsonb)
    FROM jsonb_each(metrics_summary) WHERE jsonb_typeof(value) = 'number'
)
WHERE jsonb_path_exists(metrics_summary, '$.* ? (@.type() == "string")')
"""


class Migration(migrations.Migration):
    dependencies = [("jobs", "0018_one_snapshot_of_code_and_commit")]

    operations = [migrations.RunSQL(_FILL, _EMPTY)]
