"""The same files at another commit are a snapshot of their own: the column that tells them apart."""

import json

from blake3 import blake3
from django.db import migrations, models


def tell_apart(apps, schema_editor):
    """Fill the column as snapshots that come later have it."""
    snapshots = apps.get_model("jobs", "CodeSnapshot").objects
    for snapshot in snapshots.exclude(git=None).only("git").iterator():
        if snapshot.git:
            said = json.dumps(snapshot.git, sort_keys=True).encode()
            snapshots.filter(pk=snapshot.pk).update(git_digest=blake3(said).hexdigest())


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0016_run_shares"),
    ]

    operations = [
        migrations.AddField(
            model_name="codesnapshot",
            name="git_digest",
            field=models.CharField(blank=True, default="", max_length=64),
            preserve_default=False,
        ),
        migrations.RunPython(tell_apart, migrations.RunPython.noop),
    ]
