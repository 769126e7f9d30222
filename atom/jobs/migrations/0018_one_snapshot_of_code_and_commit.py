"""A snapshot is one of files and commit, no longer of files alone."""

from django.db import migrations, models

from atom.core.migration_operations import Together


class Migration(migrations.Migration):
    dependencies = [
        ("jobs", "0017_code_of_a_commit"),
    ]

    operations = [
        Together(
            [
                migrations.RemoveConstraint(model_name="codesnapshot", name="code_digest"),
                migrations.AddConstraint(
                    model_name="codesnapshot",
                    constraint=models.UniqueConstraint(
                        fields=("project", "digest", "git_digest"), name="code_digest_and_git"
                    ),
                ),
            ]
        )
    ]
