"""Indices by which runs are found by their tags and by words in names, notes and tags."""

import django.contrib.postgres.indexes
import django.db.models.functions.comparison
from django.contrib.postgres.operations import TrigramExtension
from django.db import migrations, models

from atom.core.migration_operations import Together


class Migration(migrations.Migration):
    dependencies = [("jobs", "0009_time_of_earlier_runs")]

    operations = [
        TrigramExtension(),
        Together(
            [
                migrations.AddIndex(
                    model_name="run",
                    index=django.contrib.postgres.indexes.GinIndex(
                        fields=["tags"], name="run_tags", opclasses=["jsonb_path_ops"]
                    ),
                ),
                migrations.AddIndex(
                    model_name="run",
                    index=django.contrib.postgres.indexes.GinIndex(
                        fields=["name"], name="run_name_words", opclasses=["gin_trgm_ops"]
                    ),
                ),
                migrations.AddIndex(
                    model_name="run",
                    index=django.contrib.postgres.indexes.GinIndex(
                        fields=["notes"], name="run_notes_words", opclasses=["gin_trgm_ops"]
                    ),
                ),
                migrations.AddIndex(
                    model_name="run",
                    index=django.contrib.postgres.indexes.GinIndex(
                        django.contrib.postgres.indexes.OpClass(
                            django.db.models.functions.comparison.Cast("tags", models.TextField()),
                            name="gin_trgm_ops",
                        ),
                        name="run_tags_words",
                    ),
                ),
            ]
        ),
    ]
