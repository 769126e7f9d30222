"""For how long the runs have run that are there already: the sum over their attempts."""

from django.db import migrations

_COUNT = """
UPDATE jobs_run SET ran_s = counted.ran_s, running_since = counted.running_since
FROM (
    SELECT run_id,
        coalesce(sum(greatest(0, extract(epoch FROM finished_at - started_at))), 0) AS ran_s,
        max(started_at) FILTER (WHERE finished_at IS NULL) AS running_since
    FROM jobs_attempt WHERE started_at IS NOT NULL GROUP BY run_id
) AS counted
WHERE counted.run_id = jobs_run.id
"""


class Migration(migrations.Migration):
    dependencies = [("jobs", "0008_run_notes_and_time")]

    operations = [migrations.RunSQL(_COUNT, migrations.RunSQL.noop)]
