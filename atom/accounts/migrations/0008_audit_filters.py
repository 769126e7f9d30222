from django.db import migrations, models

from atom.core.migration_operations import Together


class Migration(migrations.Migration):
    dependencies = [("accounts", "0007_sessions")]

    operations = [
        Together(
            [
                migrations.AddIndex(
                    model_name="auditevent",
                    index=models.Index(
                        fields=["actor_name", "-at"], name="accounts_au_actor_n_ed169f_idx"
                    ),
                ),
                migrations.AddIndex(
                    model_name="auditevent",
                    index=models.Index(fields=["verb", "-at"], name="accounts_au_verb_47e65c_idx"),
                ),
                migrations.AddIndex(
                    model_name="auditevent",
                    index=models.Index(
                        fields=["object_id", "-at"], name="accounts_au_object__9747c3_idx"
                    ),
                ),
            ]
        )
    ]
