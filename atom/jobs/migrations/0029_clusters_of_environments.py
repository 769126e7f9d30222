"""A packed environment is used in the cluster alone that has built it."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("clusters", "0006_cluster_identity"),
        ("jobs", "0028_accelerators"),
    ]

    operations = [
        migrations.AddField(
            model_name="runtime",
            name="cluster",
            field=models.ForeignKey(
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="+",
                to="clusters.cluster",
            ),
        ),
    ]
