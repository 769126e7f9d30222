"""Says of earlier events which dataset they are about, as far as they tell."""

from django.db import migrations

_NAMED = """
UPDATE accounts_auditevent AS event SET subject_id = dataset.id
FROM datasets_dataset AS dataset
WHERE event.subject_id IS NULL AND event.project_id = dataset.project_id
  AND event.verb <> 'commit.requested' AND event.at >= dataset.created_at
  AND (dataset.purged_at IS NULL OR event.at <= dataset.purged_at)
  AND (event.object_id = dataset.id::text OR event.data ->> 'dataset' = dataset.name)
"""


class Migration(migrations.Migration):
    dependencies = [
        ("datasets", "0010_dismissed_operations"),
        ("accounts", "0011_audit_subject"),
    ]

    operations = [migrations.RunSQL(_NAMED, migrations.RunSQL.noop)]
