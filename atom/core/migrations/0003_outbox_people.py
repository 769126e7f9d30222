"""Events of the outbox name the people whom they concern."""

import django.contrib.postgres.fields
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps


def forget_events_of_people(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """On the way back, events of no project have no place."""
    apps.get_model("core", "OutboxEvent").objects.filter(project_id=None).delete()


class Migration(migrations.Migration):
    dependencies = [
        ("core", "0002_outbox"),
    ]

    operations = [
        migrations.AddField(
            model_name="outboxevent",
            name="people",
            field=django.contrib.postgres.fields.ArrayField(
                base_field=models.UUIDField(), default=list, size=None
            ),
        ),
        migrations.AddField(
            model_name="outboxevent",
            name="subject",
            field=models.CharField(blank=True, max_length=100),
        ),
        migrations.AddField(
            model_name="outboxevent",
            name="told_at",
            field=models.DateTimeField(null=True),
        ),
        migrations.AlterField(
            model_name="outboxevent",
            name="project_id",
            field=models.UUIDField(null=True),
        ),
        migrations.RunPython(migrations.RunPython.noop, forget_events_of_people),
        migrations.AddIndex(
            model_name="outboxevent",
            index=models.Index(
                condition=models.Q(("told_at", None)), fields=["at"], name="outbox_untold"
            ),
        ),
    ]
